"""No cheat gets through with a quote that does not carry it; fair words mostly do."""

from collections import Counter

import pytest
from adversarial import Cheat, cheats

from fathom.evidence.flaws import flaws
from fathom.evidence.grounding import GroundedPage

CHEATS = cheats()
FAIR = cheats("paraphrases")
KINDS = {
    "number", "unit", "year", "entity", "role", "negation", "hedge", "scope", "direction", "cause",
    "conclusion", "splice", "other page", "altered quote",
}  # fmt: skip


def refused(case: Cheat) -> list[str]:
    """Why the statement does not become a claim, before anybody is asked."""
    page = GroundedPage("ab", case.page)
    quote = page.find(case.quote)
    return flaws(case.statement, [page.in_full(quote).text]) if quote else ["the quote is not in the page"]


def test_there_are_enough_cheats_of_every_kind_in_both_languages() -> None:
    assert len(CHEATS) >= 120
    assert sum(case.language == "ko" for case in CHEATS) >= 50
    assert {case.kind for case in CHEATS} == KINDS
    assert len({(case.quote, case.statement) for case in CHEATS}) == len(CHEATS)
    assert min(Counter(case.kind for case in CHEATS).values()) >= 4


@pytest.mark.parametrize("case", CHEATS, ids=lambda case: f"{case.kind}: {case.statement}")
def test_a_cheat_is_refused(case: Cheat) -> None:
    assert refused(case)


@pytest.mark.parametrize("case", CHEATS, ids=lambda case: f"{case.kind}: {case.statement}")
def test_what_a_page_says_is_never_refused(case: Cheat) -> None:
    assert flaws(case.page, [case.page]) == []


def test_fair_paraphrases_pass_but_for_a_few() -> None:
    lost = [case.statement for case in FAIR if refused(case)]
    assert len(FAIR) >= 60
    assert len(lost) <= 0.05 * len(FAIR), lost
