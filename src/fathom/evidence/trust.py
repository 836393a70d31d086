"""Whether a verifier is to be trusted: a sequential test over all the controls it was ever shown.

Wald's sequential probability ratio test of an error rate of 2 % against one of 10 %, by model, prompt
revision and language, kept in the database. Does not know how controls are made (`controls`).
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from fathom.state import ControlTally
from fathom.storage import Storage

Trust = Literal["trusted", "untrusted", "undecided"]
GOOD_ERROR, BAD_ERROR = 0.02, 0.10
_FALSE_ALARM, _MISS = 0.01, 0.05  # how often a good verifier may be called bad, and a bad one good
_UNTRUSTED_FROM = math.log((1 - _MISS) / _FALSE_ALARM)
_TRUSTED_TO = math.log(_MISS / (1 - _FALSE_ALARM))
KEPT_S = 90 * 24 * 3600.0


def decide_trust(right: int, wrong: int) -> Trust:
    """Return what so many right and wrong answers to controls say of a verifier."""
    ratio = wrong * math.log(BAD_ERROR / GOOD_ERROR) + right * math.log((1 - BAD_ERROR) / (1 - GOOD_ERROR))
    if ratio >= _UNTRUSTED_FROM:
        return "untrusted"
    return "trusted" if ratio <= _TRUSTED_TO else "undecided"


@dataclass(frozen=True)
class TrustLog:
    """What verifiers made of their controls, across runs; a call that is noted twice counts once."""

    storage: Storage
    clock: Callable[[], float] = time.time

    async def note(self, tallies: Sequence[ControlTally]) -> None:
        """Keep the answers of some calls, and forget those of three months ago."""
        now, controls = self.clock(), self.storage.controls
        for tally in tallies:
            right, name = tally.shown - tally.missed, _name(tally.verifier, tally.language)
            await controls.put(name, tally.key, right, tally.missed, now, now - KEPT_S)

    async def trust(self, verifier: str, language: str) -> Trust:
        """Return whether this verifier is to be trusted with statements in this language."""
        right, wrong = await self.storage.controls.totals(_name(verifier, language))
        return decide_trust(right, wrong)


def _name(verifier: str, language: str) -> str:
    return f"{verifier}\n{language}"
