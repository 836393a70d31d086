"""Where a run goes next, decided by its state alone."""

from typing import Any

import pytest
from fakes import claim, earlier, heading, hit, judgement, page, query, question, section, sentence
from langgraph.graph import END
from langgraph.types import Send

from fathom.graph.routes import (
    is_carried,
    is_enough,
    is_going_on,
    was_known,
    was_read,
    was_rewritten,
    what_to_ask_again,
    what_to_read,
    what_to_write,
    where_to_begin,
    whom_to_ask,
)
from fathom.report.outlining import basis_of
from fathom.state import Knobs, Outline, ResearchState, Writing

STATE: ResearchState = {"question": "What?", "questions": [question()], "knobs": Knobs()}


def test_every_query_is_searched_at_once_with_the_runs_knobs() -> None:
    sends = whom_to_ask({**STATE, "queries": [query("a"), query("b", "r1q2")]})
    assert isinstance(sends, list)
    assert [(s.node, s.arg["query"].text, s.arg["knobs"]) for s in sends] == [
        ("searcher", "a", Knobs()),
        ("searcher", "b", Knobs()),
    ]


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ({"queries": []}, "judge"),
        ({}, "judge"),
        ({"queries": [query()], "is_finishing": True}, "judge"),
        ({"queries": [query()], "feedback": "no"}, "planner"),
        ({"queries": [query()], "feedback": "no", "is_finishing": True}, "judge"),
    ],
)
def test_a_persons_word_comes_before_searching(words: ResearchState, place: str) -> None:
    assert whom_to_ask({**STATE, **words}) == place


def test_every_chosen_page_gets_a_reader_and_no_page_the_judge() -> None:
    sends = what_to_read({**STATE, "chosen": [hit("https://a.example"), hit("https://b.example")]})
    assert isinstance(sends, list)
    assert [s.arg["hit"].address for s in sends] == ["https://a.example", "https://b.example"]
    assert set(sends[0].arg) == {"hit", "question", "questions", "knobs"}
    assert what_to_read({**STATE, "chosen": []}) == what_to_read(STATE) == "judge"


@pytest.mark.parametrize(
    ("stop", "claims", "place"),
    [
        (None, [], "planner"),
        (None, [claim()], "planner"),
        ("sufficient", [claim()], "writer"),
        ("rounds used up", [], END),
    ],
)
def test_a_report_is_written_only_from_claims(stop: str | None, claims: list[object], place: str) -> None:
    ended = judgement(2, stop=stop)
    at: Any = {**STATE, "judgements": [judgement(1), ended], "claims": claims}
    assert is_enough(at) == place


def test_a_page_that_was_not_read_is_not_analysed() -> None:
    assert was_read({"pages": [page()]}) == "analyzer"
    assert was_read({}) == was_read({"pages": []}) == END


def test_an_update_begins_with_what_was_known_and_a_new_run_with_a_plan() -> None:
    assert where_to_begin({"question": "What?"}) == "lead"
    assert where_to_begin({"question": "What?", "earlier": earlier()}) == "recheck"
    sends = what_to_ask_again({"knobs": Knobs(), "queries": [query()]})
    assert [send.node for send in sends if isinstance(send, Send)] == ["searcher"]
    assert what_to_ask_again({"knobs": Knobs(), "queries": []}) == "selector"


def test_an_update_reads_every_earlier_page_again_beside_what_is_new() -> None:
    known = earlier(pages=[page("page one"), page("two", "https://b.example/y", pdf="https://b.example/p")])
    sends = what_to_read(
        {
            "question": "What?",
            "questions": [],
            "knobs": Knobs(),
            "earlier": known,
            "chosen": [hit("https://new.example")],
        }
    )
    given = [send.arg for send in sends if isinstance(send, Send)]
    assert [part["hit"].address[8:13] for part in given] == ["a.exa", "b.exa", "new.e"]
    assert [len(part["known"]) for part in given[:2]] == [1, 0]
    assert given[1]["hit"].pdf == "https://b.example/p"
    assert "before" not in given[2]


def test_a_page_of_an_earlier_run_is_analysed_only_if_it_says_something_else() -> None:
    before = page("page one")
    assert was_read({"before": before, "pages": [page("page one")]}) == "compare"
    assert was_read({"before": before}) == "compare"
    assert was_read({"before": before, "pages": [page("page two")]}) == "analyzer"
    assert was_known({"before": before}) == "compare"
    assert was_known({}) == END


def test_every_heading_gets_a_writer_with_its_own_claims_only() -> None:
    claims = [claim(name=name) for name in ("a", "b", "c")]
    outline = Outline(title="T", headings=[heading("b", "a"), heading("c", name="S2")])
    sends = what_to_write({"question": "What?", "knobs": Knobs(), "claims": claims, "outline": outline})
    assert isinstance(sends, list)
    assert all(send.node == "chapter" for send in sends)
    assert [[c.id for c in s.arg["claims"]] for s in sends] == [["b", "a"], ["c"]]


def test_a_section_is_written_again_only_when_what_it_stands_on_has_changed() -> None:
    claims = {name: claim(name=name) for name in ("a", "b", "c")}
    one, two = heading("b", "a"), heading("c", name="S2")
    written = [section(name=h.id).model_copy(update={"basis": basis_of(h, claims)}) for h in (one, two)]
    state: Writing = {
        "question": "What?", "knobs": Knobs(), "claims": list(claims.values()), "sections": written,
        "outline": Outline(title="T", headings=[one, two]),
    }  # fmt: skip
    assert what_to_write(state) == "publish"
    state["claims"] = [claim(name="a"), claim(name="b", said="other words"), claim(name="c")]
    sends = what_to_write(state)
    assert isinstance(sends, list)
    assert [send.arg["heading"].id for send in sends] == ["S1"]


def test_a_section_is_rewritten_once_and_checked_only_for_what_is_new() -> None:
    sound, failed = section(sentence("x", "a")), section(sentence("x", "a", status="unsupported"))
    assert is_carried({"draft": sound}) == "settle"
    assert is_carried({"draft": failed}) == "rewrite"
    assert is_carried({"draft": failed, "rewritten": []}) == "settle"
    assert is_carried({"draft": failed, "rewritten": [0]}) == "settle"
    assert was_rewritten({"rewritten": [0]}) == "check"
    assert was_rewritten({"rewritten": []}) == "settle"


@pytest.mark.parametrize(
    ("stop", "knobs", "claims", "places"),
    [
        (None, Knobs(endless=True), [claim()], ("writer", "planner")),
        (None, Knobs(endless=True), [], ("planner", "planner")),
        ("rounds used up", Knobs(endless=True), [claim()], ("writer", END)),
        (None, Knobs(), [claim()], ("planner", END)),
    ],
)
def test_without_an_end_every_round_is_written_and_the_run_goes_on(
    stop: str | None, knobs: Knobs, claims: list[object], places: tuple[str, str]
) -> None:
    state: Any = {**STATE, "knobs": knobs, "judgements": [judgement(1, stop=stop)], "claims": claims}
    assert (is_enough(state), is_going_on(state)) == places
