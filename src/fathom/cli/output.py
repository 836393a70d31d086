"""Where a report goes: files, and standard output.

Does not know how it came about. Files are replaced whole or not at all.
"""

from pathlib import Path

from fathom.errors import BadInput, RunStopped
from fathom.ids import short_id
from fathom.result import ResearchResult

FORMATS = ("markdown", "json")


def out_folder(named: str | None, run_id: str) -> Path:
    """The folder for a run's files, made now, so that an unwritable place is refused before the work."""
    folder = Path(named) if named else Path("runs") / short_id(run_id)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise BadInput(f"The folder {folder} cannot be written: {error.strerror}.") from error
    return folder


def write_report(result: ResearchResult, folder: Path) -> None:
    """Both files of a report, finished or as it stands while the run goes on."""
    try:
        _replace(folder / "report.md", result.report)
        _replace(folder / "report.json", result.model_dump_json(indent=2) + "\n")
    except OSError as error:
        raise RunStopped(f"The report cannot be written to {folder}: {error.strerror}.") from error


def _replace(path: Path, text: str) -> None:
    part = path.with_suffix(path.suffix + ".part")
    part.write_text(text, "utf-8")
    part.replace(path)


def print_result(result: ResearchResult, form: str) -> None:
    """The report on standard output."""
    check_format(form)
    print(result.model_dump_json(indent=2) if form == "json" else result.report)


def check_format(form: str) -> None:
    """Refuse what cannot be printed."""
    if form not in FORMATS:
        raise BadInput(f"There is no format {form!r}; known are {', '.join(FORMATS)}.")
