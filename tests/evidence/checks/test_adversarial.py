"""No cheat gets through with a quote that does not carry it; fair words mostly do."""

from collections import Counter

import pytest
from fakes.cheats import Cheat, load_cheats

from fathom.evidence.checks.strict import find_flaws
from fathom.evidence.grounding import QuoteFinder

CHEATS = load_cheats()
LATER = load_cheats("cheats_held_out")
FAIR = load_cheats("paraphrases")
KINDS = {
    "number", "unit", "year", "entity", "role", "negation", "hedge", "scope", "direction", "cause",
    "conclusion", "splice", "other page", "altered quote",
}  # fmt: skip


def refused(case: Cheat) -> list[str]:
    """Why the statement does not become a claim, before anybody is asked."""
    page = QuoteFinder("ab", case.page)
    quote = page.find(case.quote)
    return (
        find_flaws(case.statement, [page.extend_to_sentence(quote).text])
        if quote
        else ["the quote is not in the page"]
    )


def test_there_are_enough_cheats_of_every_kind_in_both_languages() -> None:
    assert len(CHEATS) >= 120
    assert sum(case.language == "ko" for case in CHEATS) >= 50
    assert {case.kind for case in CHEATS} == KINDS
    assert len({(case.quote, case.statement) for case in CHEATS}) == len(CHEATS)
    assert min(Counter(case.kind for case in CHEATS).values()) >= 4


@pytest.mark.parametrize("case", [*CHEATS, *LATER], ids=lambda case: f"{case.kind}: {case.statement}")
def test_a_cheat_is_refused(case: Cheat) -> None:
    assert refused(case)


@pytest.mark.parametrize("case", CHEATS, ids=lambda case: f"{case.kind}: {case.statement}")
def test_what_a_page_says_is_never_refused(case: Cheat) -> None:
    assert find_flaws(case.page, [case.page]) == []


def test_fair_paraphrases_pass_but_for_a_few() -> None:
    lost = [case.statement for case in FAIR if refused(case)]
    assert len(FAIR) >= 60
    assert len(lost) <= 0.05 * len(FAIR), lost


def test_fair_paraphrases_nothing_was_tuned_on_mostly_pass() -> None:
    # 6 of 40 when they were written, docs/log.md; they are kept apart so that the figure stays honest.
    fresh = load_cheats("paraphrases_held_out")
    assert sum(bool(refused(case)) for case in fresh) <= 0.15 * len(fresh)


# What the page says, what a fuzzy quote makes of it, and what is then stated.
ALTERED = [
    ("The board said that the old pier is not open to visitors during the summer months.",
     "The board said that the old pier is now open to visitors during the summer months",
     "The old pier is open to visitors during the summer months."),
    ("The turbine that was fitted below the old mill last spring delivers 240 kW to the town.",
     "The turbine that was fitted below the old mill last spring delivers 240 MW to the town",
     "The turbine below the old mill delivers 240 MW to the town."),
    ("It is not true that the pipeline near the northern village was leaking for two years.",
     "the pipeline near the northern village was leaking for two years",
     "The pipeline near the northern village was leaking for two years."),
    ("In mice, the compound that the team made slowed the growth of tumours by a third.",
     "the compound that the team made slowed the growth of tumours by a third",
     "The compound slowed the growth of tumours by a third."),
    ("쥐 실험에서 연구진이 만든 화합물은 종양의 성장을 3분의 1 늦추었다.",
     "연구진이 만든 화합물은 종양의 성장을 3분의 1 늦추었다",
     "연구진이 만든 화합물은 종양의 성장을 3분의 1 늦추었다."),
]  # fmt: skip


@pytest.mark.parametrize(("page", "quote", "statement"), ALTERED)
def test_a_quote_that_is_bent_or_cut_short_carries_nothing_the_page_does_not_say(
    page: str, quote: str, statement: str
) -> None:
    assert refused(Cheat("altered quote", "en", page, quote, statement))
