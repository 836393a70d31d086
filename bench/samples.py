"""Small samples of our own for benches that were given no data: they show that the bench works, no more.

Does not know what is measured.
"""

import json
from collections.abc import Iterable
from pathlib import Path

_NAMES = ("Osby", "Tarn", "Velm", "Ruske", "Halle", "Mirow", "Pelt", "Quern", "Sarn", "Wick")
_WORKS = ("harbour", "lighthouse", "barrage", "observatory", "cable railway")


def corpus(folder: Path) -> Path:
    """`corpus.jsonl` and `questions.jsonl`: who built what, and where that person grew up."""
    paragraphs, questions = [], []
    for n, name in enumerate(_NAMES):
        for m, work in enumerate(_WORKS):
            builder = f"{name[:2]}{work[:3].strip()}a {_NAMES[(n + m + 1) % 10]}son"
            one, two = f"w{n}{m}", f"p{n}{m}"
            about = f"The {work} of {name} was opened in {1900 + 7 * n + m}. It was designed by {builder}."
            grew = f"{builder} grew up in the village of {_NAMES[(n * 3 + m) % 10]}feld and kept bees."
            paragraphs += [
                {"id": one, "title": f"The {work} of {name}", "text": about},
                {"id": two, "title": builder, "text": grew},
            ]
            asked = f"In which village did the designer of the {work} of {name} grow up?"
            questions.append({"question": asked, "gold": [one, two]})
    _write(folder / "corpus.jsonl", paragraphs)
    _write(folder / "questions.jsonl", questions[::5])
    return folder


def claims(file: Path) -> Path:
    """Claims with evidence that supports, refutes or has nothing to do with them."""
    rows = []
    for n, name in enumerate(_NAMES):
        year = 1900 + 7 * n
        evidence = f"The harbour of {name} was dredged in {year}. Ferries use the outer pier in winter."
        rows += [
            {
                "claim": f"The harbour of {name} was dredged in {year}.",
                "evidence": evidence,
                "label": "supports",
            },
            {
                "claim": f"{name} harbour was dredged in {year + 10}.",
                "evidence": evidence,
                "label": "refutes",
            },
            {"claim": f"The mayor of {name} collects stamps.", "evidence": evidence, "label": "neither"},
        ]
    _write(file, rows)
    return file


def _write(path: Path, rows: Iterable[object]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
