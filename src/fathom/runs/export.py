"""Export a run: as a file, a whole research folder, or one page of it.

The file name's ending chooses the format.
"""

import asyncio
import shutil
import tempfile
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Literal, cast

from fathom.errors import BadInput
from fathom.reading.cache import PDF_FOLDER, PdfStore
from fathom.report.bibliography import render_bibtex
from fathom.report.formats import FormatName
from fathom.report.formats.references import render_csl_json, render_ris
from fathom.report.formats.registry import check_file, format_of, render_as
from fathom.report.listings import cited_pages, messages_of, render_quotes
from fathom.runs.executor import Runs, has_ended, is_unfinished
from fathom.runs.folder import EVENTS, ResearchFolder, render_pages
from fathom.runs.repository import claim_folder, folder_of
from fathom.runs.round_summary import recall_round, round_page, spent_by_run
from fathom.runs.views import PassageView
from fathom.state import RunState, short_id
from fathom.storage.files import replace_file

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
        place,
        run_id,
        runs.storage.pages,
        PdfStore(settings.home / PDF_FOLDER, runs.storage.papers),
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
