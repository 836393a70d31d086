"""Whether contradictions are among the pairs that are looked at, and what rules alone say of them.

    python bench/weigh.py [FILE]     lines with claim, evidence and label (supports, partly, refutes, neither)

For each line the claim is paired with the evidence's nearest sentence among all others. Prints for each label
which share of the pairs are neighbours, which share are over 0.85 alike, and what rules say of them. The last
line is one JSON object.
"""

import json
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

import samples

from fathom.evidence.corroboration import find_nearest, measure_similarity
from fathom.evidence.statement_pairs import compare_statements, has_shared_terms
from fathom.text.sentences import split_sentences
from fathom.text.similarity import embed

NEIGHBOURS = 5
ALIKE = 0.85


def paired(path: Path) -> list[tuple[str, str, str]]:
    """Claim, the nearest sentence of its evidence, and label."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        parts = [span.text for span in split_sentences(row["evidence"])] or [row["evidence"]]
        near = embed(parts) @ embed([row["claim"]])[0]
        found.append((row["claim"], parts[int(near.argmax())], row["label"]))
    return found


def measured(pairs: list[tuple[str, str, str]]) -> dict[str, dict[str, float]]:
    """All figures, by label."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair[:2]))
    place = {text: n for n, text in enumerate(texts)}
    nearness = measure_similarity(texts)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for claim, sentence, label in pairs:
        one, two = place[claim], place[sentence]
        is_near = two in find_nearest(nearness[one], NEIGHBOURS) or one in find_nearest(
            nearness[two], NEIGHBOURS
        )
        word = compare_statements(claim, sentence)
        counts[label]["pairs"] += 1
        counts[label]["neighbours"] += is_near and has_shared_terms(claim, sentence)
        counts[label]["over_085"] += bool(nearness[one, two] > ALIKE)
        counts[label][word[0] if word else "undecided"] += 1
    names = ("neighbours", "over_085", "same", "contradicts", "neither", "undecided")
    return {
        label: {"pairs": own["pairs"], **{n: round(own[n] / own["pairs"], 4) for n in names}}
        for label, own in counts.items()
    }


def main() -> int:
    """Print the figures."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as work:
        data = Path(sys.argv[1]) if sys.argv[1:] else samples.claims(Path(work) / "claims.jsonl")
        pairs = paired(data)
    figures = measured(pairs)
    for label, own in figures.items():
        sys.stdout.write(f"{label}: {own}\n")
    summary = {"pairs": len(pairs), "labels": figures, "s": round(time.perf_counter() - started, 1)}
    sys.stdout.write(json.dumps(summary) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
