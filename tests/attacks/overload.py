"""A model that says 429 for ten seconds, and for ever: the bench, and how long its runs may take."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from attacks.attempt import Attempt

_BENCH = Path(__file__).parents[2] / "bench" / "overload.py"
_PATIENCE_S = 600


def attack_with_overload(folder: Path) -> Iterator[Attempt]:
    """A run ends within the outage and a quarter of its usual time; an endless outage ends by `outage_s`."""
    ended = subprocess.run(
        [sys.executable, str(_BENCH)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
        check=True,
    )
    found = json.loads(ended.stdout.splitlines()[-1])
    usual_s = found["usual_s"]
    for when in ("start", "third", "two_thirds"):
        later_s, most_s = found[f"{when}_later_s"], found["full_s"] + usual_s / 4
        seen = f"{later_s:.1f} s later, allowed {most_s:.1f} s"
        yield Attempt(f"429 for ten seconds from the {when}", later_s <= most_s, seen)
    most_s = found["outage_s"] + usual_s
    seen = f"ended after {found['endless_s']:.1f} s, allowed {most_s:.1f} s"
    yield Attempt("429 for ever", found["endless_s"] <= most_s, seen)
