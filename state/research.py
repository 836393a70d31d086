"""The state that flows through the graph, and the parts of it that branches get.

Does not know the graph's shape. Each key says who writes it; reduced keys may have many writers.
"""

from typing import Annotated, Required

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypedDict

from fathom.state.branching import Direction
from fathom.state.forecasting import Forecast
from fathom.state.forking import Fork
from fathom.state.judging import Hypothesis, Judgement
from fathom.state.planning import Effort, Lesson, Tool
from fathom.state.records import (
    Claim,
    Cost,
    Failure,
    Hit,
    Page,
    Query,
    Rejected,
    SubQuestion,
)
from fathom.state.reducers import merged, united
from fathom.state.reports import Heading, Outline, Report, Section
from fathom.state.run_config import RunConfig
from fathom.state.threads import Known
from fathom.state.updating import Earlier, Update
from fathom.state.weighing import Contradiction, Finding, Ruling

MAX_QUESTION_CHARS = 2000


class ResearchInput(TypedDict, total=False):
    """What starts a run: the question; the knobs only when they are to be remembered with it.

    `earlier` is what another run knew, for a run that updates it; `known` is what the runs of a thread knew,
    for a run that follows them. A form shows the question alone: knobs have a form of their own.
    """

    question: Required[
        Annotated[
            str, Field(min_length=1, max_length=MAX_QUESTION_CHARS, description="What you want to know.")
        ]
    ]
    run_config: Annotated[RunConfig, SkipJsonSchema()]
    earlier: Annotated[Earlier, SkipJsonSchema()]
    known: Annotated[Known, SkipJsonSchema()]


class ResearchState(TypedDict, total=False):
    """Everything a run knows."""

    question: str  # the caller
    run_config: RunConfig  # the caller, else lead, planner and recheck
    earlier: Earlier  # the caller, for an update
    known: Known  # the caller, for a follow-up; recall empties it
    recalled: list[str]  # recall; hashes of the pages at hand that are read again
    fork: Fork  # the caller, for a run that goes another way than the one it shares its past with
    run: str  # lead, recheck; under this name branches share what they took, and all spend from one purse
    read_for: list[SubQuestion]  # lead; what every page is read for, whichever branch took it
    directions: Annotated[list[Direction], merged]  # lead, deliver, gather
    direction: Direction  # in a branch only, from the route that sends it: where to look
    forecast: Forecast  # lead
    is_spent: bool  # gather; no branch sets out any more
    strategy: str  # planner; lead, when there are branches
    effort: Effort  # lead; planner, in the first round
    perspectives: list[str]  # planner
    tool: Tool  # planner
    lessons: Annotated[list[Lesson], merged]  # planner, of the round before
    waiting: list[Query]  # planner; queries that need an answer that is not there yet
    questions: Annotated[list[SubQuestion], merged]  # planner, recheck, review; deliver, gather rename
    queries: list[Query]  # planner, recheck; review, when a person changes them; lead and gather: branches
    feedback: str  # review; planner and lead empty it
    said: list[str]  # review; every feedback in a person's words, in order
    is_finishing: bool  # review; gather, when a person orders it
    asked: Annotated[list[Query], merged]  # searcher, planner, recheck; deliver and gather name them anew
    hits: Annotated[list[Hit], merged]  # searcher, planner; selector empties it
    chosen: list[Hit]  # selector
    visited: Annotated[list[str], united]  # selector, recheck, recall
    offered: Annotated[list[str], united]  # selector, recheck; what was found, read or not, for an update
    pages: Annotated[list[Page], merged]  # extractor, compare, recall
    claims: Annotated[list[Claim], merged]  # analyzer, compare, recall, judge; deliver, gather rename them
    rejected: Annotated[list[Rejected], merged]  # analyzer
    judgements: Annotated[list[Judgement], merged]  # judge, recheck
    findings: list[Finding]  # judge
    rulings: Annotated[list[Ruling], merged]  # judge, recheck
    contradictions: list[Contradiction]  # judge
    hypotheses: Annotated[list[Hypothesis], merged]  # planner; judge, who weighs them
    outline: Outline  # outline, recheck
    sections: Annotated[list[Section], merged]  # settle, recheck
    report: Report  # publish; judge, when there is nothing to write about
    failures: Annotated[list[Failure], merged]  # every node that calls the world
    costs: Annotated[list[Cost], merged]  # every node that thinks


class Assignment(TypedDict, total=False):
    """What one searcher gets."""

    query: Query
    run_config: RunConfig
    run: str
    round: int
    direction: Direction


class Reading(TypedDict, total=False):
    """What one reader of one page knows; `before` and `known` when an earlier run has read it."""

    hit: Hit
    before: Page
    known: list[Claim]
    question: str
    questions: list[SubQuestion]
    sought: SubQuestion  # the sub-question in the words of the follow-up that found the page
    run_config: RunConfig
    run: str
    round: int
    direction: Direction
    pages: Annotated[list[Page], merged]
    claims: Annotated[list[Claim], merged]
    rejected: Annotated[list[Rejected], merged]
    failures: Annotated[list[Failure], merged]
    costs: Annotated[list[Cost], merged]


class ReadingOutput(TypedDict, total=False):
    """What one reader brings back."""

    pages: Annotated[list[Page], merged]
    claims: Annotated[list[Claim], merged]
    rejected: Annotated[list[Rejected], merged]
    failures: Annotated[list[Failure], merged]
    costs: Annotated[list[Cost], merged]


class BranchOutput(TypedDict, total=False):
    """What a branch brings back."""

    directions: Annotated[list[Direction], merged]
    questions: Annotated[list[SubQuestion], merged]
    asked: Annotated[list[Query], merged]
    visited: Annotated[list[str], united]
    offered: Annotated[list[str], united]
    pages: Annotated[list[Page], merged]
    claims: Annotated[list[Claim], merged]
    rulings: Annotated[list[Ruling], merged]
    rejected: Annotated[list[Rejected], merged]
    failures: Annotated[list[Failure], merged]
    costs: Annotated[list[Cost], merged]


class Chapter(TypedDict, total=False):
    """What the writer of one section gets and knows."""

    question: str
    heading: Heading
    claims: list[Claim]
    findings: list[Finding]
    run_config: RunConfig
    run: str
    round: int
    draft: Section  # section, then check and rewrite in turns
    rewritten: list[int]  # rewrite: the places of the sentences to check again
    sections: Annotated[list[Section], merged]  # settle
    failures: Annotated[list[Failure], merged]
    costs: Annotated[list[Cost], merged]


class ChapterOutput(TypedDict, total=False):
    """What the writer of one section brings back."""

    sections: Annotated[list[Section], merged]
    failures: Annotated[list[Failure], merged]
    costs: Annotated[list[Cost], merged]


class Writing(TypedDict, total=False):
    """What the writing of a report knows."""

    question: str
    run_config: RunConfig
    run: str
    earlier: Earlier
    update: Update  # whoever makes a report again, in the place of `earlier`
    questions: list[SubQuestion]
    pages: list[Page]
    claims: list[Claim]
    rejected: list[Rejected]
    judgements: list[Judgement]
    findings: list[Finding]
    contradictions: list[Contradiction]
    outline: Outline
    sections: Annotated[list[Section], merged]
    report: Report
    failures: Annotated[list[Failure], merged]
    costs: Annotated[list[Cost], merged]


class WritingOutput(TypedDict, total=False):
    """What the writing of a report brings back."""

    outline: Outline
    sections: Annotated[list[Section], merged]
    report: Report
    failures: Annotated[list[Failure], merged]
    costs: Annotated[list[Cost], merged]
