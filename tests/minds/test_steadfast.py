"""Where a model fails another mind steps in, says so, and what was paid stays paid."""

from collections.abc import Awaitable, Callable

import pytest
from fakes import RUBRIC, SOUND, FakeMind, charge, claim, heading, plan, question, section

from fathom.errors import Refused, Unavailable, Unreadable
from fathom.minds.port import Assessment, Brief, Mind, Thought
from fathom.minds.steadfast import Steadfast
from fathom.state import Outline

BRIEF = Brief("What?", 1, 5)
VERBS: dict[str, Callable[[Mind], Awaitable[Thought[object]]]] = {
    "reads": lambda mind: mind.read("What?", [question()], "A page", "text"),
    "verdicts": lambda mind: mind.verify([]),
    "assessments": lambda mind: mind.judge("What?", [question()], [claim()]),
    "outlines": lambda mind: mind.outline("What?", [question()], [claim()]),
    "written": lambda mind: mind.write("What?", heading("c1"), [claim()]),
    "objections": lambda mind: mind.check(section(), [claim()]),
}
VALUES: dict[str, object] = {
    "reads": [],
    "verdicts": [SOUND],
    "assessments": Assessment(RUBRIC, []),
    "outlines": Outline(title="T", headings=[]),
    "written": section(),
    "objections": [],
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", [Unavailable, Refused, Unreadable])
async def test_any_failure_is_stood_in_for_and_told(verb: str, kind: type[Unavailable]) -> None:
    paid, own = charge("paid"), charge("own")
    first = FakeMind(**{verb: [kind("The model is gone.", [paid])]})
    second = FakeMind(**{verb: [VALUES[verb]]}, charges=[own])
    thought = await VERBS[verb](Steadfast(first, second))
    assert thought.value == VALUES[verb]
    assert thought.charges == [paid, own]
    assert [(loss.where, loss.why) for loss in thought.losses] == [("model", "The model is gone.")]
    assert "without the model" in thought.losses[0].what


@pytest.mark.parametrize("verb", VERBS)
async def test_a_mind_that_works_is_not_stood_in_for(verb: str) -> None:
    thought = await VERBS[verb](Steadfast(FakeMind(**{verb: [VALUES[verb]]}), FakeMind()))
    assert thought == Thought(VALUES[verb])


async def test_an_unusable_plan_is_made_by_the_other() -> None:
    mind = Steadfast(FakeMind(plans=[Unreadable("no form", [charge()])]), FakeMind(plans=[plan("tides")]))
    thought = await mind.plan(BRIEF)
    assert thought.value == plan("tides")
    assert thought.charges == [charge()]


@pytest.mark.parametrize("kind", [Unavailable, Refused])
async def test_a_model_that_is_not_there_is_heard_of_before_anything_starts(kind: type[Unavailable]) -> None:
    mind = Steadfast(FakeMind(plans=[kind("cannot be reached")]), FakeMind())
    with pytest.raises(kind, match="cannot be reached"):
        await mind.plan(BRIEF)


async def test_a_bug_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        await Steadfast(FakeMind(reads=[ZeroDivisionError()]), FakeMind()).read("W?", [], "t", "x")
