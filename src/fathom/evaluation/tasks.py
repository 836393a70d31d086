"""Tasks of an evaluation, from folders or a file of questions; and reports of other tools, from files."""

from pathlib import Path

from fathom.errors import BadInput
from fathom.evaluation.records import EvalTask
from fathom.runs.batch import read_questions

_QUESTION, _REFERENCE, _PAGES = "question.txt", "reference.md", "pages"
_ENDINGS = (".md", ".txt", ".html")


def load_tasks(place: Path) -> list[EvalTask]:
    """Return the tasks: of one folder with a question.txt, of a folder of such, or of a file's lines."""
    if place.is_file():
        questions = read_questions(place.read_text("utf-8"), {})
        return [EvalTask(name=f"{one.number:02}", question=one.request.query) for one in questions]
    if not place.is_dir():
        raise BadInput(f"There are no tasks at {place}.")
    folders = (
        [place] if (place / _QUESTION).is_file() else sorted(p.parent for p in place.glob(f"*/{_QUESTION}"))
    )
    if not folders:
        raise BadInput(f"{place} has no folder with a {_QUESTION}.")
    return [_load_folder(folder) for folder in folders]


def _load_folder(folder: Path) -> EvalTask:
    question = (read_text(folder / _QUESTION) or "").strip()
    if not question:
        raise BadInput(f"{folder / _QUESTION} is empty.")
    pages = folder / _PAGES
    return EvalTask(
        name=folder.resolve().name,
        question=question,
        docs=[str(pages.resolve())] if pages.is_dir() else [],
        reference=read_text(folder / _REFERENCE) or "",
    )


def find_report(place: Path, task: EvalTask, *, is_only: bool) -> Path | None:
    """Return another tool's report on a task: `TASK.md` or `TASK/report.md` of a folder, or the file."""
    if place.is_file():
        return place if is_only or place.stem == task.name else None
    names = [place / f"{task.name}{ending}" for ending in _ENDINGS]
    names += [place / task.name / f"report{ending}" for ending in _ENDINGS]
    return next((path for path in names if path.is_file()), None)


def read_text(path: Path) -> str | None:
    """Return the text of a file; None if it is not there, BadInput if it cannot be read."""
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}.") from None
