"""How a follow-up is planned: from its thread, and only for what is missing."""

from dataclasses import replace

from fakes.records import claim, gap, known, query, question

from fathom.planning.effort import apply_effort, estimate_effort
from fathom.planning.follow_up import add_recall_round, add_thread, is_at_hand, keep_queries_for_gaps
from fathom.state import RunConfig
from fathom.state.model_io import PlanInput

BRIEF = PlanInput(
    question="What is it?",
    round=2,
    limit=5,
    questions=[question(1), question(2)],
    gaps=[gap("high"), gap("low"), gap("medium").model_copy(update={"question": "Q2"})],
    findings=[claim()],
    leads=["Merrow tides"],
)
RECALLED = known(pages=[], claims=[], is_recalled=True)


def test_a_run_that_follows_nothing_is_planned_as_ever() -> None:
    assert add_thread(BRIEF, None) is BRIEF
    assert keep_queries_for_gaps([query()], BRIEF, None) == [query()]
    assert not is_at_hand(None)


def test_at_first_the_thread_and_what_it_found_are_known() -> None:
    brief = add_thread(replace(BRIEF, round=1, findings=[]), known("One?", "Two?"))
    assert [turn.question for turn in brief.thread] == ["One?", "Two?"]
    assert [(c.statement, c.question) for c in brief.findings] == [(claim().statement, "")]
    assert is_at_hand(known())


def test_then_only_what_has_no_good_answer_is_a_gap_and_leads_wait() -> None:
    brief = add_thread(BRIEF, RECALLED)
    assert [g.question for g in brief.gaps] == ["Q2"]
    assert brief.leads == []
    assert add_thread(replace(BRIEF, round=3), RECALLED).leads == ["Merrow tides"]
    queries = [query("a", "r2q1", "Q1"), query("b", "r2q2", "Q2")]
    assert keep_queries_for_gaps(queries, brief, RECALLED) == queries[1:]


def test_when_all_is_answered_what_matters_is_left_and_then_all_of_it() -> None:
    mattering = add_thread(replace(BRIEF, gaps=[gap("high"), gap("low")]), RECALLED)
    assert [g.priority for g in mattering.gaps] == ["high"]
    minor = add_thread(replace(BRIEF, gaps=[gap("low")]), RECALLED)
    assert [g.priority for g in minor.gaps] == ["low"]
    nothing = replace(BRIEF, gaps=[])
    assert keep_queries_for_gaps([query()], add_thread(nothing, RECALLED), RECALLED) == [query()]


def test_a_thread_without_evidence_is_only_told() -> None:
    brief = add_thread(BRIEF, known(pages=[], claims=[]))
    assert (brief.thread, brief.gaps) == (known().turns, BRIEF.gaps)


def test_what_is_at_hand_takes_a_round_of_its_own() -> None:
    worth = add_recall_round(estimate_effort("How high is it?", "quick"))
    assert apply_effort(RunConfig(), worth).rounds == 4
    assert apply_effort(RunConfig(rounds=2), worth).rounds == 2
