"""How well claims are told to be supported by their evidence, without a model or by one.

    python bench/claims.py FILE [--model NAME]     lines of {"claim": …, "evidence": …, "label": …}
    python bench/claims.py --written FILE          claims as a model writes them, with quote and context

Labels: supports, and whatever else there is (partly, refutes, neither). Prints precision, recall and F1 of
"supported", the shares of the other labels that pass, plain word overlap beside ours, and the curve over
thresholds; the last line is one JSON object. With `--model` the product's own verifier is asked, with the key
and address it reads from the environment.

`--written` measures what happens to claims before any model sees them. Lines of {"statement", "quote",
"title", "date", "before", "after", "label"}, labels honest and wrong; prints which share of the honest ones
code refuses by itself (`honest_refused`), which share it flags for the verifier (`honest_flagged`), and which
share of the wrong ones it refuses or flags (`wrong_caught`).
"""

import argparse
import asyncio
import hashlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import samples

from fathom.evidence.checks.derivation import Passage, find_underived
from fathom.evidence.checks.strict import find_flaws
from fathom.evidence.checks.suspicions import find_suspicions
from fathom.evidence.claims import KEEP_FROM
from fathom.evidence.support import SUPPORTED_FROM, score_support
from fathom.llm.factory import make_research_model
from fathom.settings import load_settings
from fathom.state import RunConfig
from fathom.state.model_io import VerificationItem
from fathom.text.ranking import terms

_BATCH = 8


@dataclass(frozen=True)
class Line:
    """One claim with what is said to bear on it."""

    claim: str
    evidence: str
    label: str


Figures = dict[str, float]


def lines(path: Path) -> list[Line]:
    """The lines of the file."""
    rows = (json.loads(row) for row in path.read_text("utf-8").splitlines() if row.strip())
    return [Line(row["claim"], row["evidence"], row["label"]) for row in rows]


def measured(data: Sequence[Line], passed: Sequence[bool]) -> Figures:
    """Precision, recall and F1 of what passed, and the shares of other labels that passed."""
    right = sum(ok and line.label == "supports" for line, ok in zip(data, passed, strict=True))
    precision = right / max(1, sum(passed))
    recall = right / max(1, sum(line.label == "supports" for line in data))
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    figures = {"precision": precision, "recall": recall, "f1": f1}
    for label in ("refutes", "neither", "partly"):
        own = [ok for line, ok in zip(data, passed, strict=True) if line.label == label]
        figures[f"{label}_passed"] = sum(own) / max(1, len(own))
    return {name: round(value, 3) for name, value in figures.items()}


def overlap(line: Line) -> float:
    """The plain check to compare with: the share of the claim's words that the evidence has."""
    said = terms(line.claim)
    return len(said & terms(line.evidence)) / len(said) if said else 0.0


def ours(line: Line) -> float:
    """The product's check without a model."""
    return score_support(line.claim, [line.evidence])


def is_first_half(line: Line) -> bool:
    """One of two halves by the claim's hash, so that no claim is in both."""
    return hashlib.sha256(line.claim.encode()).digest()[-1] % 2 == 0


def shown(title: str, figures: Figures) -> None:
    """One line of figures."""
    print(f"{title:34}", "  ".join(f"{name} {value:.3f}" for name, value in figures.items()))


def without_model(data: Sequence[Line]) -> Figures:
    """Ours and the plain one, over thresholds and at ours."""
    for name, score in (("word overlap", overlap), ("ours", ours)):
        scores = [score(line) for line in data]
        for step in range(50, 100, 5):
            shown(f"{name} from {step / 100:.2f}", measured(data, [s >= step / 100 for s in scores]))
    passed = [s >= SUPPORTED_FROM for s in scores]
    for title, is_in in (("first half of the claims", True), ("second half of the claims", False)):
        half = [(line, ok) for line, ok in zip(data, passed, strict=True) if is_first_half(line) is is_in]
        shown(title, measured([line for line, _ in half], [ok for _, ok in half]))
    sound = [
        ok and not find_flaws(line.claim, [line.evidence]) for line, ok in zip(data, passed, strict=True)
    ]
    shown("with every flaw refused", measured(data, sound))
    shown(f"ours, from {SUPPORTED_FROM}", measured(data, passed))
    return measured(data, passed)


def of_written(path: Path) -> Figures:
    """What code does to written claims: refuse, flag, or let pass."""
    rows = [json.loads(row) for row in path.read_text("utf-8").splitlines() if row.strip()]
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        around = f"{row.get('before', '')}\n{row.get('after', '')}"
        passage = Passage((row["quote"],), row.get("title", ""), date=row.get("date") or "", around=around)
        is_refused = bool(find_underived(row["statement"], passage))
        suspicions = find_suspicions(row["statement"], passage)
        counts[row["label"], "all"] += 1
        counts[row["label"], "refused"] += is_refused
        counts[row["label"], "flagged"] += bool(suspicions)
        counts[row["label"], "caught"] += is_refused or bool(suspicions)
        for kind in {suspicion.kind for suspicion in suspicions}:
            counts[row["label"], f"suspicion: {kind}"] += 1
    for (label, what), count in sorted(counts.items()):
        print(f"{label:8} {what:28} {count}")
    honest, wrong = max(1, counts["honest", "all"]), max(1, counts["wrong", "all"])
    figures = {
        "honest_refused": counts["honest", "refused"] / honest,
        "honest_flagged": counts["honest", "flagged"] / honest,
        "wrong_caught": counts["wrong", "caught"] / wrong,
    }
    return {name: round(value, 3) for name, value in figures.items()}


async def by_model(data: Sequence[Line], name: str) -> Figures:
    """The prompted verifier of the product, a few lines a call."""
    mind = make_research_model(load_settings(), RunConfig(model=name))
    passed: list[bool] = []
    for start in range(0, len(data), _BATCH):
        some = [
            VerificationItem(line.claim, line.evidence, line.evidence)
            for line in data[start : start + _BATCH]
        ]
        passed += [verdict.score >= KEEP_FROM for verdict in (await mind.verify(some)).value]
    shown(f"{name}, from {KEEP_FROM}", measured(data, passed))
    return measured(data, passed)


def main(arguments: Sequence[str] | None = None, say: Callable[[str], None] = print) -> None:
    """Measure the file named on the command line."""
    parser = argparse.ArgumentParser(description="How well claims are told to be supported.")
    parser.add_argument("file", type=Path, nargs="?", help="without one: a few lines of our own")
    parser.add_argument("--model", default="")
    parser.add_argument("--written", type=Path, help="a file of written claims with quote and context")
    given = parser.parse_args(arguments)
    if given.written:
        if not given.written.is_file():
            sys.exit(f"there is no file {given.written}")
        say(json.dumps(of_written(given.written)))
        return
    if given.file and not given.file.is_file():
        sys.exit(f"there is no file {given.file}")
    with tempfile.TemporaryDirectory() as work:
        data = lines(given.file or samples.claims(Path(work) / "claims.jsonl"))
    figures = asyncio.run(by_model(data, given.model)) if given.model else without_model(data)
    say(json.dumps(figures))


if __name__ == "__main__":
    main()
