"""Runs that build on others: follow-ups in a thread, updates of a report, and forks.

A fork starts from the state at the end of a round and takes another direction. The other run is only read.
What it paid for is not paid again: the new run has its own budget, and the shared costs count as saved.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, get_args

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointMetadata
from langgraph.checkpoint.base.id import uuid6
from langgraph.types import StateSnapshot

from fathom.errors import BadInput
from fathom.http.urls import canonical_address
from fathom.planning.follow_up_questions import complete_question
from fathom.request import ResearchRequest
from fathom.runs.event_stream import graph_config
from fathom.state import (
    MAX_QUESTION_CHARS,
    MAX_ROUNDS,
    USUAL_USD,
    Cost,
    Depth,
    EarlierRun,
    Fork,
    Judgement,
    Page,
    Report,
    ResearchInput,
    RunConfig,
    RunState,
    ThreadKnowledge,
    ThreadTurn,
    short_id,
)
from fathom.state.records import unite_lists
from fathom.text.normalization import shorten_line
from fathom.text.ranking import terms

if TYPE_CHECKING:  # it makes follow-ups and updates
    from fathom.runs.executor import Runs

_ANSWER_CHARS = 400
# Settings that a run made for its own question, or that only an update or an endless run has.
_RESET_FIELDS = {"rounds": None, "sources": None, "fresh": False, "review": "off", "endless": False}
BRANCH_FIELDS = frozenset({"strategy", "branches", "levels", "breadth", "orchestration", "endless"})


@dataclass(frozen=True)
class FinishedRun:
    """A finished run of a thread: its id, its last state, and when it ended."""

    run: str
    state: RunState
    ended: datetime


@dataclass(frozen=True)
class FollowUpRequest:
    """The input and configuration of a follow-up."""

    asked: ResearchRequest
    remembered: RunConfig
    known: ThreadKnowledge

    def __post_init__(self) -> None:
        if odd := sorted(BRANCH_FIELDS & self.asked.said.keys()):
            raise BadInput(f"A follow-up has no branches and an end; leave out {', '.join(odd)}.")
        if self.asked.said.get("depth", "quick") not in get_args(Depth):
            raise BadInput("The depth of a follow-up is quick, standard or comprehensive.")

    @property
    def question(self) -> str:
        """The question, worded so that it can be understood alone."""
        return complete_question(self.asked.query, self.known.turns[-1].question)

    @property
    def is_reworded(self) -> bool:
        """Whether `question` differs from what was asked in more than spelling."""
        return terms(self.question) != terms(self.asked.query)

    def run_config(self) -> RunConfig:
        """Return the earlier run's configuration with the new settings and one more round, for recalling."""
        budget = {"budget_usd": USUAL_USD} if self.remembered.endless else {}
        usual = RunConfig.model_validate(
            {**self.remembered.as_one_loop().model_dump(), **_RESET_FIELDS, **budget}
        )
        run_config = self.asked.run_config(usual)
        if run_config.rounds is None or not self.known.pages:
            return run_config
        return run_config.model_copy(update={"rounds": min(run_config.rounds + 1, MAX_ROUNDS)})

    def given(self) -> ResearchInput:
        """The new run's input."""
        return {"question": self.question, "known": self.known}


def make_follow_up(asked: ResearchRequest, past: Sequence[FinishedRun]) -> FollowUpRequest:
    """Return the follow-up of the last of these runs, with the evidence of all of them."""
    last = past[-1].state
    remembered = RunConfig.model_validate(last.get("run_config") or {})
    if last.get("earlier"):  # an update searched only for what was new
        remembered = remembered.model_copy(update={"since": None})
    return FollowUpRequest(asked, remembered, merge_evidence(past))


def merge_evidence(past: Sequence[FinishedRun], before: ThreadKnowledge | None = None) -> ThreadKnowledge:
    """Merge the evidence of several runs; of a page that was read twice, the last version counts."""
    read = [*(before.pages if before else []), *(page for one in past for page in one.state.get("pages", []))]
    pages: dict[str, Page] = {page.address: page for page in read}
    shas = {page.sha for page in pages.values()}
    drawn = [*(before.claims if before else []), *(c for one in past for c in one.state.get("claims", []))]
    claims = [claim for claim in drawn if all(quote.page in shas for quote in claim.quotes)]
    turns = [*(before.turns if before else [])] + [
        ThreadTurn(
            run=one.run,
            question=one.state["question"],
            answer=_first_words(one.state["report"]),
            ended=one.ended.isoformat(timespec="seconds"),
        )
        for one in past
    ]
    distinct = {(c.quotes[0].page, c.statement): c for c in claims}
    return ThreadKnowledge(turns=turns, pages=list(pages.values()), claims=list(distinct.values()))


def _first_words(report: Report) -> str:
    """The first words of a report's prose."""
    sentences = [
        s.text for section in report.sections for s in section.sentences
        if s.status == "supported" and s.row is None
    ]  # fmt: skip
    return shorten_line(" ".join(sentences), _ANSWER_CHARS)


@dataclass(frozen=True)
class UpdateRequest:
    """The input and configuration of an update."""

    question: str
    remembered: RunConfig
    earlier: EarlierRun

    def run_config(self) -> RunConfig:
        """Return the earlier run's configuration for one more round, without cache and review.

        It searches for what was published since, except among own documents: a new file may be old.
        """
        since = max(self.remembered.since or "", self.earlier.ended)
        changed = {
            "rounds": min(len(self.earlier.judgements) + 1, MAX_ROUNDS),
            "since": self.remembered.since if self.remembered.docs else since,
            "fresh": True,
            "review": "off",
            "endless": False,
        }
        return self.remembered.as_one_loop().model_copy(update=changed)

    def given(self) -> ResearchInput:
        """The new run's input."""
        return {"question": self.question, "earlier": self.earlier}


def make_update(run_id: str, state: RunState, ended: date) -> UpdateRequest:
    """Return the update of a run that ended in this state."""
    report = state["report"]
    # Pages that could not be read then are tried again.
    lost = {
        canonical_address(failure.what) for failure in state.get("failures", []) if failure.where == "reading"
    }
    found = unite_lists(state.get("visited", []), state.get("offered", []))
    outline = state.get("outline")
    return UpdateRequest(
        question=state["question"],
        remembered=RunConfig.model_validate(state.get("run_config") or {}),
        earlier=EarlierRun(
            run=run_id,
            ended=ended.isoformat(),
            pages=state.get("pages", []),
            claims=state.get("claims", []),
            questions=state.get("questions", []),
            asked=state.get("asked", []),
            offered=[address for address in found if address not in lost],
            judgements=state.get("judgements", []),
            rulings=state.get("rulings", []),
            outline=outline,
            sections=report.sections,
        ),
    )


_MIN_MORE_ROUNDS = 2
# Belongs to one run only: its report, answers to people, an update's input, what branches shared, next steps.
_NOT_COPIED = ("report", "is_finishing", "feedback", "earlier", "run", "directions", "__pregel_tasks")
_AFTER_A_ROUND = frozenset({"planner", "writer", "branches"})


async def fork_run(
    runs: "Runs", run_id: str, number: int | None, direction: str, more_rounds: int | None = None
) -> str:
    """Return the id of a new run at the end of round `number` (default: the last), to plan in this direction.

    It may take `more_rounds`, by default as many as were left, at least two.
    """
    if not direction.strip() or len(direction) > MAX_QUESTION_CHARS:
        raise BadInput(f"A new direction has 1 to {MAX_QUESTION_CHARS} characters.")
    judged = len((await runs.snapshot(run_id)).values.get("judgements", []))
    number = judged if number is None else number
    if not 1 <= number <= judged:
        have = f"rounds 1 to {judged}" if judged else "no round yet that is over"
        raise BadInput(f"Run {short_id(run_id)} has {have}; round {number} cannot be forked.")
    at = await _end_of_round(runs, run_id, number)
    shared = (await runs.snapshot(run_id)).values.get("run_config") or RunConfig()
    run_config = _fork_config(shared, number, more_rounds)
    new_id = await _copy_checkpoint(runs, at)
    begin: dict[str, Any] = {
        "feedback": direction.strip(),
        "fork": Fork(run=run_id, round=number, direction=direction.strip()),
        "run": uuid.uuid4().hex,
    }
    await runs.remember_config(begin["run"], run_config)
    await runs.graph.aupdate_state(graph_config(new_id), begin, as_node="review")
    return new_id


async def _end_of_round(runs: "Runs", run_id: str, number: int) -> StateSnapshot:
    """Return the last state before the next round was planned; a fork looks in its origin too."""
    shared = None
    for name in await runs.storage.checkpoints.steps_of(run_id):
        place = {"thread_id": run_id, "checkpoint_ns": "", "checkpoint_id": name}
        found = await runs.graph.aget_state({"configurable": place})
        shared = shared or found.values.get("fork")
        judged = len(found.values.get("judgements", []))
        is_between = set(found.next) <= _AFTER_A_ROUND and not found.values.get("feedback")
        if judged == number and is_between:
            return found
        if judged < number:
            break
    if shared and number < shared.round:
        return await _end_of_round(runs, shared.run, number)
    raise BadInput(
        f"Round {number} of run {short_id(run_id)} is not kept: it was that of an earlier run,"
        " or an earlier Fathom stored it in another form."
    )


def _fork_config(run_config: RunConfig, number: int, more_rounds: int | None) -> RunConfig:
    """Return the configuration as one loop with rounds left for the new direction."""
    left = run_config.max_rounds - number if run_config.strategy == "loop" else 0
    more = more_rounds if more_rounds is not None else max(left, _MIN_MORE_ROUNDS)
    return run_config.as_one_loop().model_copy(update={"rounds": min(number + more, MAX_ROUNDS)})


async def _copy_checkpoint(runs: "Runs", at: StateSnapshot) -> str:
    """Copy the checkpoint as the first of a new thread; return its id."""
    found = await runs.saver.aget_tuple(at.config)
    assert found is not None
    new_id = str(uuid.uuid4())
    checkpoint = found.checkpoint.copy()
    checkpoint["channel_values"] = shared_values(found.checkpoint["channel_values"])
    checkpoint["id"] = str(uuid6(clock_seq=-2))
    checkpoint["ts"] = datetime.now(UTC).isoformat()
    metadata: CheckpointMetadata = {"source": "fork", "step": found.metadata.get("step", 0), "parents": {}}
    place: RunnableConfig = {"configurable": {"thread_id": new_id, "checkpoint_ns": ""}}
    await runs.saver.aput(place, checkpoint, metadata, checkpoint["channel_versions"])
    return new_id


def shared_values(values: dict[str, Any]) -> dict[str, Any]:
    """Return the state that both runs share, at no cost to the second one and without a stop."""
    kept = {name: value for name, value in values.items() if name not in _NOT_COPIED}
    costs: list[Cost] = kept.get("costs", [])
    judgements: list[Judgement] = kept.get("judgements", [])
    kept["costs"] = [
        cost.model_copy(update={"usd": 0.0, "saved_usd": cost.saved_usd + cost.usd, "is_reused": True})
        for cost in costs
    ]
    going_on = {"stop": None, "because": ""}
    last = len(judgements) - 1
    kept["judgements"] = [
        judgement.model_copy(update={"spent_usd": 0.0, **(going_on if place == last else {})})
        for place, judgement in enumerate(judgements)
    ]
    return kept
