"""Where a run goes next, decided by its state alone."""

from typing import Any

import pytest
from fakes.records import (
    claim,
    draft,
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
from fakes.services import NO_SIGNALS, FakeBudget
from langgraph.graph import END
from langgraph.types import Send

from fathom.graph.routes import (
    route_after_check,
    route_after_coordinator,
    route_after_extractor,
    route_after_intake,
    route_after_judge,
    route_after_outline,
    route_after_planner,
    route_after_retry,
    route_after_review,
    route_after_rewrite,
    route_after_selector,
    route_after_verifier,
    route_after_writer,
    route_to_page,
    route_to_readings,
)
from fathom.nodes.coordinator import coordinator
from fathom.report.editing import summary_basis
from fathom.report.outline import section_basis
from fathom.state import Block, Direction, Outline, ReadingRound, ResearchState, RunConfig, Writing

STATE: ResearchState = {"question": "What?", "questions": [question()]}


def test_every_query_is_searched_at_once_in_its_round() -> None:
    sends = route_after_review({**STATE, "queries": [query("a"), query("b", "r1q2")]})
    assert isinstance(sends, list)
    assert [(s.node, s.arg["query"].text, s.arg["round"]) for s in sends] == [
        ("searcher", "a", 1),
        ("searcher", "b", 1),
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
    assert route_after_review({**STATE, **words}) == place


def test_every_chosen_page_gets_a_reader_and_no_page_the_judge() -> None:
    sends = route_after_selector({**STATE, "chosen": [hit("https://a.example"), hit("https://b.example")]})
    assert isinstance(sends, list)
    (readings,) = [s.arg["readings"] for s in sends]
    assert [reading["hit"].address for reading in readings] == ["https://a.example", "https://b.example"]
    assert set(readings[0]) == {"hit", "question", "questions", "run", "round"}
    assert route_after_selector({**STATE, "chosen": []}) == route_after_selector(STATE) == "judge"


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
    assert route_after_judge(at) == place


def test_a_follow_up_recalls_before_a_person_sees_a_plan() -> None:
    assert route_after_planner({**STATE, "known": known()}) == "selector"
    assert route_after_planner(STATE) == "review"
    assert route_after_planner({**STATE, "known": known(pages=[], claims=[])}) == "review"
    assert route_after_planner({**STATE, "known": known(is_recalled=True)}) == "review"


def test_what_is_worth_it_is_read_again_from_its_stored_text() -> None:
    other = page("page two", "https://b.example")
    sends = route_after_selector({**STATE, "pages": [page(), other], "recalled": [other.sha]})
    assert isinstance(sends, list)
    ((node, readings),) = [(s.node, s.arg["readings"]) for s in sends]
    assert (node, [reading["pages"] for reading in readings]) == ("reading", [[other]])
    assert "hit" not in readings[0]
    assert route_to_page(readings[0]) == "analyzer"
    assert route_to_page({"hit": hit()}) == "extractor"
    assert route_after_selector({**STATE, "pages": [page()], "recalled": []}) == "judge"


def test_a_page_that_was_not_read_is_not_analysed() -> None:
    assert route_after_extractor({"pages": [page()]}) == "analyzer"
    assert route_after_extractor({}) == route_after_extractor({"pages": []}) == END


def test_an_update_begins_with_what_was_known_and_a_new_run_with_a_plan() -> None:
    assert route_after_intake({"question": "What?"}) == "planner"
    update: ResearchState = {"earlier": earlier(), "queries": [query()]}
    sends = route_after_intake(update)
    assert [send.node for send in sends if isinstance(send, Send)] == ["searcher"]
    assert route_after_intake({**update, "queries": []}) == "selector"


def test_an_update_reads_every_earlier_page_again_beside_what_is_new() -> None:
    known = earlier(pages=[page("page one"), page("two", "https://b.example/y", pdf="https://b.example/p")])
    sends = route_after_selector(
        {
            "question": "What?",
            "questions": [],
            "earlier": known,
            "chosen": [hit("https://new.example")],
        }
    )
    assert isinstance(sends, list)
    (given,) = [send.arg["readings"] for send in sends]
    pages = route_to_readings(sends[0].arg)
    assert [(send.node, send.arg) for send in pages if isinstance(send, Send)] == [("page", g) for g in given]
    assert [part["hit"].address[8:13] for part in given] == ["a.exa", "b.exa", "new.e"]
    assert [len(part["known"]) for part in given[:2]] == [1, 0]
    assert given[1]["hit"].pdf == "https://b.example/p"
    assert "before" not in given[2]


def test_a_page_of_an_earlier_run_is_analysed_only_if_it_says_something_else() -> None:
    before = page("page one")
    assert route_after_extractor({"before": before, "pages": [page("page one")]}) == END
    assert route_after_extractor({"before": before}) == END
    assert route_after_extractor({"before": before, "pages": [page("page two")]}) == "analyzer"
    again: ReadingRound = {"readings": [{"hit": hit(), "before": before, "known": []}]}
    assert route_after_verifier(again) == "compare"
    assert route_after_retry({**again, "retried": []}) == "compare"


def test_a_refused_claim_is_tried_once_more_and_verified_again_once() -> None:
    refused: ReadingRound = {"readings": [{"hit": hit()}], "refused": [draft()]}
    assert route_after_verifier(refused) == "retry"
    assert route_after_verifier({**refused, "refused": []}) == END
    assert route_after_retry({**refused, "retried": [draft()]}) == "verifier"
    assert route_after_retry({**refused, "retried": []}) == END
    assert route_after_verifier({**refused, "retried": [draft()]}) == END


def test_one_author_writes_the_whole_report_and_several_only_a_very_long_one() -> None:
    claims = [claim(name=name) for name in ("a", "b", "c")]
    outline = Outline(title="T", headings=[heading("b", "a"), heading("c", name="S2")])
    state: Writing = {"question": "What?", "claims": claims, "outline": outline}
    together = route_after_outline({**state, "lengths": {"S1": 100, "S2": 100}})
    assert isinstance(together, list)
    (chapter,) = together
    assert [h.id for h in chapter.arg["headings"]] == ["S1", "S2"]
    sends = route_after_outline({**state, "lengths": {"S1": 1800, "S2": 1800}})
    assert isinstance(sends, list)
    assert all(send.node == "chapter" for send in sends)
    assert [[c.id for c in s.arg["claims"]] for s in sends] == [["b", "a"], ["c"]]


def test_a_section_is_written_again_only_when_what_it_stands_on_has_changed() -> None:
    claims = {name: claim(name=name) for name in ("a", "b", "c")}
    one, two = heading("b", "a"), heading("c", name="S2")
    made = {"blocks": [Block()]}
    written = [
        section(sentence("x", "a"), name=h.id).model_copy(update={"basis": section_basis(h, claims), **made})
        for h in (one, two)
    ]
    summary = section(name="summary").model_copy(update={"basis": summary_basis(written)})
    state: Writing = {
        "question": "What?", "claims": list(claims.values()), "sections": written,
        "outline": Outline(title="T", headings=[one, two]), "lengths": {"S1": 60, "S2": 60},
    }  # fmt: skip
    assert route_after_outline(state) == "edit"
    assert route_after_outline({**state, "sections": [summary, *written]}) == "publish"
    extracts = [part.model_copy(update={"blocks": [Block(kind="extract")]}) for part in written]
    assert route_after_outline({**state, "sections": extracts}) == "publish"
    state["claims"] = [claim(name="a"), claim(name="b", said="other words"), claim(name="c")]
    sends = route_after_outline(state)
    assert isinstance(sends, list)
    assert [[h.id for h in send.arg["headings"]] for send in sends] == [["S1"]]


def test_a_section_is_rewritten_once_and_checked_only_for_what_is_new() -> None:
    sound, failed = section(sentence("x", "a")), section(sentence("x", "a", status="unsupported"))
    assert route_after_check({"drafts": [sound]}) == "settle"
    assert route_after_check({"drafts": [sound, failed]}) == "rewrite"
    assert route_after_check({"drafts": [failed], "rewritten": []}) == "settle"
    assert route_after_check({"drafts": [failed], "rewritten": [0]}) == "settle"
    assert route_after_rewrite({"rewritten": [0]}) == "check"
    assert route_after_rewrite({"rewritten": []}) == "settle"


@pytest.mark.parametrize(
    ("stop", "is_report_due", "claims", "places"),
    [
        (None, True, [claim()], ("writer", "planner")),
        (None, True, [], ("planner", "planner")),
        ("rounds used up", True, [claim()], ("writer", END)),
        (None, False, [claim()], ("planner", "planner")),
    ],
)
def test_without_an_end_every_round_is_written_and_the_run_goes_on(
    stop: str | None, is_report_due: bool, claims: list[object], places: tuple[str, str]
) -> None:
    state: Any = {
        **STATE,
        "judgements": [judgement(1, stop=stop)],
        "is_report_due": is_report_due,
        "claims": claims,
    }
    assert (route_after_judge(state), route_after_writer(state)) == places


def direction(name: str, **words: Any) -> Direction:
    given = {"text": f"way {name}", "angle": "x", "rounds": 2, "queries": 2, "sources": 2, **words}
    return Direction(id=name, **given)


def branching(*directions: Direction) -> Any:
    queries = [one.query() for one in directions]
    return {
        **STATE,
        "run": "run",
        "directions": list(directions),
        "queries": queries,
    }


async def sent(state: Any, **words: Any) -> list[Send] | str:
    """Where the route leads after the coordinator has chosen."""
    run_config = RunConfig(**{"strategy": "rollouts", **words})
    update: Any = await coordinator(state, run_config=run_config, signals=NO_SIGNALS, budget=FakeBudget())
    kept = {"directions", "queries", "next_directions", "is_handing_on"}
    after: Any = {**state, **{key: update[key] for key in kept & update.keys()}}
    return route_after_coordinator(after)


def names(sends: list[Send] | str) -> list[str] | str:
    return sends if isinstance(sends, str) else [send.arg["direction"].id for send in sends]


async def test_branches_go_all_at_once_or_the_next_one() -> None:
    directions = [direction("b1", status="explored"), direction("b2"), direction("b3")]
    assert names(await sent(branching(*directions))) == ["b2", "b3"]
    assert names(await sent(branching(*directions), orchestration="sequential")) == ["b2"]
    assert await sent(branching(directions[0])) == END


async def test_a_level_waits_until_the_one_before_it_was_judged() -> None:
    state = branching(direction("b1.1", level=2))
    assert await sent(state, strategy="tree") == END
    judged = state | {"judgements": [judgement(1)]}
    assert names(await sent(judged, strategy="tree")) == ["b1.1"]
    assert route_after_judge(judged) == "branches"
    assert route_after_judge(judged | {"directions": [direction("b1.1", status="explored")]}) == END


async def test_no_branch_is_sent_without_money() -> None:
    assert await sent({**branching(direction("b1")), "is_spent": True}) == END
    assert names(await sent({**branching(direction("b1")), "is_spent": False})) == ["b1"]


async def test_a_branch_that_a_person_added_has_the_limits_of_the_others() -> None:
    state = branching(direction("b1", status="explored"))
    sends = await sent(state | {"queries": [query("seals", "w2")]})
    assert isinstance(sends, list)
    new = sends[0].arg["direction"]
    assert (new.id, new.text, new.status, new.rounds) == ("w2", "seals", "open", 2)
    assert sends[0].arg["question"] == "seals"


async def test_in_a_hand_off_a_branch_gets_what_was_learnt_and_only_then() -> None:
    known: Any = {"claims": [claim(name=f"c{n}") for n in range(30)], "pages": [page()]}
    plain = await sent(branching(direction("b2")) | known)
    passed = await sent(branching(direction("b2")) | known, orchestration="handoff")
    assert isinstance(plain, list)
    assert isinstance(passed, list)
    assert "claims" not in plain[0].arg
    assert [c.id for c in passed[0].arg["claims"]] == [f"c{n}" for n in range(10, 30)]
    assert passed[0].arg["direction"].given == [c.id for c in passed[0].arg["claims"]]
    assert [q.id for q in passed[0].arg["questions"]] == ["Q1"]


def test_branches_are_sent_as_one_level_and_feedback_goes_back_to_the_planner() -> None:
    assert route_after_review(branching(direction("b1"))) == "branches"
    assert route_after_review(branching(direction("b1", status="explored"))) == "judge"
    assert route_after_review(branching(direction("b1")) | {"feedback": "more"}) == "planner"


async def test_branches_that_run_at_once_are_told_the_latest_learnings() -> None:
    """Those of the levels before, without sub-questions of other branches."""
    claims = [claim(f"Fact {n}.", f"c{n}") for n in range(25)]
    sends = await sent({**branching(direction("b1"), direction("b2")), "claims": claims})
    assert isinstance(sends, list)
    for one in sends:
        assert [c.id for c in one.arg["learned"]] == [f"c{n}" for n in range(5, 25)]
        assert {c.question for c in one.arg["learned"]} == {""}
