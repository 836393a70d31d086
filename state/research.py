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
from fathom.state.judging import Hypothesis, Judgement, Reread
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
from fathom.state.reports import Edit, Heading, Outline, Report, Section
from fathom.state.run_config import RunConfig
from fathom.state.threads import Known
from fathom.state.updating import Earlier, Update
from fathom.state.verification import ClaimDraft, Control, ControlTally
from fathom.state.weighing import Contradiction, Finding, Ruling

MAX_QUESTION_CHARS = 2000
_PRIVATE = SkipJsonSchema()  # type: ignore[type-arg]  # in no schema: Studio does not show it


class ResearchInput(TypedDict, total=False):
    """What starts a run: the question. Its configuration is given as the context.

    `earlier` is what another run knew, for a run that updates it; `known` is what the runs of a thread knew,
    for a run that follows them. A form shows the question alone.
    """

    question: Required[
        Annotated[
            str, Field(min_length=1, max_length=MAX_QUESTION_CHARS, description="What you want to know.")
        ]
    ]
    earlier: Annotated[Earlier, _PRIVATE]
    known: Annotated[Known, _PRIVATE]


class ResearchState(TypedDict, total=False):
    """Everything a run knows. Private keys, which no form shows, are marked with `_PRIVATE`.

    The line above a key says who writes it.
    """

    # the caller
    question: Annotated[str, Field(description="The question that is researched.")]
    # the caller, for an update
    earlier: Annotated[Earlier, _PRIVATE]
    # the caller, for a follow-up; selector empties it
    known: Annotated[Known, _PRIVATE]
    # selector; hashes of the pages of the thread that a follow-up reads again
    recalled: Annotated[list[str], _PRIVATE]
    # the caller, for a run that goes another way than the one it shares its past with
    fork: Annotated[Fork, Field(description="The run and round that this run was forked from.")]
    # intake; under this name branches share what they took, and all spend from one budget
    run: Annotated[str, _PRIVATE]
    # planner, when there are branches; what every page is read for, whichever branch took it
    read_for: Annotated[list[SubQuestion], _PRIVATE]
    # planner, deliver, coordinator
    directions: Annotated[
        list[Direction], Field(description="Where branches look, and what each was worth."), merged
    ]
    # in a branch only, from the route that sends it: where to look
    direction: Annotated[Direction, _PRIVATE]
    # coordinator; the branches that set out now
    next_directions: Annotated[list[Direction], _PRIVATE]
    # coordinator; whether a branch gets what the one before it learnt
    is_handing_on: Annotated[bool, _PRIVATE]
    # intake
    forecast: Annotated[Forecast, Field(description="What the run was expected to cost and take.")]
    # coordinator; no branch sets out any more
    is_spent: Annotated[bool, _PRIVATE]
    # planner
    strategy: Annotated[str, Field(description="How this round looks, in words.")]
    # intake; planner, in the first round
    effort: Annotated[Effort, Field(description="How much the question is worth.")]
    # planner
    perspectives: Annotated[list[str], Field(description="Points of view that the plan covers.")]
    # planner
    tool: Annotated[Tool, Field(description="The way of thinking this round is planned with.")]
    # planner, of the round before
    lessons: Annotated[list[Lesson], _PRIVATE, merged]
    # planner; queries that need an answer that is not there yet
    waiting: Annotated[list[Query], Field(description="Queries that wait for the answer to another.")]
    # intake, planner, review; deliver and coordinator rename them
    questions: Annotated[
        list[SubQuestion], Field(description="The sub-questions that the report answers."), merged
    ]
    # intake, planner; review, when a person changes them; coordinator: the next branches
    queries: Annotated[list[Query], Field(description="The queries of this round.")]
    # review; planner empties it
    feedback: Annotated[str, _PRIVATE]
    # review; every feedback in a person's words, in order
    said: Annotated[list[str], _PRIVATE]
    # review; coordinator, when a person orders it
    is_finishing: Annotated[bool, _PRIVATE]
    # intake, planner, searcher; deliver and coordinator name them anew
    asked: Annotated[list[Query], Field(description="Every query that was sent."), merged]
    # searcher, planner; selector empties it
    hits: Annotated[list[Hit], _PRIVATE, merged]
    # selector
    chosen: Annotated[list[Hit], Field(description="The pages that this round reads.")]
    # intake, selector
    visited: Annotated[list[str], _PRIVATE, united]
    # intake, selector; what was found, read or not, for an update
    offered: Annotated[list[str], _PRIVATE, united]
    # extractor, analyzer, compare, selector
    pages: Annotated[list[Page], Field(description="The pages that were read; texts are kept apart."), merged]
    # analyzer, verifier, compare, selector, judge; deliver and coordinator rename what they answer
    claims: Annotated[list[Claim], Field(description="Statements with the quotes that carry them."), merged]
    # analyzer, verifier, retry
    rejected: Annotated[list[Rejected], Field(description="Claims that were refused, and why."), merged]
    # verifier, check, confirm
    control_tallies: Annotated[
        list[ControlTally], Field(description="How verifiers did on statements whose truth is known."), merged
    ]
    # intake, judge
    judgements: Annotated[
        list[Judgement], Field(description="After each round: what is known, what is missing."), merged
    ]
    # judge; whether a report is written before the run goes on or ends
    is_report_due: Annotated[bool, _PRIVATE]
    # judge; pages at hand that the next round reads again for a gap, and those that earlier rounds did
    rereads: Annotated[list[Reread], _PRIVATE, merged]
    # judge
    findings: Annotated[list[Finding], Field(description="What claims say together, and how sure it is.")]
    # intake, judge
    rulings: Annotated[list[Ruling], _PRIVATE, merged]
    # judge
    contradictions: Annotated[list[Contradiction], Field(description="Where sources disagree.")]
    # planner; judge, who weighs them
    hypotheses: Annotated[
        list[Hypothesis], Field(description="Possible answers, with what speaks for and against."), merged
    ]
    # judge, who keeps it in every round; outline, where no judge gave one; confirm, intake
    outline: Annotated[Outline, Field(description="The headings of the report, and the claims under each.")]
    # settle, confirm, intake
    sections: Annotated[list[Section], Field(description="The written sections."), merged]
    # publish; judge, when there is nothing to write about
    report: Annotated[Report, Field(description="The report, with numbered citations.")]
    # every node that calls the world
    failures: Annotated[
        list[Failure], Field(description="What could not be searched, read or asked."), merged
    ]
    # every node that pays for a call
    costs: Annotated[list[Cost], Field(description="Every call that was paid for."), merged]


class RunState(ResearchState, total=False):
    """A run's state and its configuration, as reports, views and comparisons are made from it."""

    run_config: RunConfig


class Assignment(TypedDict, total=False):
    """What one searcher gets."""

    query: Query
    effort: Effort
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
    run: str
    round: int
    direction: Direction
    pages: Annotated[list[Page], merged]
    claims: Annotated[list[Claim], merged]
    drafts: Annotated[list[ClaimDraft], merged]  # analyzer: what is not decided yet
    controls: Annotated[list[Control], merged]  # analyzer
    rejected: Annotated[list[Rejected], merged]
    failures: Annotated[list[Failure], merged]
    costs: Annotated[list[Cost], merged]


class PageOutput(TypedDict, total=False):
    """What one reader of one page brings back."""

    pages: Annotated[list[Page], merged]
    claims: Annotated[list[Claim], merged]
    drafts: Annotated[list[ClaimDraft], merged]
    controls: Annotated[list[Control], merged]
    rejected: Annotated[list[Rejected], merged]
    failures: Annotated[list[Failure], merged]
    costs: Annotated[list[Cost], merged]


class ReadingRound(TypedDict, total=False):
    """What is known while all pages of a round are read, and their claims are verified together."""

    readings: list[Reading]  # from the route that sends them: one entry a page
    run: str
    round: int
    direction: Direction
    drafts: Annotated[list[ClaimDraft], merged]  # analyzer
    controls: Annotated[list[Control], merged]  # analyzer
    refused: list[ClaimDraft]  # verifier: what is tried once more
    retried: list[ClaimDraft]  # retry: what the verifier is asked about again
    pages: Annotated[list[Page], merged]
    claims: Annotated[list[Claim], merged]
    rejected: Annotated[list[Rejected], merged]
    control_tallies: Annotated[list[ControlTally], merged]
    failures: Annotated[list[Failure], merged]
    costs: Annotated[list[Cost], merged]


class ReadingOutput(TypedDict, total=False):
    """What the reading of a round brings back."""

    pages: Annotated[list[Page], merged]
    claims: Annotated[list[Claim], merged]
    rejected: Annotated[list[Rejected], merged]
    control_tallies: Annotated[list[ControlTally], merged]
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
    control_tallies: Annotated[list[ControlTally], merged]
    failures: Annotated[list[Failure], merged]
    costs: Annotated[list[Cost], merged]


class BranchesOutput(BranchOutput, total=False):
    """What a level of branches brings back."""

    queries: list[Query]
    is_finishing: bool
    is_spent: bool


class Part(TypedDict, total=False):
    """What the writer of one part gets, and what it brings back."""

    question: str
    run: str
    round: int
    outline: Outline
    heading: Heading
    claims: list[Claim]
    findings: list[Finding]
    pages: list[Page]
    length: int  # in words
    is_table_wanted: bool
    drafts: Annotated[list[Section], merged]  # section
    failures: Annotated[list[Failure], merged]
    costs: Annotated[list[Cost], merged]


class Chapter(TypedDict, total=False):
    """Parts that are written at once and checked together."""

    question: str
    run: str
    round: int
    outline: Outline
    headings: list[Heading]  # of this chapter
    claims: list[Claim]
    findings: list[Finding]
    pages: list[Page]
    lengths: dict[str, int]  # of each part, in words
    table_part: str
    drafts: Annotated[list[Section], merged]  # section, then check and rewrite in turns
    rewritten: list[int]  # rewrite: the places of the sentences to check again, counted over all drafts
    sections: Annotated[list[Section], merged]  # settle
    control_tallies: Annotated[list[ControlTally], merged]  # check
    failures: Annotated[list[Failure], merged]
    costs: Annotated[list[Cost], merged]


class ChapterOutput(TypedDict, total=False):
    """What a chapter brings back."""

    sections: Annotated[list[Section], merged]
    control_tallies: Annotated[list[ControlTally], merged]
    failures: Annotated[list[Failure], merged]
    costs: Annotated[list[Cost], merged]


class Writing(TypedDict, total=False):
    """What the writing of a report knows."""

    question: str
    run: str
    earlier: Earlier
    update: Update  # whoever makes a report again, in the place of `earlier`
    effort: Effort
    questions: list[SubQuestion]
    pages: list[Page]
    claims: list[Claim]
    rejected: list[Rejected]
    judgements: list[Judgement]
    findings: list[Finding]
    contradictions: list[Contradiction]
    outline: Outline
    lengths: dict[str, int]  # outline: the words that each part aims at
    table_part: str  # outline: the id of the part that should have a table, if one should
    sections: Annotated[list[Section], merged]  # settle, confirm
    edit: Edit  # edit: what an editor wants of the checked draft
    report: Report
    control_tallies: Annotated[list[ControlTally], merged]
    failures: Annotated[list[Failure], merged]
    costs: Annotated[list[Cost], merged]


class WritingOutput(TypedDict, total=False):
    """What the writing of a report brings back."""

    outline: Outline
    sections: Annotated[list[Section], merged]
    report: Report
    control_tallies: Annotated[list[ControlTally], merged]
    failures: Annotated[list[Failure], merged]
    costs: Annotated[list[Cost], merged]
