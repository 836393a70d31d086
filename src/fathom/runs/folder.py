"""Write a run's research folder: state, events, report, findings, sources, papers, one page a round."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from fathom.errors import BadInput, RunStopped
from fathom.events import PlanGenerated, Progress, RoundCompleted, Spent, Started
from fathom.evidence.corroboration import group_knowledge
from fathom.planning.memory import RECENT_ROUNDS, draw_lessons, summarize_rounds
from fathom.reading.cache import PDF_FOLDER, PdfStore
from fathom.report import listings
from fathom.report.bibliography import PageTextSource, render_bibtex, write_papers
from fathom.report.listings import render_quotes
from fathom.report.rerender import rerender_report
from fathom.report.statistics import render_statistics
from fathom.result import ResearchResult, make_result
from fathom.runs.event_stream import EventJournal
from fathom.runs.repository import (
    REPORT_FILES,
    STATE,
    STATE_FORMAT,
    claim_folder,
    folder_of,
    owner_of,
    remember_folder,
)
from fathom.runs.round_summary import recall_round, round_page
from fathom.settings.settings import Settings
from fathom.state import Lesson, RunState, short_id
from fathom.storage import STORAGE_ERRORS, open_storage
from fathom.storage.files import replace_file
from fathom.text.json_lines import dump_json, escape_json
from fathom.text.messages import ENGLISH, Messages, messages_for

EVENTS, ROUNDS, QUOTES = "events.jsonl", "rounds", "quotes.md"

_WITHIN_A_ROUND = ("hits", "chosen")  # of no use once a round is over


@dataclass
class ResearchFolder:
    """The folder of one run; `open_folder` gives one that is there and may be written."""

    path: Path
    run_id: str
    texts: PageTextSource
    pdf_store: PdfStore
    _question: str = ""
    _words: Messages = ENGLISH
    _elapsed_s: float = 0.0
    _journal: EventJournal | None = None
    _written: dict[str, str] = field(default_factory=dict)

    async def tell(self, event: Progress) -> None:
        """Write an event down; a round that is over gets its page, and the next plan a place on it."""
        self._elapsed_s = event.elapsed_s
        try:
            await asyncio.to_thread(self._told, event)
        except OSError as error:
            raise self._stopped(error) from error

    async def keep(self, state: RunState, spent: Spent) -> None:
        """Update every file to the current state."""
        self._question, self._words = state.get("question", ""), listings.messages_of(state)
        try:
            await write_papers(state, self.texts, self.pdf_store, self.path)
            quotes = await render_quotes(state, self.texts)
            await asyncio.to_thread(self._kept, state, spent, quotes)
        except OSError as error:
            raise self._stopped(error) from error

    def write_report(self, result: ResearchResult) -> None:
        """Both files of a report; the ledger last, so that it never speaks of a text that is not there."""
        try:
            self._replace(REPORT_FILES[0], result.report)
            self._replace(REPORT_FILES[1], escape_json(result.model_dump_json(indent=2)) + "\n")
        except OSError as error:
            raise self._stopped(error) from error

    def _told(self, event: Progress) -> None:
        journal = self._journal = self._journal or EventJournal(self.path / EVENTS)
        journal.add(event)
        if isinstance(event.payload, Started):
            self._question = event.payload.question
            self._words = messages_for(self._question, event.payload.run_config.language)
        done = journal.last_round
        if event.branch or done is None or not isinstance(done.payload, RoundCompleted):
            return
        if event.kind == "round completed":
            self._round(done.payload, done.spent)
        elif isinstance(event.payload, PlanGenerated) and event.round == done.round + 1:
            self._round(done.payload, done.spent, event.payload.queries)

    def _kept(self, state: RunState, spent: Spent, quotes: str) -> None:
        for name, text in {**render_pages(state), **render_memory(state), QUOTES: quotes}.items():
            self._replace(name, text)
        for judgement in state.get("judgements", []):
            if not self._round_file(judgement.round).exists():
                self._round(*recall_round(state, judgement.round))
        if "report" in state:
            result = make_result(self.run_id, state, self._elapsed_s)
            made = rerender_report(result)
            # A run that goes on may know more than its report says; a ledger must be that of its report.
            if made is None or made.markdown == result.report:
                self.write_report(result)
        self._replace(STATE, state_text(self.run_id, state, spent))

    def _round(self, done: RoundCompleted, spent: Spent, planned: list[str] | None = None) -> None:
        page = round_page(self._question, done, spent, self._words, planned)
        replace_file(self._round_file(done.round), page)

    def _round_file(self, number: int) -> Path:
        return self.path / ROUNDS / f"{number:03d}.md"

    def _replace(self, name: str, text: str) -> None:
        if self._written.get(name) != text:
            replace_file(self.path / name, text)
            self._written[name] = text

    def _stopped(self, error: OSError) -> RunStopped:
        return RunStopped(f"The folder {self.path} cannot be written: {error.strerror or error}.")


def render_pages(state: RunState) -> dict[str, str]:
    """Return the pages of a run by file name; quotes.md needs texts (`render_quotes`)."""
    return {
        "outline.md": listings.render_outline(state),
        "findings.md": listings.render_findings(state),
        "hypotheses.md": listings.render_hypotheses(state),
        "sources.md": listings.render_sources(state),
        "citations.md": listings.render_citations(state),
        "statistics.md": render_statistics(state),
        "citations.bib": render_bibtex(state.get("pages", []), listings.cited_pages(state)),
    }


def state_text(run_id: str, state: RunState, spent: Spent) -> str:
    """Return the state as JSON, without values that matter only within a round."""
    judgements = state.get("judgements", [])
    groups = group_knowledge(state.get("findings", []), state.get("contradictions", []))
    told = {
        "format": STATE_FORMAT,
        "run": run_id,
        "question": state.get("question", ""),
        "rounds": len(judgements),
        "stop": judgements[-1].stop if judgements else None,
        "spent": spent.model_dump(),
        "knowledge": {
            group: [f.model_dump(include={"id", "statement", "tag", "confidence"}) for f in found]
            for group, found in groups.items()
        },
        "state": {name: value for name, value in state.items() if name not in _WITHIN_A_ROUND},
    }
    return dump_json(to_jsonable_python(told), 1) + "\n"


RUNS_FOLDER = Path("runs")


async def open_folder(
    settings: Settings, run_id: str, named: str | Path | None = None, parent: Path = RUNS_FOLDER
) -> ResearchFolder:
    """The folder of a run: the named one, the one it has, or a new one below `parent`; refused if foreign."""
    storage = open_storage(settings.database)
    try:
        had = Path(named) if named else await folder_of(storage, run_id)
        path = had if had is not None else await asyncio.to_thread(_new_folder, parent, run_id)
        await asyncio.to_thread(claim_folder, path, run_id)
        await remember_folder(storage, run_id, path)
    except STORAGE_ERRORS as error:
        raise BadInput(f"The database {settings.database} cannot be used: {error}.") from error
    pdf_store = PdfStore(settings.home / PDF_FOLDER, storage.papers)
    return ResearchFolder(path, run_id, storage.pages, pdf_store)


def _new_folder(parent: Path, run_id: str) -> Path:
    """A folder with the run's short name; in full where another run has that."""
    short = parent / short_id(run_id)
    return short if owner_of(short) in (None, run_id) else parent / run_id


LATEST_LEARNINGS = 20
ARCHIVE = "archival"


def render_memory(state: RunState) -> dict[str, str]:
    """The files of a run's memory by name."""
    return {
        "search_history.json": _as_json(_search_history(state)),
        "working_memory.json": _as_json(_working_memory(state)),
        f"{ARCHIVE}/claims.jsonl": _as_lines(state.get("claims", [])),
        f"{ARCHIVE}/pages.jsonl": _as_lines(state.get("pages", [])),
        f"{ARCHIVE}/rejected.jsonl": _as_lines(state.get("rejected", [])),
    }


def _search_history(state: RunState) -> list[dict[str, Any]]:
    lessons: dict[str, Lesson] = {
        lesson.query: lesson for lesson in [*_lessons_of_last_round(state), *state.get("lessons", [])]
    }
    return [
        {
            "id": query.id,
            "round": query.round,
            "query": query.text,
            "question": query.question,
            "kind": query.family,
            "pages": lessons[query.id].pages if query.id in lessons else None,
            "new_claims": lessons[query.id].claims if query.id in lessons else None,
        }
        for query in state.get("asked", [])
    ]


def _lessons_of_last_round(state: RunState) -> list[Lesson]:
    """What the queries of the latest judged round brought; a plan after it would say the same."""
    found = (state.get("asked", []), state.get("chosen", []), state.get("pages", []), state.get("claims", []))
    return draw_lessons(*found, len(state.get("judgements", [])))


def _working_memory(state: RunState) -> dict[str, Any]:
    judgements, claims = state.get("judgements", []), state.get("claims", [])
    return {
        "rounds": summarize_rounds(judgements[-RECENT_ROUNDS:], state.get("asked", []), claims),
        "learnings": [claim.statement for claim in claims[-LATEST_LEARNINGS:]],
        "gaps": [gap.description for gap in judgements[-1].gaps] if judgements else [],
        "hypotheses": [one.statement for one in state.get("hypotheses", []) if one.status == "active"],
        "next_queries": [query.text for query in state.get("queries", [])],
    }


def _as_json(value: object) -> str:
    return dump_json(value, indent=1) + "\n"


def _as_lines(records: Iterable[BaseModel]) -> str:
    return "".join(f"{escape_json(record.model_dump_json())}\n" for record in records)
