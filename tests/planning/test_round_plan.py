"""A round that doubts what leads, and that is never empty when the run is to have no end."""

from dataclasses import replace

from fakes.records import claim, query, question

from fathom.planning.round_plan import add_counter_query
from fathom.state import Hypothesis
from fathom.state.model_io import PlanInput

LEADER = Hypothesis(id="H1", statement="Tidal power is cheap.", confidence=0.99)
BRIEF = PlanInput(
    "What is tidal power?", 2, 3, [question()], [query("tides")], findings=[claim("Tides are strong.")]
)


def test_what_leads_is_doubted_however_sure_it_is() -> None:
    planned = [query("a"), query("b"), query("c")]
    doubting = add_counter_query(planned, BRIEF, [LEADER], is_endless=False)
    assert [q.text for q in doubting] == ["a", "b", "Tidal power cheap criticism"]
    assert [(q.id, q.family) for q in doubting][-1] == ("r2q3", "counter")


def test_a_round_that_doubts_already_and_a_first_round_stay_as_they_are() -> None:
    doubting = [query("a").model_copy(update={"family": "counter"})]
    assert [q.text for q in add_counter_query(doubting, BRIEF, [LEADER], is_endless=True)] == ["a"]
    assert add_counter_query([query("a")], replace(BRIEF, round=1), [LEADER], is_endless=True) == [query("a")]


def test_without_a_hypothesis_and_with_an_end_nothing_is_added() -> None:
    assert add_counter_query([query("a")], BRIEF, [], is_endless=False) == [query("a")]
    assert add_counter_query([], BRIEF, [LEADER], is_endless=False) == []


def test_without_an_end_there_is_always_something_new_to_ask_until_there_is_not() -> None:
    asked = [query("tides")]
    for number in range(2, 60):
        found = add_counter_query([], replace(BRIEF, round=number, asked=asked), [], is_endless=True)
        if not found:
            break
        assert len(found) <= BRIEF.limit
        assert not {q.text for q in found} & {q.text for q in asked}
        asked = [*asked, *found]
    assert number > 10
    assert add_counter_query([], replace(BRIEF, question="??", findings=[]), [], is_endless=True) == []


def test_one_query_a_round_doubts() -> None:
    (only,) = add_counter_query([query("a")], replace(BRIEF, limit=1), [LEADER], is_endless=True)
    assert only.text == "a"
