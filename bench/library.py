"""Documents and questions for benches: those of a folder or a file, or a small survey of our own making.

Does not know who asks. The made-up documents are as long as web pages usually are, and say something of every
aspect of their subject.
"""

import json
import random
from dataclasses import dataclass
from pathlib import Path

from fathom.errors import ProviderError
from fathom.reading.parsers import parse_document

SUBJECTS = ("tidal lagoons", "heat pumps", "district heating", "biogas plants", "geothermal wells")
_ASPECTS = {
    "cost": "costs {a} euros for each megawatt hour and was paid for by {who}",
    "history": "was first tried in {year} by {who} and rebuilt in {later}",
    "risks": "stopped on {b} days in {later} because {what} failed",
    "technology": "uses {b} units of {a} kilowatts each, which {who} maintains",
    "outlook": "is expected by {who} to deliver {a} gigawatt hours a year from {later} on",
}
_PLACES = ("Swale", "Ouseport", "Merrow", "Pentle", "Harn", "Velland", "Torsk", "Lindow", "Averne", "Kessel")
_PEOPLE = ("the county", "a cooperative of farmers", "the port authority", "a pension fund", "the ministry")
_PARTS = ("a cable", "a gear box", "the control room", "a transformer", "a sluice gate")
_SENTENCES = 60


@dataclass(frozen=True)
class Doc:
    """One page of the stand-in web."""

    title: str
    text: str


def questions_of(data: Path | None) -> list[str]:
    """Questions of a file (a line each, or JSON lines with `question`), or surveys of our own."""
    file = data / "questions.jsonl" if data is not None and data.is_dir() else data
    if file is None or not file.is_file():
        return [f"What are the costs, risks and outlook of {subject}?" for subject in SUBJECTS]
    lines = [line.strip() for line in file.read_text("utf-8").splitlines() if line.strip()]
    if file.suffix == ".jsonl":
        return [str(json.loads(line)["question"]) for line in lines]
    return lines


def docs_of(data: Path | None) -> list[Doc]:
    """Documents of a folder (or of its corpus.jsonl), or pages of our own."""
    if data is None or not data.is_dir():
        return made_docs()
    corpus = data / "corpus.jsonl"
    if corpus.is_file():
        rows = [json.loads(line) for line in corpus.read_text("utf-8").splitlines() if line.strip()]
        return [Doc(str(row["title"]), str(row["text"])) for row in rows]
    found = [read for path in sorted(data.rglob("*")) if path.is_file() if (read := _read(path))]
    return found or made_docs()


def _read(path: Path) -> Doc | None:
    try:
        document = parse_document(path.read_bytes(), content_type="", name=path.name)
    except ProviderError:
        return None
    return Doc(document.title or path.stem, document.text)


def made_docs(a_subject: int = 60) -> list[Doc]:
    """The same pages every time."""
    chance = random.Random(7)  # noqa: S311 - no secret
    return [_made(subject, number, chance) for subject in SUBJECTS for number in range(a_subject)]


def _made(subject: str, number: int, chance: random.Random) -> Doc:
    lines = []
    for _ in range(_SENTENCES):
        aspect, pattern = chance.choice(list(_ASPECTS.items()))
        words = pattern.format(
            a=chance.randint(20, 900),
            b=chance.randint(2, 60),
            year=chance.randint(1950, 1990),
            later=chance.randint(1995, 2026),
            who=chance.choice(_PEOPLE),
            what=chance.choice(_PARTS),
        )
        place = chance.choice(_PLACES)
        lines.append(f"On the {aspect} of {subject}: site {chance.randint(1, 9999)} of {place} {words}.")
    paragraphs = [" ".join(lines[start : start + 6]) for start in range(0, len(lines), 6)]
    return Doc(f"{subject.capitalize()}, report {number}", "\n\n".join(paragraphs))
