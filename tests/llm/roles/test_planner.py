"""What the planner's prompt shows is bounded, and what comes back is advice."""

from dataclasses import replace

from fakes.records import claim, gap, heading, query, question

from fathom.llm.prompt_budget import NONE
from fathom.llm.roles.answer_forms import PlanAnswer
from fathom.llm.roles.planner import build_prompt, read_plan
from fathom.state import Hypothesis, Lesson, Outline, Reread, ThinkingTool
from fathom.state.model_io import PlanInput
from fathom.text.token_count import count_tokens_at_worst


def shown(brief: PlanInput) -> dict[str, str]:
    """What the planner's places are filled with."""
    prompt_budget = build_prompt(brief, "English")
    return {
        **prompt_budget.fixed,
        **{name: part.render() or NONE for name, part in prompt_budget.evidence.items()},
    }


LATER = PlanInput("What is it?", 2, 5, [question(1)], [query("old one")], [gap()])


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


def test_what_several_sources_say_comes_before_what_one_says() -> None:
    found = [claim(f"Plant {n:05} is what it is: {n:05} megawatts.", name=f"c{n:02}") for n in range(60)]
    evidence = build_prompt(replace(LATER, gaps=[], findings=found, sure={"c59": 0.95}), "English").evidence
    told = evidence["findings"].cut_to_room(60, count_tokens_at_worst)[
        0
    ]  # room for one or two: the best stay
    assert f"- {found[59].statement}" in told.splitlines()


def test_the_tool_the_lessons_and_the_answers_are_shown() -> None:
    taught = Lesson(query="r1q1", text="tides", question="Q1", family="web", round=1, pages=2, claims=0)
    tool = ThinkingTool(name="falsification", because="one answer leads")
    words = shown(
        replace(LATER, lessons=[taught], tool=tool, answers={"Q1": "Mira Tollen"}, outlines=["A: B | C"])
    )
    assert words["tool"] == "falsification, because one answer leads"
    assert "failed (2 pages, no claim): tides" in words["lessons"]
    assert (words["answers"], words["outlines"]) == ("- Q1: Mira Tollen", "- A: B | C")


def test_what_is_thin_tried_and_proposed_is_shown() -> None:
    part = heading("c1", title="Costs").model_copy(update={"priority": "high", "lacks": "prices of 2024"})
    tired = gap().model_copy(update={"tried": 2, "lowered_from": "high", "is_rejected": True})
    again = Reread(page="ab", sought=question(1, "silt behind the dam"), round=2)
    words = shown(
        replace(
            LATER,
            today="2026-11-18",
            limits="3 queries; this is the last round.",
            gaps=[tired],
            outline=Outline(title="T", headings=[part]),
            hypotheses=[Hypothesis(id="H1", statement="It is cheap.", supporting=["c1"])],
            rereads=[again],
        )
    )
    assert (words["today"], words["limits"]) == ("2026-11-18", "3 queries; this is the last round.")
    assert "prices of 2024" in words["parts"]
    assert "not closed by 2 rounds" in words["gaps"]
    assert "refused" in words["gaps"]
    assert "It is cheap." in words["hypotheses"]
    assert "silt behind the dam" in words["rereads"]


def test_an_answer_with_only_the_old_fields_is_a_plan_and_the_schema_asks_for_all() -> None:
    answer = PlanAnswer.model_validate(
        {
            "strategy": "s",
            "questions": [{"id": "Q1", "text": "Why?"}],
            "queries": [{"question": "Q1", "text": "limits of tides"}],
        }
    )
    plan = read_plan(answer, LATER)
    assert [(q.text, q.family) for q in plan.queries] == [("limits of tides", "counter")]
    assert (plan.perspectives, plan.hypotheses, plan.questions[0].needs) == ([], [], [])
    schema = PlanAnswer.model_json_schema()
    assert schema["required"] == list(schema["properties"])
    assert "default" not in str(schema)
