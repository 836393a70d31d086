"""Which claims and pages of a thread bear on a new question."""

from fakes.records import claim, page, question, quote, sha

from fathom.planning.reading_list import carry_over_claims, choose_pages_to_reread
from fathom.state import Claim, short_hash

COSTS = [f"Tidal power at plant {name} costs {n} euros." for n, name in enumerate("ABCDEFGHIJ", 30)]
DIVERS = "Divers come in spring."


def drawn(*texts: str) -> list[Claim]:
    words = {"question": "Q7"}
    return [claim(t, name=f"c{n}", quotes=[quote(t, t)], **words) for n, t in enumerate(texts)]


def test_a_claim_is_carried_under_the_sub_question_it_answers() -> None:
    claims = drawn(COSTS[0], DIVERS)
    asked = [question(1, "When do divers come?"), question(2, "How much does tidal power cost at plant A?")]
    titles = {sha(COSTS[0]): "Costs", sha(DIVERS): "Divers"}
    found = carry_over_claims(claims, asked, titles)
    assert {c.statement: c.question for c in found} == {COSTS[0]: "Q2", DIVERS: "Q1"}
    assert found[0].id == short_hash(sha(DIVERS), "Q1", DIVERS)
    assert found[0].quotes == claims[1].quotes
    assert all(0.5 <= c.relevance <= 1 for c in found)


def test_a_claim_of_a_page_that_is_not_wanted_is_left() -> None:
    assert carry_over_claims(drawn(DIVERS), [question(1, "When do divers come?")], {}) == []


def test_what_answers_nothing_is_left_and_only_the_best_are_carried() -> None:
    claims = drawn(*COSTS, DIVERS)
    titles = dict.fromkeys([sha(text) for text in [*COSTS, DIVERS]], "Costs")
    found = carry_over_claims(claims, [question(1, "How much does tidal power cost?")], titles)
    assert len(found) == 8
    assert DIVERS not in {c.statement for c in found}


def test_sub_questions_take_turns_with_pages() -> None:
    texts = {sha(text): text for text in [*COSTS, DIVERS]}
    pages = [page(text, f"https://a.example/{n}", title="") for n, text in enumerate(texts.values())]
    asked = [question(1, "How much does tidal power cost?"), question(2, "When do divers come?")]
    assert sha(DIVERS) in choose_pages_to_reread(asked, pages, texts, 2)
    assert len(choose_pages_to_reread(asked, pages, texts, 10)) == 4


def test_one_text_at_two_addresses_is_read_once() -> None:
    pages = [page(DIVERS, "https://a.example"), page(DIVERS, "https://b.example")]
    assert choose_pages_to_reread([question(1, "When do divers come?")], pages, {sha(DIVERS): DIVERS}, 5) == [
        sha(DIVERS)
    ]
