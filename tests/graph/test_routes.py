"""Where a run goes next, decided by its state alone."""

from typing import Any

import pytest
from fakes import (
    claim,
    earlier,
    heading,
    hit,
    judgement,
    known,
    page,
    query,
    question,
    section,
    sentence,
)
from langgraph.graph import END
from langgraph.types import Send

from fathom.graph.routes import (
    is_carried,
    is_enough,
    is_going_on,
    one_or_many,
    was_fetched,
    was_known,
    was_read,
    was_rewritten,
    what_is_at_hand,
    what_to_ask_again,
    what_to_read,
    what_to_recall,
    what_to_write,
    where_to_begin,
    which_branches,
    whom_to_ask,
)
from fathom.report.outlining import basis_of
from fathom.state import Direction, Outline, ResearchState, RunConfig, Writing

STATE: ResearchState = {"question": "What?", "questions": [question()], "run_config": RunConfig()}


def test_every_query_is_searched_at_once_with_the_runs_knobs() -> None:
    sends = whom_to_ask({**STATE, "queries": [query("a"), query("b", "r1q2")]})
    assert isinstance(sends, list)
    assert [(s.node, s.arg["query"].text, s.arg["run_config"]) for s in sends] == [
        ("searcher", "a", RunConfig()),
        ("searcher", "b", RunConfig()),
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
    assert set(sends[0].arg) == {"hit", "question", "questions", "run_config", "run", "round"}
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


def test_a_follow_up_recalls_before_a_person_sees_a_plan() -> None:
    assert what_is_at_hand({**STATE, "known": known()}) == "recall"
    assert what_is_at_hand(STATE) == "review"
    assert what_is_at_hand({**STATE, "known": known(pages=[], claims=[])}) == "review"
    assert what_is_at_hand({**STATE, "known": known(is_recalled=True)}) == "review"


def test_what_is_worth_it_is_read_again_from_its_stored_text() -> None:
    other = page("page two", "https://b.example")
    sends = what_to_recall({**STATE, "pages": [page(), other], "recalled": [other.sha]})
    assert isinstance(sends, list)
    assert [(s.node, s.arg["pages"]) for s in sends] == [("reading", [other])]
    assert "hit" not in sends[0].arg
    assert was_fetched(sends[0].arg) == "analyzer"
    assert was_fetched({"hit": hit()}) == "extractor"
    assert what_to_recall({**STATE, "pages": [page()], "recalled": []}) == "judge"


def test_a_page_that_was_not_read_is_not_analysed() -> None:
    assert was_read({"pages": [page()]}) == "analyzer"
    assert was_read({}) == was_read({"pages": []}) == END


def test_an_update_begins_with_what_was_known_and_a_new_run_with_a_plan() -> None:
    assert where_to_begin({"question": "What?"}) == "lead"
    assert where_to_begin({"question": "What?", "earlier": earlier()}) == "recheck"
    sends = what_to_ask_again({"run_config": RunConfig(), "queries": [query()]})
    assert [send.node for send in sends if isinstance(send, Send)] == ["searcher"]
    assert what_to_ask_again({"run_config": RunConfig(), "queries": []}) == "selector"


def test_an_update_reads_every_earlier_page_again_beside_what_is_new() -> None:
    known = earlier(pages=[page("page one"), page("two", "https://b.example/y", pdf="https://b.example/p")])
    sends = what_to_read(
        {
            "question": "What?",
            "questions": [],
            "run_config": RunConfig(),
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
    sends = what_to_write(
        {"question": "What?", "run_config": RunConfig(), "claims": claims, "outline": outline}
    )
    assert isinstance(sends, list)
    assert all(send.node == "chapter" for send in sends)
    assert [[c.id for c in s.arg["claims"]] for s in sends] == [["b", "a"], ["c"]]


def test_a_section_is_written_again_only_when_what_it_stands_on_has_changed() -> None:
    claims = {name: claim(name=name) for name in ("a", "b", "c")}
    one, two = heading("b", "a"), heading("c", name="S2")
    written = [section(name=h.id).model_copy(update={"basis": basis_of(h, claims)}) for h in (one, two)]
    state: Writing = {
        "question": "What?", "run_config": RunConfig(), "claims": list(claims.values()), "sections": written,
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
    ("stop", "run_config", "claims", "places"),
    [
        (None, RunConfig(endless=True), [claim()], ("writer", "planner")),
        (None, RunConfig(endless=True), [], ("planner", "planner")),
        ("rounds used up", RunConfig(endless=True), [claim()], ("writer", END)),
        (None, RunConfig(), [claim()], ("planner", END)),
    ],
)
def test_without_an_end_every_round_is_written_and_the_run_goes_on(
    stop: str | None, run_config: RunConfig, claims: list[object], places: tuple[str, str]
) -> None:
    state: Any = {
        **STATE,
        "run_config": run_config,
        "judgements": [judgement(1, stop=stop)],
        "claims": claims,
    }
    assert (is_enough(state), is_going_on(state)) == places


def direction(name: str, **words: Any) -> Direction:
    given = {"text": f"way {name}", "angle": "x", "rounds": 2, "queries": 2, "sources": 2, **words}
    return Direction(id=name, **given)


def branching(*directions: Direction, **run_config: Any) -> Any:
    queries = [one.query() for one in directions]
    words = {"strategy": "rollouts", **run_config}
    return {
        **STATE,
        "run": "run",
        "run_config": RunConfig(**words),
        "directions": list(directions),
        "queries": queries,
    }


def sent(state: Any) -> list[str] | str:
    sends = which_branches(state)
    return sends if isinstance(sends, str) else [send.arg["direction"].id for send in sends]


def test_branches_go_all_at_once_or_the_next_one() -> None:
    directions = [direction("b1", status="explored"), direction("b2"), direction("b3")]
    assert sent(branching(*directions)) == ["b2", "b3"]
    assert sent(branching(*directions, orchestration="sequential")) == ["b2"]
    assert sent(branching(directions[0])) == "judge"


def test_a_level_waits_until_the_one_before_it_was_judged() -> None:
    state = branching(direction("b1.1", level=2), strategy="tree")
    assert which_branches(state) == "judge"
    judged = state | {"judgements": [judgement(1)]}
    assert sent(judged) == ["b1.1"]
    sends = is_enough(judged)
    assert isinstance(sends, list)
    assert [send.node for send in sends] == ["branch"]


def test_no_branch_is_sent_without_money() -> None:
    assert sent({**branching(direction("b1")), "is_spent": True}) == "judge"
    assert sent({**branching(direction("b1")), "is_spent": False}) == ["b1"]


def test_a_branch_that_a_person_added_has_the_limits_of_the_others() -> None:
    state = branching(direction("b1", status="explored"))
    sends = which_branches(state | {"queries": [query("seals", "w2")]})
    assert isinstance(sends, list)
    new = sends[0].arg["direction"]
    assert (new.id, new.text, new.status, new.rounds) == ("w2", "seals", "open", 2)
    assert sends[0].arg["question"] == "seals"


def test_in_a_hand_off_a_branch_gets_what_was_learnt_and_only_then() -> None:
    known: Any = {"claims": [claim(name=f"c{n}") for n in range(30)], "pages": [page()]}
    plain = which_branches(branching(direction("b2")) | known)
    passed = which_branches(branching(direction("b2"), orchestration="handoff") | known)
    assert isinstance(plain, list)
    assert isinstance(passed, list)
    assert "claims" not in plain[0].arg
    assert [c.id for c in passed[0].arg["claims"]] == [f"c{n}" for n in range(10, 30)]
    assert passed[0].arg["direction"].given == [c.id for c in passed[0].arg["claims"]]
    assert [q.id for q in passed[0].arg["questions"]] == ["Q1"]


def test_one_loop_plans_and_branches_are_shown_first() -> None:
    assert one_or_many(STATE) == "planner"
    assert one_or_many(branching(direction("b1"))) == "review"
    assert whom_to_ask(branching(direction("b1")) | {"feedback": "more"}) == "lead"
