"""Where a model fails another mind steps in, says so, and what was paid stays paid."""

from pathlib import Path
from typing import Any

import pytest
from fakes.records import RUBRIC, claim, cost, plan, points, question, section, section_brief, sentence
from fakes.services import FakeModel

from fathom.budget.time_budget import TimeBudget
from fathom.errors import OutOfTime, ProviderError, Refused, Unavailable, Unreachable, Unreadable
from fathom.llm.fallback import FallbackModel
from fathom.report.sentence_checks import CheckInput
from fathom.state import Edit, Outline, Section
from fathom.state.model_io import (
    Assessment,
    EditInput,
    ExtractedStatement,
    JudgeInput,
    ModelResult,
    PlanInput,
    RewriteInput,
)
from fathom.storage import open_storage

BRIEF = PlanInput("What?", 1, 5)
VERBS: dict[str, Any] = {
    "reads": lambda mind: mind.read("What?", [question()], "A page", "text"),
    "verdicts": lambda mind: mind.verify([]),
    "assessments": lambda mind: mind.judge(JudgeInput("What?", [question()], [claim()])),
    "outlines": lambda mind: mind.outline("What?", [question()], points(claim())),
    "written": lambda mind: mind.write(section_brief(*points(claim()))),
    "objections": lambda mind: mind.check(CheckInput([], [claim()], {})),
    "rewrites": lambda mind: mind.rewrite(RewriteInput("What?", [], points(claim()))),
    "refutations": lambda mind: mind.refute(CheckInput([], [claim()], {})),
    "edits": lambda mind: mind.edit(EditInput("What?", "T", [])),
}
VALUES: dict[str, Any] = {
    "reads": [],
    "verdicts": [],
    "assessments": Assessment(RUBRIC, []),
    "outlines": Outline(title="T", headings=[]),
    "written": [section(sentence("It does.", "c1"))],
    "objections": [],
    "rewrites": [sentence("It does.", "c1")],
    "refutations": [],
    "edits": Edit(title="T"),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", [Unavailable, Refused, Unreadable])
async def test_any_failure_is_stood_in_for_and_told(verb: str, kind: type[Unavailable]) -> None:
    paid, own = cost("paid"), cost("own")
    failing: dict[str, Any] = {verb: [kind("The model is gone.", [paid])]}
    working: dict[str, Any] = {verb: [VALUES[verb]], "costs": [own]}
    first, second = FakeModel(**failing), FakeModel(**working)
    thought = await VERBS[verb](FallbackModel(first, second))
    assert thought.value == VALUES[verb]
    assert thought.costs == [paid, own]
    assert [(failure.where, failure.why) for failure in thought.failures] == [("model", "The model is gone.")]
    assert "without the model" in thought.failures[0].what


@pytest.mark.parametrize("verb", VERBS)
async def test_a_mind_that_works_is_not_stood_in_for(verb: str) -> None:
    working: dict[str, Any] = {verb: [VALUES[verb]]}
    assert await VERBS[verb](FallbackModel(FakeModel(**working), FakeModel())) == ModelResult(VALUES[verb])


async def test_an_unusable_plan_is_made_by_the_other() -> None:
    mind = FallbackModel(FakeModel(plans=[Unreadable("no form", [cost()])]), FakeModel(plans=[plan("tides")]))
    thought = await mind.plan(BRIEF)
    assert thought.value == plan("tides")
    assert thought.costs == [cost()]


@pytest.mark.parametrize("kind", [Unavailable, Refused])
async def test_a_model_that_is_not_there_is_heard_of_before_anything_starts(kind: type[Unavailable]) -> None:
    mind = FallbackModel(FakeModel(plans=[kind("cannot be reached")]), FakeModel())
    with pytest.raises(kind, match="cannot be reached"):
        await mind.plan(BRIEF)


@pytest.mark.parametrize("kind", [Unavailable, OutOfTime])
async def test_a_model_that_does_not_answer_is_left_where_the_time_is_limited(
    kind: type[ProviderError], tmp_path: Path
) -> None:
    silent = FallbackModel(
        FakeModel(plans=[kind("failed (503)", [cost()])]), FakeModel(plans=[plan("tides")])
    )
    thought = await silent.with_time_budget(
        TimeBudget(open_storage(tmp_path / "fathom.sqlite"), "run", 60.0, 30.0)
    ).plan(BRIEF)
    assert thought.value == plan("tides")
    assert thought.costs == [cost()]
    assert thought.failures[0].why == "failed (503)"


@pytest.mark.parametrize("kind", [Unreachable, Refused])
async def test_a_model_that_is_not_there_is_heard_of_also_where_the_time_is_limited(
    kind: type[ProviderError], tmp_path: Path
) -> None:
    mind = FallbackModel(FakeModel(plans=[kind("cannot be reached")]), FakeModel())
    with pytest.raises(kind, match="cannot be reached"):
        await mind.with_time_budget(
            TimeBudget(open_storage(tmp_path / "fathom.sqlite"), "run", 60.0, 30.0)
        ).plan(BRIEF)


async def test_a_bug_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        await FallbackModel(FakeModel(reads=[ZeroDivisionError()]), FakeModel()).read("W?", [], "t", "x")


async def test_quotes_of_which_not_one_is_in_the_page_are_no_reading_of_it() -> None:
    invented, real = (
        ExtractedStatement("It is 5.", "five of them", "Q1", 0.9),
        ExtractedStatement("It is 4.", "four of them", "Q1", 0.9),
    )
    text = "There are four of them."
    mind = FallbackModel(FakeModel(reads=[[invented]], costs=[cost()]), FakeModel(reads=[[real]]))
    thought = await mind.read("What?", [question()], "A page", text)
    assert thought.value == [real]
    assert thought.costs == [cost()]
    assert thought.failures[0].why == "The model gave quotes, but none of them is in the page."
    one_of_two = FallbackModel(FakeModel(reads=[[invented, real]]), FakeModel())
    assert (await one_of_two.read("What?", [question()], "A page", text)).value == [invented, real]


async def test_a_section_that_cites_nothing_is_written_by_the_other() -> None:
    loose, cited = section(sentence("The report answers.")), section(sentence("It does.", "c1"))
    mind = FallbackModel(FakeModel(written=[[loose]]), FakeModel(written=[[cited]]))
    thought = await mind.write(section_brief(*points(claim())))
    assert thought.value == [cited]
    assert thought.failures[0].why == "The model wrote a text that cites none of its claims."


TEXT = "The Rance plant opened in 1966 and still runs."
INVENTED = ExtractedStatement("It is blue.", "the plant is painted blue all over", "Q1", 1)
FOUND = ExtractedStatement("It opened in 1966.", "The Rance plant opened in 1966", "Q1", 1)


async def test_quotes_of_which_none_is_in_the_page_are_no_reading_of_it() -> None:
    first = FakeModel(reads=[[INVENTED]], costs=[cost("paid")])
    thought = await FallbackModel(first, FakeModel(reads=[[FOUND]])).read("What?", [question()], "t", TEXT)
    assert thought.value == [FOUND]
    assert thought.costs == [cost("paid")]
    assert "none of them is in the page" in thought.failures[0].why


@pytest.mark.parametrize("drafts", [[], [INVENTED, FOUND]])
async def test_a_page_may_say_nothing_and_one_bad_quote_is_left_to_the_analyzer(
    drafts: list[ExtractedStatement],
) -> None:
    mind = FallbackModel(FakeModel(reads=[drafts]), FakeModel())
    assert (await mind.read("What?", [question()], "t", TEXT)).value == drafts


@pytest.mark.parametrize("empty", [section(), section(sentence("So much.", status="connective"))])
async def test_a_section_that_cites_nothing_is_written_again_without_the_model(empty: Section) -> None:
    mind = FallbackModel(FakeModel(written=[[empty]]), FakeModel(written=[VALUES["written"]]))
    thought = await mind.write(section_brief(*points(claim())))
    assert thought.value == VALUES["written"]
    assert "cites none of its claims" in thought.failures[0].why
