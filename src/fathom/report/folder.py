"""The research folder: what a run knows, as files a person can read, current after every round.

Does not know the graph. It listens to a run (`tell`) and is shown its state after each judged round and each
written report (`keep`). Files are replaced whole.
"""

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path

from pydantic_core import to_jsonable_python

from fathom.errors import RunStopped
from fathom.events import PlanGenerated, Progress, RoundCompleted, Spent, Started
from fathom.reading.originals import Originals
from fathom.report import listings
from fathom.report.bibliography import bibliography
from fathom.report.claiming import REPORT, STATE, STATE_FORMAT
from fathom.report.files import replaced
from fathom.report.journal import Journal
from fathom.report.papers import Texts, write_papers
from fathom.report.past_rounds import round_of
from fathom.report.quotes import quotes_page
from fathom.report.rerendering import rerendered
from fathom.report.round_summary import round_page
from fathom.report.statistics import statistics
from fathom.report.words import ENGLISH, Words, words_for
from fathom.result import ResearchResult, result_of
from fathom.state import RunState

EVENTS, ROUNDS, QUOTES = "events.jsonl", "rounds", "quotes.md"
_PASSING = ("hits", "chosen")  # of no use once a round is over


@dataclass
class ResearchFolder:
    """The folder of one run; `open_folder` gives one that is there and may be written."""

    path: Path
    run_id: str
    texts: Texts
    originals: Originals
    _question: str = ""
    _words: Words = ENGLISH
    _elapsed_s: float = 0.0
    _journal: Journal | None = None
    _written: dict[str, str] = field(default_factory=dict)

    async def tell(self, event: Progress) -> None:
        """Write an event down; a round that is over gets its page, and the next plan a place on it."""
        self._elapsed_s = event.elapsed_s
        try:
            await asyncio.to_thread(self._told, event)
        except OSError as error:
            raise self._stopped(error) from error

    async def keep(self, state: RunState, spent: Spent) -> None:
        """Bring every file up to what is now known."""
        self._question, self._words = state.get("question", ""), listings.words_of(state)
        try:
            report = state.get("report")
            numbers = {c.page: c.number for c in report.citations} if report else {}
            await write_papers(state.get("pages", []), self.texts, self.originals, self.path, numbers)
            quotes = await quotes_page(state, self.texts)
            await asyncio.to_thread(self._kept, state, spent, quotes)
        except OSError as error:
            raise self._stopped(error) from error

    def write_report(self, result: ResearchResult) -> None:
        """Both files of a report; the ledger last, so that it never speaks of a text that is not there."""
        try:
            self._replace(REPORT[0], result.report)
            self._replace(REPORT[1], result.model_dump_json(indent=2) + "\n")
        except OSError as error:
            raise self._stopped(error) from error

    def _told(self, event: Progress) -> None:
        journal = self._journal = self._journal or Journal(self.path / EVENTS)
        journal.add(event)
        if isinstance(event.payload, Started):
            self._question = event.payload.question
            self._words = words_for(self._question, event.payload.run_config.language)
        done = journal.last_round
        if event.branch or done is None or not isinstance(done.payload, RoundCompleted):
            return
        if event.kind == "round completed":
            self._round(done.payload, done.spent)
        elif isinstance(event.payload, PlanGenerated) and event.round == done.round + 1:
            self._round(done.payload, done.spent, event.payload.queries)

    def _kept(self, state: RunState, spent: Spent, quotes: str) -> None:
        for name, text in {**pages_of(state), QUOTES: quotes}.items():
            self._replace(name, text)
        for judgement in state.get("judgements", []):
            if not self._round_file(judgement.round).exists():
                self._round(*round_of(state, judgement.round))
        if "report" in state:
            result = result_of(self.run_id, state, self._elapsed_s)
            made = rerendered(result)
            # A run that goes on may know more than its report says; a ledger must be that of its report.
            if made is None or made.markdown == result.report:
                self.write_report(result)
        self._replace(STATE, state_text(self.run_id, state, spent))

    def _round(self, done: RoundCompleted, spent: Spent, planned: list[str] | None = None) -> None:
        page = round_page(self._question, done, spent, self._words, planned)
        replaced(self._round_file(done.round), page)

    def _round_file(self, number: int) -> Path:
        return self.path / ROUNDS / f"{number:03d}.md"

    def _replace(self, name: str, text: str) -> None:
        if self._written.get(name) != text:
            replaced(self.path / name, text)
            self._written[name] = text

    def _stopped(self, error: OSError) -> RunStopped:
        return RunStopped(f"The folder {self.path} cannot be written: {error.strerror or error}.")


def pages_of(state: RunState) -> dict[str, str]:
    """The pages that tell what a run knows, by the names of their files; quotes.md needs texts (`quotes`)."""
    return {
        "outline.md": listings.outline(state),
        "findings.md": listings.findings(state),
        "hypotheses.md": listings.hypotheses(state),
        "sources.md": listings.sources(state),
        "citations.md": listings.citations(state),
        "statistics.md": statistics(state),
        "citations.bib": bibliography(state.get("pages", []), listings.cited_pages(state)),
    }


def state_text(run_id: str, state: RunState, spent: Spent) -> str:
    """All that a run knows, as JSON; what is of use only within a round stays out."""
    judgements = state.get("judgements", [])
    told = {
        "format": STATE_FORMAT,
        "run": run_id,
        "question": state.get("question", ""),
        "rounds": len(judgements),
        "stop": judgements[-1].stop if judgements else None,
        "spent": spent.model_dump(),
        "state": {name: value for name, value in state.items() if name not in _PASSING},
    }
    return json.dumps(to_jsonable_python(told), indent=1, ensure_ascii=False) + "\n"
