"""Kill a run with SIGKILL at random moments, resume it, and count answered calls that were sent again.

    PYTHONPATH=tests python -m standins.random_kills [--kills 40] [--seed N]

A call counts as answered when the stand-in had sent its last byte at least 20 ms before the kill: the process
had the chance to read it. Answers closer to the kill are counted apart. Every process is killed a random
moment after a random number of its calls were answered; after a run that ends comes another.
Prints the figures; the last line is one JSON object, the exit code 1 if anything was paid twice.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from standins.killable_run import QUESTION, WORKING, Site, begun
from standins.model import Model, ModelRequest
from standins.replies import Reply
from standins.server import Seen, StandIn, asked_again

_READABLE_S = 0.02
_PATIENCE_S = 180.0
_MOST_DELAY_S = 0.15  # of an answer, and between an answer and a kill


@dataclass
class Figures:
    """What was counted: `close` are answers that came less than 20 ms before a kill."""

    kills: int = 0
    runs: int = 0
    finished: int = 0
    model_calls: int = 0
    searches: int = 0
    answered_just_before: int = 0  # model answers and searches in the last 150 ms before a kill
    model_calls_again: int = 0
    searches_again: int = 0
    margins_ms: list[int] = field(default_factory=list)  # of all that were sent again: answer to kill
    close_again: int = 0
    failures: list[str] = field(default_factory=list)


def kill_at_random(kills: int, seed: int) -> Figures:
    """Kill as often as told, over as many runs as that takes."""
    chance, figures = random.Random(seed), Figures()
    while figures.kills < kills:
        with tempfile.TemporaryDirectory() as home:
            _one_run(Path(home), chance, kills, figures)
    return figures


def _one_run(home: Path, chance: random.Random, kills: int, figures: Figures) -> None:
    """One run, killed and resumed until it ends."""
    site, number = Site(), figures.runs
    killed_at: list[float] = []

    def answer(request: ModelRequest) -> Reply:
        return _later(WORKING(request), chance.uniform(0, _MOST_DELAY_S))

    with Model(answer) as model:
        # Every run asks for itself: what another run was answered is no business of this count.
        place = {"FATHOM_HOME": str(home), "FATHOM_MODEL": "stand-in", "FATHOM_BASE_URL": model.base_url}
        words = [f"{QUESTION} {number}", "--rounds", "2", "--out", "out", "--quiet"]
        os.environ.update(place)
        figures.runs += 1
        while True:
            process = begun(words, site, home)
            is_killed = figures.kills < kills and _killed(process, (model, site.engine), chance, killed_at)
            figures.kills += is_killed
            if not is_killed:
                _, told = process.communicate(timeout=_PATIENCE_S)
                if process.returncode in (0, 4):
                    figures.finished += 1
                    break
                if "There is no run" not in told:  # killed before its first step was on disk
                    figures.failures.append(told.strip().splitlines()[-1] if told.strip() else "no word")
                    break
            is_begun = (home / "fathom.sqlite").exists() and (home / "locks").exists()
            words = ["resume", "--out", "out", "--quiet"] if is_begun else words
        _count(figures, model.calls, site.engine.searches, killed_at)
    site.stop()


def _later(reply: Reply, delay_s: float) -> Reply:
    return Reply(**{**vars(reply), "delay_s": delay_s})


def _killed(
    process: "subprocess.Popen[str]",
    servers: Sequence[StandIn],
    chance: random.Random,
    killed_at: list[float],
) -> bool:
    """Kill the process a moment after some calls; False if it ended before."""
    wanted = sum(len(server.answered) for server in servers) + chance.randint(1, 6)
    end = time.monotonic() + _PATIENCE_S
    while sum(len(server.answered) for server in servers) < wanted:
        if process.poll() is not None or time.monotonic() > end:
            return False
        time.sleep(0.002)
    time.sleep(chance.uniform(0, _MOST_DELAY_S))
    if process.poll() is not None:
        return False
    killed_at.append(time.monotonic())
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=_PATIENCE_S)
    return True


def _count(figures: Figures, calls: Sequence[Seen], searches: Sequence[Seen], killed_at: list[float]) -> None:
    for name, records in (("model_calls", calls), ("searches", searches)):
        margins = {id(seen): _margin(seen, killed_at) for seen in records}
        answered = [seen for seen in records if margins[id(seen)] >= 0]
        setattr(figures, name, getattr(figures, name) + len(answered))
        figures.answered_just_before += sum(margins[id(seen)] <= _MOST_DELAY_S for seen in answered)
        for again in asked_again(records):
            first = next(
                (seen for seen in answered if seen.digest == again.digest and seen is not again), None
            )
            if first is None or first.arrived > again.arrived:
                continue  # nobody was there any more to take the first answer
            is_close = margins[id(first)] < _READABLE_S
            counted = "close_again" if is_close else f"{name}_again"
            setattr(figures, counted, getattr(figures, counted) + 1)
            figures.margins_ms.append(round(1000 * min(margins[id(first)], 3600.0)))


def _margin(seen: Seen, killed_at: list[float]) -> float:
    """How long before the kill of its process a call was answered; negative if nobody was there any more."""
    if seen.answered is None:
        return float("-inf")
    return min((at for at in killed_at if at >= seen.arrived), default=float("inf")) - seen.answered


def main() -> int:
    """Kill, count and tell."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    figures = kill_at_random(given.kills, given.seed)
    for name, value in asdict(figures).items():
        print(f"{name.replace('_', ' ')}: {value}")
    print(json.dumps(asdict(figures)))
    return int(bool(figures.model_calls_again or figures.searches_again or figures.failures))


if __name__ == "__main__":
    sys.exit(main())
