"""The state of the graph and of its subgraphs.

Each key names its writers; keys with a reducer may have several.
"""

from typing import Annotated, Required

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypedDict

from fathom.state.evidence import (
    ClaimDraft,
    Contradiction,
    Control,
    ControlTally,
    Finding,
    Hypothesis,
    Judgement,
    Reread,
    Ruling,
)
from fathom.state.planning import (
    Direction,
    EarlierRun,
    Effort,
    Forecast,
    Fork,
    Lesson,
    RunUpdate,
    ThinkingTool,
    ThreadKnowledge,
)
from fathom.state.records import (
    Claim,
    Cost,
    Failure,
    Hit,
    Page,
    Query,
    Rejected,
    SubQuestion,
    merge_records,
    unite_lists,
)
from fathom.state.report import Edit, Heading, Outline, Report, Section
from fathom.state.run_config import RunConfig

MAX_QUESTION_CHARS = 2000
_PRIVATE = SkipJsonSchema()  # type: ignore[type-arg]  # in no schema: Studio does not show it


class ResearchInput(TypedDict, total=False):
    """Input of a run: the question. Its configuration is given as the context.

    `earlier` is what another run knew, for an update of it; `known` is what the runs of a thread knew, for a
    follow-up. Forms show only the question.
    """

    question: Required[
        Annotated[
            str, Field(min_length=1, max_length=MAX_QUESTION_CHARS, description="What you want to know.")
        ]
    ]
    earlier: Annotated[EarlierRun, _PRIVATE]
    known: Annotated[ThreadKnowledge, _PRIVATE]


class ResearchState(TypedDict, total=False):
    """The state of a run. Private keys, which no form shows, are marked with `_PRIVATE`.

    The line above a key names its writers.
    """

    # the caller
    question: Annotated[str, Field(description="The question that is researched.")]
    # the caller, for an update
    earlier: Annotated[EarlierRun, _PRIVATE]
    # the caller, for a follow-up; selector empties it
    known: Annotated[ThreadKnowledge, _PRIVATE]
    # selector; hashes of the pages of the thread that a follow-up reads again
    recalled: Annotated[list[str], _PRIVATE]
    # the caller, for a run that continues another one in a new direction
    fork: Annotated[Fork, Field(description="The run and round that this run was forked from.")]
    # intake; its branches share page leases and one budget under this name
    run: Annotated[str, _PRIVATE]
    # planner, when there are branches; sub-questions that every page is read for, in any branch
    read_for: Annotated[list[SubQuestion], _PRIVATE]
    # planner, finish_branch, coordinator
    directions: Annotated[
        list[Direction], Field(description="Where branches look, and what each was worth."), merge_records
    ]
    # in a branch only, from the route that sends it: its direction
    direction: Annotated[Direction, _PRIVATE]
    # in a branch only, from the route that sends it: the latest claims of the branches before it
    learned: Annotated[list[Claim], _PRIVATE]
    # coordinator; the branches to send out now
    next_directions: Annotated[list[Direction], _PRIVATE]
    # coordinator; whether a branch gets what the one before it learned
    is_handing_on: Annotated[bool, _PRIVATE]
    # intake
    forecast: Annotated[Forecast, Field(description="What the run was expected to cost and take.")]
    # coordinator; no more branches are sent out
    is_spent: Annotated[bool, _PRIVATE]
    # planner
    strategy: Annotated[str, Field(description="How this round looks, in words.")]
    # intake; planner, in the first round
    effort: Annotated[Effort, Field(description="How much the question is worth.")]
    # planner
    perspectives: Annotated[list[str], Field(description="Points of view that the plan covers.")]
    # planner
    tool: Annotated[ThinkingTool, Field(description="The way of thinking this round is planned with.")]
    # planner, of the round before
    lessons: Annotated[list[Lesson], _PRIVATE, merge_records]
    # planner; queries that need an answer that is not known yet
    waiting: Annotated[list[Query], Field(description="Queries that wait for the answer to another.")]
    # intake, planner, review; finish_branch and coordinator rename them
    questions: Annotated[
        list[SubQuestion], Field(description="The sub-questions that the report answers."), merge_records
    ]
    # intake, planner; review, when a user changes them; coordinator: the next branches
    queries: Annotated[list[Query], Field(description="The queries of this round.")]
    # review; planner clears it
    feedback: Annotated[str, _PRIVATE]
    # review; all feedback of a user, in order
    said: Annotated[list[str], _PRIVATE]
    # review; coordinator, when a user signals it
    is_finishing: Annotated[bool, _PRIVATE]
    # intake, planner, searcher; finish_branch and coordinator rename them
    asked: Annotated[list[Query], Field(description="Every query that was sent."), merge_records]
    # searcher, planner; selector clears it
    hits: Annotated[list[Hit], _PRIVATE, merge_records]
    # selector
    chosen: Annotated[list[Hit], Field(description="The pages that this round reads.")]
    # intake, selector
    visited: Annotated[list[str], _PRIVATE, unite_lists]
    # intake, selector; all hits, read or not, for an update
    offered: Annotated[list[str], _PRIVATE, unite_lists]
    # selector; hashes of the lists of hits of each round, which are kept with the texts of pages
    results: Annotated[list[str], _PRIVATE, unite_lists]
    # extractor, analyzer, compare, selector
    pages: Annotated[
        list[Page], Field(description="The pages that were read; texts are kept apart."), merge_records
    ]
    # analyzer, verifier, compare, selector, judge; finish_branch and coordinator rename their sub-questions
    claims: Annotated[
        list[Claim], Field(description="Statements with the quotes that carry them."), merge_records
    ]
    # analyzer, verifier, retry
    rejected: Annotated[
        list[Rejected], Field(description="Claims that were refused, and why."), merge_records
    ]
    # verifier, check, confirm
    control_tallies: Annotated[
        list[ControlTally],
        Field(description="How verifiers did on statements whose truth is known."),
        merge_records,
    ]
    # intake, judge
    judgements: Annotated[
        list[Judgement], Field(description="After each round: what is known, what is missing."), merge_records
    ]
    # judge; whether to write a report before the run continues or ends
    is_report_due: Annotated[bool, _PRIVATE]
    # judge; stored pages that the next round reads again for a gap, and those of earlier rounds
    rereads: Annotated[list[Reread], _PRIVATE, merge_records]
    # judge
    findings: Annotated[list[Finding], Field(description="What claims say together, and how sure it is.")]
    # intake, judge
    rulings: Annotated[list[Ruling], _PRIVATE, merge_records]
    # judge
    contradictions: Annotated[list[Contradiction], Field(description="Where sources disagree.")]
    # planner; judge, who scores them
    hypotheses: Annotated[
        list[Hypothesis],
        Field(description="Possible answers, with what speaks for and against."),
        merge_records,
    ]
    # judge, who keeps it in every round; outline, if the judge gave none; confirm, intake
    outline: Annotated[Outline, Field(description="The headings of the report, and the claims under each.")]
    # settle, confirm, intake
    sections: Annotated[list[Section], Field(description="The written sections."), merge_records]
    # publish; judge, when there is nothing to write about
    report: Annotated[Report, Field(description="The report, with numbered citations.")]
    # every node that calls external services
    failures: Annotated[
        list[Failure], Field(description="What could not be searched, read or asked."), merge_records
    ]
    # every node that pays for a call
    costs: Annotated[list[Cost], Field(description="Every call that was paid for."), merge_records]


class RunState(ResearchState, total=False):
    """A run's state and configuration, the input of reports, views and comparisons."""

    run_config: RunConfig


# Run settings that are not also keys of the state. They belong to the context and are refused as input.
SETTING_NAMES = frozenset(RunConfig.model_fields) - frozenset(ResearchState.__annotations__)


class Assignment(TypedDict, total=False):
    """Input of one searcher."""

    query: Query
    effort: Effort
    run: str
    round: int
    direction: Direction


class CallOutput(TypedDict, total=False):
    """Keys of every subgraph that calls models or services."""

    failures: Annotated[list[Failure], merge_records]
    costs: Annotated[list[Cost], merge_records]


class PageOutput(CallOutput, total=False):
    """Output of reading one page."""

    pages: Annotated[list[Page], merge_records]
    claims: Annotated[list[Claim], merge_records]
    drafts: Annotated[list[ClaimDraft], merge_records]  # analyzer: not verified yet
    controls: Annotated[list[Control], merge_records]  # analyzer
    rejected: Annotated[list[Rejected], merge_records]


class Reading(PageOutput, total=False):
    """State of reading one page; `before` and `known` are set when an earlier run has read it."""

    hit: Hit
    before: Page
    known: list[Claim]
    question: str
    questions: list[SubQuestion]
    sought: SubQuestion  # the query of the follow-up that found the page, under its sub-question
    run: str
    round: int
    direction: Direction


class ReadingOutput(CallOutput, total=False):
    """Output of reading the pages of a round."""

    pages: Annotated[list[Page], merge_records]
    claims: Annotated[list[Claim], merge_records]
    rejected: Annotated[list[Rejected], merge_records]
    control_tallies: Annotated[list[ControlTally], merge_records]


class ReadingRound(ReadingOutput, total=False):
    """State of reading all pages of a round and verifying their claims together."""

    readings: list[Reading]  # from the route that sends them: one entry per page
    run: str
    round: int
    direction: Direction
    drafts: Annotated[list[ClaimDraft], merge_records]  # analyzer
    controls: Annotated[list[Control], merge_records]  # analyzer
    refused: list[ClaimDraft]  # verifier: to be retried once
    retried: list[ClaimDraft]  # retry: to be verified again


class BranchOutput(ReadingOutput, total=False):
    """Output of a branch."""

    directions: Annotated[list[Direction], merge_records]
    questions: Annotated[list[SubQuestion], merge_records]
    asked: Annotated[list[Query], merge_records]
    visited: Annotated[list[str], unite_lists]
    offered: Annotated[list[str], unite_lists]
    results: Annotated[list[str], unite_lists]
    rulings: Annotated[list[Ruling], merge_records]


class BranchesOutput(BranchOutput, total=False):
    """Output of a level of branches."""

    queries: list[Query]
    is_finishing: bool
    is_spent: bool


class ChapterOutput(CallOutput, total=False):
    """Output of a chapter."""

    sections: Annotated[list[Section], merge_records]  # settle, confirm
    control_tallies: Annotated[list[ControlTally], merge_records]  # check


class Chapter(ChapterOutput, total=False):
    """State of a chapter: parts that are written and checked together, in most runs all of them."""

    question: str
    run: str
    round: int
    outline: Outline
    headings: list[Heading]  # of this chapter
    claims: list[Claim]
    findings: list[Finding]
    pages: list[Page]
    lengths: dict[str, int]  # of each part, in words
    limits: list[str]
    drafts: Annotated[list[Section], merge_records]  # draft, then check and rewrite in turn
    rewritten: list[int]  # rewrite: the indices of the sentences to check again, counted over all drafts


class WritingOutput(ChapterOutput, total=False):
    """Output of writing a report."""

    outline: Outline
    report: Report


class Writing(WritingOutput, total=False):
    """State of writing a report."""

    question: str
    run: str
    earlier: EarlierRun
    update: RunUpdate  # set when a report is made again, instead of `earlier`
    effort: Effort
    questions: list[SubQuestion]
    pages: list[Page]
    claims: list[Claim]
    rejected: list[Rejected]
    judgements: list[Judgement]
    findings: list[Finding]
    contradictions: list[Contradiction]
    lengths: dict[str, int]  # outline: target words of each part
    limits: list[str]  # outline: what the evidence lacks, for writer and editor
    edit: Edit  # edit: the editor's changes to the checked draft
