"""What the planner's prompt shows is bounded, and what comes back is advice."""

from dataclasses import replace

from fakes import claim, gap, query, question

from fathom.llm.answers import PlanAnswer
from fathom.llm.planned import follow_up, plan_of, sheet_of
from fathom.llm.port import Brief
from fathom.llm.sheets import NONE
from fathom.state import Lesson, Tool
from fathom.text.tokencount import worst_tokens


def shown(brief: Brief) -> dict[str, str]:
    """What the planner's places are filled with."""
    sheet = sheet_of(brief, "English")
    return {**sheet.fixed, **{name: part.shown() or NONE for name, part in sheet.evidence.items()}}


LATER = Brief("What is it?", 2, 5, [question(1)], [query("old one")], [gap()])


def test_the_judges_suggestion_is_the_next_plan_while_it_is_new() -> None:
    plan = follow_up(LATER)
    assert plan
    assert [q.text for q in plan.queries] == ["cost"]
    assert follow_up(replace(LATER, asked=[query("the cost")])) is None
    assert follow_up(replace(LATER, feedback="no")) is None
    assert follow_up(replace(LATER, approach="step back")) is None
    assert follow_up(replace(LATER, round=1)) is None


def test_what_waited_for_an_answer_needs_no_model_either() -> None:
    waiting = replace(LATER, gaps=[], waiting=[query("{Q1} birthplace")])
    assert follow_up(waiting) is None
    assert follow_up(replace(waiting, answers={"Q1": "Mira Tollen"}))


def test_the_prompt_is_as_long_after_a_hundred_rounds_as_after_ten() -> None:
    def after(rounds: int) -> int:
        asked = [query(f"tidal power {n:05}", f"r{n}") for n in range(5 * rounds)]
        found = [claim(f"Plant {n:05} makes {n:05} megawatts.", name=f"c{n}") for n in range(10 * rounds)]
        taught = [
            Lesson(query=q.id, text=q.text, question="Q1", family="web", round=1, pages=1, claims=n % 2)
            for n, q in enumerate(asked)
        ]
        brief = replace(LATER, asked=asked, findings=found, lessons=taught)
        return sum(len(words) for words in shown(brief).values())

    assert after(100) - after(10) < 20


def test_an_old_claim_that_bears_on_a_gap_is_recalled_beside_what_is_in_mind() -> None:
    found = [claim(f"Plant {n:05} is what it is: {n:05} megawatts.", name=f"c{n}") for n in range(60)]
    old = claim("The cost was 80 million.", name="old", relevance=0.0, question="Q2")
    assert old.statement not in shown(replace(LATER, gaps=[], findings=[old, *found]))["findings"]
    lines = shown(replace(LATER, findings=[old, *found]))["findings"].splitlines()
    assert lines[0] == f"- {old.statement}"  # it was found first
    assert len(lines) == 31


def test_what_several_voices_say_comes_before_what_one_says() -> None:
    found = [claim(f"Plant {n:05} is what it is: {n:05} megawatts.", name=f"c{n:02}") for n in range(60)]
    evidence = sheet_of(replace(LATER, gaps=[], findings=found, sure={"c59": 0.95}), "English").evidence
    told = evidence["findings"].within(60, worst_tokens)[0]  # room for one or two: the best stay
    assert f"- {found[59].statement}" in told.splitlines()


def test_the_tool_the_lessons_and_the_answers_are_shown() -> None:
    taught = Lesson(query="r1q1", text="tides", question="Q1", family="web", round=1, pages=2, claims=0)
    tool = Tool(name="falsification", because="one answer leads")
    words = shown(
        replace(LATER, lessons=[taught], tool=tool, answers={"Q1": "Mira Tollen"}, outlines=["A: B | C"])
    )
    assert words["tool"] == "falsification, because one answer leads"
    assert "failed: tides (2 pages, no claim)" in words["lessons"]
    assert (words["answers"], words["outlines"]) == ("- Q1: Mira Tollen", "- A: B | C")


def test_an_answer_with_only_the_old_fields_is_a_plan_and_the_schema_asks_for_all() -> None:
    answer = PlanAnswer.model_validate(
        {
            "strategy": "s",
            "questions": [{"id": "Q1", "text": "Why?"}],
            "queries": [{"question": "Q1", "text": "limits of tides"}],
        }
    )
    plan = plan_of(answer, LATER)
    assert [(q.text, q.family) for q in plan.queries] == [("limits of tides", "counter")]
    assert (plan.perspectives, plan.hypotheses, plan.questions[0].needs) == ([], [], [])
    schema = PlanAnswer.model_json_schema()
    assert schema["required"] == list(schema["properties"])
    assert "default" not in str(schema)
