"""A round that doubts what leads, and that is never empty when the run is to have no end."""

from dataclasses import replace

from fakes.records import claim, plan, query, question

from fathom.planning.round_plan import add_counter_query, decide_round, follow_papers
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


def test_the_first_round_asks_broadly_first_and_later_ones_as_they_are_planned() -> None:
    served = {"web": 1.0, "academic": 1.0, "counter": 1.0}
    wanted = plan("tidal barrage turbine cost Ouseport 1987", "tidal power", "tidal power cost Europe")
    first = replace(BRIEF, round=1, limit=3, questions=[], asked=[], findings=[])
    assert [q.text for q in decide_round(first, wanted, served).queries] == [  # type: ignore[arg-type]
        "tidal power",
        "tidal power cost Europe",
        "tidal barrage turbine cost Ouseport 1987",
    ]
    later = decide_round(replace(BRIEF, limit=3), wanted, served)  # type: ignore[arg-type]
    assert later.queries[0].text == "tidal barrage turbine cost Ouseport 1987"


def test_later_rounds_are_narrower_by_the_names_that_were_found_and_say_so() -> None:
    served = {"web": 1.0, "academic": 1.0, "counter": 1.0}
    found = [claim("The barrage of Ouseport opened in 1987.")]
    first = replace(BRIEF, round=1, limit=3, questions=[], asked=[], findings=[])
    begun = decide_round(first, plan("tidal power"), served)  # type: ignore[arg-type]
    assert not any("Ouseport" in q.text for q in begun.queries)
    assert begun.queries[0].text == "tidal power"
    brief = replace(BRIEF, round=2, limit=4, findings=found, asked=begun.queries)
    later = decide_round(brief, plan("tidal power today"), served)  # type: ignore[arg-type]
    assert any("Ouseport" in q.text for q in later.queries)
    assert any("Ouseport" in note.values.get("names", "") for note in later.notes)
    shortest = min(len(q.text.split()) for q in begun.queries)
    assert all(len(q.text.split()) > shortest for q in later.queries if "Ouseport" in q.text)


def test_papers_are_followed_when_the_question_or_a_query_calls_for_it() -> None:
    plain, citing = query("tidal power"), query("papers citing the lagoon study")
    followed = follow_papers([plain, citing], "What does tidal power cost?", "auto")
    assert [q.links for q in followed] == [[], ["citations"]]
    asked = "Which studies build on the lagoon paper?"
    assert [q.links for q in follow_papers([plain], asked, "auto")] == [["citations"]]
    assert [q.links for q in follow_papers([plain], "?", "on")] == [["citations", "references"]]
    assert [q.links for q in follow_papers([citing], asked, "off")] == [[]]
