"""The command that hands a run on: as one file or as its whole folder.

Does not know how a run came about. What the name ends with says what is wanted.
"""

import argparse
import asyncio
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import cast

from fathom.cli.options import settings_of
from fathom.errors import BadInput
from fathom.ids import short_id
from fathom.reading.cache import PDF_FOLDER, PdfStore
from fathom.report.bibliography import render_bibtex
from fathom.report.formats.html import render_html
from fathom.report.listings import cited_pages
from fathom.runs.executor import Runs, is_unfinished, open_runs
from fathom.runs.folder import EVENTS, ResearchFolder, claim_folder, folder_of
from fathom.runs.round_summary import spent_by_run
from fathom.state import RunState
from fathom.storage.content import open_page_texts
from fathom.storage.files import replace_file

_KINDS = (".md", ".json", ".bib", ".html", ".zip")


def export(arguments: argparse.Namespace) -> int:
    """Write a run to a file or a folder."""
    asyncio.run(_exported(arguments))
    return 0


async def _exported(arguments: argparse.Namespace) -> None:
    to = Path(arguments.to)
    kind = to.suffix.lower()
    is_folder = await asyncio.to_thread(to.is_dir) or arguments.to.endswith("/") or not kind
    if not is_folder and kind not in _KINDS:
        raise BadInput(
            f"{to} is no kind that is known: name a folder, or a file that ends in {', '.join(_KINDS)}."
        )
    if not is_folder and not arguments.force and await asyncio.to_thread(to.exists):
        raise BadInput(f"{to} is there already; name another file, or say --force to replace it.")
    async with open_runs(settings_of(arguments)) as runs:
        run_id = await runs.find(arguments.id)
        try:
            if is_folder:
                await asyncio.to_thread(claim_folder, to, run_id)
                await _folder(runs, run_id, to)
            elif kind == ".zip":
                await _zip(runs, run_id, to)
            else:
                await asyncio.to_thread(replace_file, to, await _text(runs, run_id, kind))
        except OSError as error:
            raise BadInput(f"{to} cannot be written: {error.strerror or error}.") from error
    print(f"Run {short_id(run_id)} is in {to}")


async def _text(runs: Runs, run_id: str, kind: str) -> str:
    if kind == ".bib":
        state = cast(RunState, (await runs.snapshot(run_id)).values)
        return render_bibtex(state.get("pages", []), cited_pages(state))
    result = await runs.result(run_id)
    if kind == ".md":
        return result.report
    if is_unfinished(await runs.snapshot(run_id)):
        raise BadInput(
            f"Run {short_id(run_id)} knows more than its report by now; as .md it can be had,"
            f" or end it with: fathom resume {short_id(run_id)} --finish"
        )
    return render_html(result) if kind == ".html" else result.model_dump_json(indent=2) + "\n"


async def _folder(runs: Runs, run_id: str, place: Path) -> None:
    """The research folder, made again from what is kept; its events come from the one it was written to."""
    snapshot = await runs.snapshot(run_id)
    state = cast(RunState, snapshot.values)
    settings = runs.settings
    folder = ResearchFolder(
        place, run_id, open_page_texts(runs.storage), PdfStore(settings.home / PDF_FOLDER)
    )
    await folder.keep(state, spent_by_run(state))
    if "report" in state and not is_unfinished(snapshot):
        folder.write_report(await runs.result(run_id))
    own = await folder_of(runs.storage, run_id)
    if own:
        await asyncio.to_thread(_events, own / EVENTS, place / EVENTS)


def _events(written: Path, to: Path) -> None:
    if written.is_file() and not (to.exists() and to.samefile(written)):
        shutil.copyfile(written, to)


async def _zip(runs: Runs, run_id: str, to: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / short_id(run_id)
        await asyncio.to_thread(claim_folder, place, run_id)
        await _folder(runs, run_id, place)
        await asyncio.to_thread(_packed, place, to)


def _packed(place: Path, to: Path) -> None:
    part = to.with_name(f".{to.name}.part")
    to.parent.mkdir(parents=True, exist_ok=True)
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(path for path in place.rglob("*") if path.is_file()):
                archive.write(file, file.relative_to(place.parent))
        part.replace(to)
    finally:
        part.unlink(missing_ok=True)
