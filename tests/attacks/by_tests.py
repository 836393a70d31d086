"""Attacks that the tests hold already: each test is an attempt, run by pytest in a process of its own."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from attacks.attempt import Attack, Attempt

_ROOT = Path(__file__).parents[2]
_PATIENCE_S = 900


def make_attack(*places: str) -> Attack:
    """The attack that runs these tests; a test that is left out is no attempt."""
    return lambda folder: _run(places, folder)


def _run(places: Sequence[str], folder: Path) -> Iterator[Attempt]:
    told = folder / "told.xml"
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={told}", *places]
    ended = subprocess.run(words, cwd=_ROOT, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    if ended.returncode not in (0, 1) or not told.exists():
        yield Attempt(" ".join(places), False, f"pytest ended with {ended.returncode}: {ended.stdout[-200:]}")
        return
    for case in ElementTree.parse(told).iter("testcase"):
        if case.find("skipped") is None:
            faults = [*case.iter("failure"), *case.iter("error")]
            seen = faults[0].get("message", "") if faults else ""
            yield Attempt(case.get("name", ""), not faults, seen[:160])
