"""Runs that build on finished ones: follow-ups in a thread, and updates that bring a report up to date."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import get_args

from fathom.errors import BadInput
from fathom.http.urls import canonical_address
from fathom.planning.questions import resolve_reference
from fathom.request import ResearchRequest
from fathom.state import (
    MAX_ROUNDS,
    USUAL_USD,
    Depth,
    EarlierRun,
    Page,
    Report,
    ResearchInput,
    RunConfig,
    RunState,
    ThreadKnowledge,
    ThreadTurn,
)
from fathom.state.records import unite_lists
from fathom.text.normalization import shorten_line
from fathom.text.ranking import terms

_ANSWER_CHARS = 400
# Settings that a run made for its own question, or that only an update or an endless run has.
_RESET_FIELDS = {"rounds": None, "sources": None, "fresh": False, "review": "off", "endless": False}
BRANCH_FIELDS = frozenset({"strategy", "branches", "breadth", "orchestration", "endless"})


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
            raise BadInput(f"A follow-up goes round in one loop; {', '.join(odd)} cannot be set for it.")
        if self.asked.said.get("depth", "quick") not in get_args(Depth):
            raise BadInput("The depth of a follow-up is quick, standard or comprehensive.")

    @property
    def question(self) -> str:
        """The question, worded so that it can be understood alone."""
        return resolve_reference(self.asked.query, self.known.turns[-1].question)

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
