"""How well and how fast the main text of web pages is found, beside the plain library.

    python bench/read.py [FOLDER]     with pairs NAME.html and NAME.txt, the text that should be found

Without a folder it reads pages of its own (read_pages.py), which says less. Precision, recall and F1 count
runs of four words, as means over the pages; both readers take turns on each page. The last line is one JSON
object.
"""

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import trafilatura
from read_pages import Page, made_pages

from fathom.errors import Unreadable
from fathom.reading.parsers import parse_document

_RUN = 4
_ROUNDS = 3


@dataclass
class Score:
    """What one reader achieved."""

    precisions: list[float] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)
    seconds: float = 0.0

    def figures(self) -> dict[str, float]:
        """Means over all pages, and pages a second of processor time."""
        precision, recall = (sum(values) / len(values) for values in (self.precisions, self.recalls))
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        speed = len(self.precisions) / self.seconds if self.seconds else 0.0
        return {
            "precision": round(precision, 4),
            "recall": round(recall, 4),
            "f1": round(f1, 4),
            "pages_per_s": round(speed, 1),
        }


def ours(markup: bytes) -> str:
    """Fathom's reader."""
    try:
        return parse_document(markup, content_type="text/html", name="page").text
    except Unreadable:
        return ""


def plain_library(markup: bytes) -> str:
    """The library with nothing set."""
    return trafilatura.extract(markup) or ""


READERS: dict[str, Callable[[bytes], str]] = {"fathom": ours, "trafilatura": plain_library}


def runs(text: str) -> Counter[tuple[str, ...]]:
    """The runs of four words of a text; all its words if it has fewer."""
    words = re.findall(r"\w+", text.casefold())
    return Counter(tuple(words[at : at + _RUN]) for at in range(max(1, len(words) - _RUN + 1)) if words)


def pages_of(folder: Path) -> Iterable[Page]:
    """The pairs of a folder."""
    for expected in sorted(folder.glob("*.txt")):
        page = expected.with_suffix(".html")
        if page.exists():
            yield page.stem, page.read_text("utf-8", "replace"), expected.read_text("utf-8", "replace")


def measure(pages: Iterable[Page]) -> dict[str, Score]:
    """Both readers on every page, one after the other."""
    scores = {name: Score() for name in READERS}
    for _, markup, expected in pages:
        wanted, body = runs(expected), markup.encode()
        for name, read in READERS.items():
            found, seconds = _timed(read, body)
            shared = (found & wanted).total()
            scores[name].precisions.append(shared / found.total() if found else 0.0)
            scores[name].recalls.append(shared / wanted.total() if wanted else 0.0)
            scores[name].seconds += seconds
    return scores


def _timed(read: Callable[[bytes], str], body: bytes) -> tuple[Counter[tuple[str, ...]], float]:
    """The best of a few rounds: the machine has other things to do too."""
    best, text = float("inf"), ""
    for _ in range(_ROUNDS):
        started = time.process_time()
        text = read(body)
        best = min(best, time.process_time() - started)
    return runs(text), best


def main(arguments: list[str]) -> int:
    """Measure, and print a table and one line of JSON."""
    folder = Path(arguments[0]) if arguments else None
    pages = list(pages_of(folder) if folder else made_pages())
    if not pages:
        sys.stderr.write(f"{folder} has no pairs NAME.html and NAME.txt.\n")
        return 2
    figures = {name: score.figures() for name, score in measure(pages).items()}
    out = [f"{len(pages)} pages, {folder or 'made up by the bench'}", ""]
    out += [f"{'':12} {'precision':>9} {'recall':>9} {'F1':>9} {'pages/s':>9}"]
    for name, row in figures.items():
        cells = (row["precision"], row["recall"], row["f1"], row["pages_per_s"])
        out.append(f"{name:12} " + " ".join(f"{value:>9}" for value in cells))
    ratio = figures["fathom"]["pages_per_s"] / figures["trafilatura"]["pages_per_s"]
    summary = {"pages": len(pages), "is_made_up": folder is None, **figures, "speed_ratio": round(ratio, 2)}
    sys.stdout.write("\n".join([*out, "", json.dumps(summary)]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
