"""Write a run's research folder: state, events, report, findings, sources, papers, one page a round.

And export a run: as a file, whose name's ending chooses the format, as a folder, or one page of it.
"""

import asyncio
import shutil
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from fathom.errors import BadInput, RunStopped
from fathom.events import PlanGenerated, Progress, RoundCompleted, Spent, Started
from fathom.evidence.corroboration import group_knowledge
from fathom.planning.memory import RECENT_ROUNDS, draw_lessons, summarize_rounds
from fathom.report import listings
from fathom.report.bibliography import (
    PageTextSource,
    render_bibtex,
    render_csl_json,
    render_ris,
    write_papers,
)
from fathom.report.formats import FormatName
from fathom.report.formats.registry import check_file, format_of, render_as
from fathom.report.listings import cited_pages, messages_of, render_quotes
from fathom.report.rerender import rerender_report
from fathom.report.statistics import render_statistics
from fathom.result import ResearchResult, make_result
from fathom.runs import (
    EVENTS,
    REPORT_FILES,
    STATE,
    STATE_FORMAT,
    claim_folder,
    folder_of,
    owner_of,
    remember_folder,
)
from fathom.runs.event_stream import EventJournal
from fathom.runs.executor import Runs, has_ended, is_unfinished
from fathom.runs.round_summary import recall_round, round_page, spent_by_run
from fathom.runs.views import PassageView
from fathom.settings import Settings
from fathom.state import Lesson, RunState, short_id
from fathom.storage import STORAGE_ERRORS, open_storage
from fathom.storage.files import PDF_FOLDER, PdfStore, replace_file
from fathom.text.messages import ENGLISH, Messages, messages_for
from fathom.text.normalization import dump_json, escape_json

ROUNDS, QUOTES = "rounds", "quotes.md"
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
        self._question, self._words = state.get("question", ""), messages_of(state)
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
        "citations.bib": render_bibtex(state.get("pages", []), cited_pages(state)),
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


PageName = Literal["findings", "hypotheses", "sources", "citations", "quotes", "statistics", "bib"]
_OF_STATE = {
    "bibtex": render_bibtex,
    "csl-json": render_csl_json,
    "ris": render_ris,
}  # also before there is a report


async def export_run(runs: Runs, run_id: str, to: Path, *, is_folder: bool, is_replaced: bool) -> None:
    """Write a run to a file or a folder."""
    is_folder = is_folder or not to.suffix or await asyncio.to_thread(to.is_dir)
    is_zip = to.suffix.lower() == ".zip"
    if not is_folder:
        await asyncio.to_thread(check_file, to, is_replaced=is_replaced, is_zip=is_zip)
    try:
        if is_folder:
            await asyncio.to_thread(claim_folder, to, run_id)
            await _write_folder(runs, run_id, to)
        elif is_zip:
            await _write_zip(runs, run_id, to)
        else:
            await asyncio.to_thread(replace_file, to, await render_run(runs, run_id, format_of(to).name))
    except OSError as error:
        raise BadInput(f"{to} cannot be written: {error.strerror or error}.") from error


async def render_run(runs: Runs, run_id: str, name: FormatName) -> bytes:
    """The report of a run in a format; references also while it goes on."""
    if name in _OF_STATE:
        state = await _state(runs, run_id)
        return _OF_STATE[name](state.get("pages", []), cited_pages(state)).encode()
    result = await runs.result(run_id)
    if name != "markdown" and is_unfinished(await runs.snapshot(run_id)):
        raise BadInput(
            f"Run {short_id(run_id)} has gone on since its report was written; export it as .md,"
            f" or finish it first: fathom resume {short_id(run_id)} --finish"
        )
    return await asyncio.to_thread(render_as, result, name)


async def render_page(runs: Runs, run_id: str, name: PageName) -> str:
    """Return a page of the research folder, rendered from the current state."""
    state = await _state(runs, run_id)
    if name == "quotes":
        return await render_quotes(state, runs.storage.pages)
    return render_pages(state)["citations.bib" if name == "bib" else f"{name}.md"]


async def render_round(runs: Runs, run_id: str, number: int) -> str:
    """Return the page of one round that is over."""
    state = await _state(runs, run_id)
    judged = [judgement.round for judgement in state.get("judgements", [])]
    if number not in judged:
        have = f"rounds {judged[0]} to {judged[-1]}" if judged else "no round that is over"
        raise BadInput(f"Run {short_id(run_id)} has {have}; there is no round {number} to show.")
    done, spent, planned = recall_round(state, number)
    return round_page(state.get("question", ""), done, spent, messages_of(state), planned)


async def read_passage(
    runs: Runs, run_id: str, sha: str, place: tuple[int, int], around_chars: int
) -> PassageView:
    """Return a passage of a page that the run has read, with the text around it."""
    page = next((page for page in (await _state(runs, run_id)).get("pages", []) if page.sha == sha), None)
    if page is None:
        raise BadInput(f"Run {short_id(run_id)} has read no such page.")
    text = await runs.storage.pages.get(sha)
    start, end = place
    if not 0 <= start < end <= len(text):
        raise BadInput(f"The page has {len(text):,} characters; there is no passage from {start} to {end}.")
    before, after = text[max(0, start - around_chars) : start], text[end : end + around_chars]
    return PassageView(
        before=before, quote=text[start:end], after=after, title=page.title, address=page.address
    )


async def _state(runs: Runs, run_id: str) -> RunState:
    return cast(RunState, (await runs.snapshot(run_id)).values)


async def _write_folder(runs: Runs, run_id: str, place: Path) -> None:
    """Write the research folder again from the database; its events are copied from the run's own folder."""
    snapshot = await runs.snapshot(run_id)
    state = cast(RunState, snapshot.values)
    settings = runs.settings
    folder = ResearchFolder(
        place, run_id, runs.storage.pages, PdfStore(settings.home / PDF_FOLDER, runs.storage.papers)
    )
    await folder.keep(state, spent_by_run(state))
    if has_ended(snapshot):
        folder.write_report(await runs.result(run_id))
    if runs.storage.events:
        lines = [body + "\n" for _, body in await runs.storage.events.after(run_id, 0)]
        await asyncio.to_thread(replace_file, place / EVENTS, "".join(lines))
        return
    own = await folder_of(runs.storage, run_id)
    if own:
        await asyncio.to_thread(_copy_events, own / EVENTS, place / EVENTS)


def _copy_events(written: Path, to: Path) -> None:
    if written.is_file() and not (to.exists() and to.samefile(written)):
        shutil.copyfile(written, to)


async def _write_zip(runs: Runs, run_id: str, to: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / short_id(run_id)
        await asyncio.to_thread(claim_folder, place, run_id)
        await _write_folder(runs, run_id, place)
        await asyncio.to_thread(_pack, place, to)


def _pack(place: Path, to: Path) -> None:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(path for path in place.rglob("*") if path.is_file()):
            archive.write(file, file.relative_to(place.parent))
    replace_file(to, packed.getvalue())
