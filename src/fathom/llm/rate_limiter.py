"""Adaptive rate limiter of a model, shared by all runs of a process: concurrency and waiting times.

After a limit or failure all calls wait and one goes first, as a probe. When it is answered, a good part of
the places is back at once and the others follow, in the order the calls queued. A model that is down is
waited for; after too long, calls fail at once until it answers again.
"""

import asyncio
import random
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from types import TracebackType

from fathom.concurrency import shared_paces
from fathom.errors import ProviderError, Unavailable, Unreachable
from fathom.http import retry_after_s

_DURATION_PART = re.compile(r"(?<!\d)(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def retry_wait_s(headers: Mapping[str, str]) -> float | None:
    """Return how long a refusal asks to wait; else the time until the used-up limit resets."""
    said = _parse_number(headers.get("retry-after-ms"))
    if said is not None:
        return said / 1000
    asked = retry_after_s(headers.get("retry-after"))
    return asked if asked is not None else seconds_until_served(headers) or None


def seconds_until_served(headers: Mapping[str, str], tokens: int = 1) -> float:
    """Return the seconds until a request of so many tokens will be served; 0 if now."""
    return max(
        _seconds_until_limit_allows(headers, "requests", 1),
        _seconds_until_limit_allows(headers, "tokens", tokens),
    )


def _seconds_until_limit_allows(headers: Mapping[str, str], what: str, needed: float) -> float:
    """Return the wait for one limit, which refills evenly until the reset time that the server reports."""
    left = _parse_number(headers.get(f"x-ratelimit-remaining-{what}"))
    full_s = _parse_duration(headers.get(f"x-ratelimit-reset-{what}"))
    if left is None or full_s is None or left >= needed:
        return 0.0
    most = _parse_number(headers.get(f"x-ratelimit-limit-{what}"))
    if most is None or most <= left:
        return full_s
    return full_s * min(1.0, (needed - left) / (most - left))


def _parse_duration(words: str | None) -> float | None:
    plain = _parse_number(words)
    if plain is not None or words is None:
        return plain
    parts = _DURATION_PART.findall(words)
    if not parts or "".join(number + unit for number, unit in parts) != words.strip():
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def _parse_number(words: str | None) -> float | None:
    try:
        found = float(words) if words is not None else None
    except ValueError:
        return None
    return found if found is not None and 0 <= found < float("inf") else None


_LIMIT = 429
_REST_S = 10.0

# Some servers report absurd times or other units: ask again at least this often.
_LONGEST_S = 600.0
_LONGEST_PAUSE_S = 60.0
_TIMED_S = 1.0  # a server that names a longer wait counts calls in a time, not calls at once
_PROBES_PER_OUTAGE = 12  # a model that was down for ten seconds is asked again within 10/12 s


@dataclass(frozen=True)
class ModelRetryPolicy:
    """How often a call is retried, and how long a model may be down before runs continue without it.

    `greeting_s` applies if the model never answered in this process and nothing listens.
    """

    retries: int = 3
    outage_s: float = 180.0
    first_wait_s: float = 0.5
    most_wait_s: float = 15.0
    greeting_s: float = 5.0

    def wait_s(self, failures: int) -> float:
        """Return the jittered pause of one call after so many failures in a row."""
        longest: float = min(self.most_wait_s, self.first_wait_s * 2.0 ** (failures - 1))
        return longest * random.uniform(0.75, 1.25)  # noqa: S311 - no secret

    def probe_wait_s(self, down_s: float) -> float:
        """Return the pause until a model that is down so long is asked again: it is found back soon after."""
        longest = min(self.most_wait_s, max(self.first_wait_s, down_s / _PROBES_PER_OUTAGE))
        return longest * random.uniform(0.75, 1.0)  # noqa: S311 - no secret


@dataclass(eq=False)
class _QueuedCall:
    """A call's place in the queue, and the limiter's counters when it was admitted."""

    loop: asyncio.AbstractEventLoop
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    started: float = 0.0
    setbacks: int = 0
    answers: int = 0


@dataclass(eq=False)
class Outage:
    """When an outage began, of one model or of all models of a server."""

    since: float | None = None
    _last: float = float("-inf")

    def note_failure(self, started: float, now: float, forget_after_s: float) -> float:
        """Note a failure of a call; return when the outage began. One long ago belongs to another outage."""
        if self.since is None or started - self._last > forget_after_s:
            self.since = started
        self._last = now
        return self.since


class RateLimiter:
    """The rate limiter; safe in any thread and event loop."""

    def __init__(
        self,
        most: int = 50,
        clock: Callable[[], float] = time.monotonic,
        server: Outage | None = None,
        name: str = "",
    ) -> None:
        self.most = most
        self.name = name  # under which machines that share a database wait together
        self._clock = clock
        self._outage, self._server = Outage(), server or Outage()
        self._guard = threading.Lock()
        self._queue: deque[_QueuedCall] = deque()
        self._running = 0
        self._window = float(most)  # calls allowed at the same time now
        self._before = float(most)  # the window before the last setback of calls at once
        self._restored = 1.0  # the window when the first call after a setback is answered
        self._steep_to = float(most)  # each answer adds a place up to here, then all of them together add one
        self._open_at = float("-inf")
        self._answers = 0
        self._setbacks = 0
        self._gone: tuple[float, Unavailable] | None = None  # until when calls fail at once, and why

    def attempt(self, policy: ModelRetryPolicy) -> "Attempt":
        """Return an attempt for one call, which may be tried several times."""
        return Attempt(self, policy)

    def allow(self, most: int) -> None:
        """Set the most concurrent calls, unless the server has shown that it takes fewer."""
        with self._guard:
            if self._window >= self.most:
                self._window = self._steep_to = float(most)
            self.most = most
            self._window = min(self._window, float(most))
            self._wake(everybody=True)

    def pause(self, wait_s: float) -> None:
        """Block all calls for so long, as the server asked."""
        with self._guard:
            self._open_at = max(self._open_at, self._clock() + min(wait_s, _LONGEST_PAUSE_S))

    async def _enter(self, turn: _QueuedCall) -> None:
        """Wait until the call may be sent."""
        with self._guard:  # a retried call has waited longest
            (self._queue.appendleft if turn.started else self._queue.append)(turn)
        is_in = False
        try:
            while (wait_s := self._try_enter(turn)) is not None:
                turn.woken.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait_s if wait_s != float("inf") else None):
                        await turn.woken.wait()
            is_in = True
        finally:
            if not is_in:
                self._leave(turn)

    def _leave(self, turn: _QueuedCall) -> None:
        """Release the place, or leave the queue."""
        with self._guard:
            if turn in self._queue:  # it was never admitted
                self._queue.remove(turn)
            else:
                self._running -= 1
            self._wake()

    def _try_enter(self, turn: _QueuedCall) -> float | None:
        """Return None if the call is admitted, else the seconds until the next try; inf: until woken."""
        with self._guard:
            now = self._clock()
            if self._gone and now < self._gone[0]:
                raise Unavailable(str(self._gone[1]))
            if self._queue[0] is not turn or self._running >= max(1, int(self._window)):
                return float("inf")
            if now < self._open_at and not self._gone:
                return self._open_at - now
            self._queue.popleft()
            self._running += 1
            turn.started, turn.setbacks, turn.answers = now, self._setbacks, self._answers
            self._wake()
            return None

    def _wake(self, everybody: bool = False) -> None:
        """Wake the first in the queue; drop those whose loop is closed."""
        for turn in list(self._queue):
            try:
                turn.loop.call_soon_threadsafe(turn.woken.set)
            except RuntimeError:
                self._queue.remove(turn)
                continue
            if not everybody:
                return

    def _note_answer(self, turn: _QueuedCall) -> None:
        with self._guard:
            self._answers += 1
            if turn.setbacks < self._setbacks:
                return  # it was sent before the last setback, so it says nothing about the time after
            if self._gone:  # it is back earlier than announced
                self._open_at = self._clock()
            self._outage.since = self._server.since = self._gone = None
            if self._window <= 1.0:  # the probe was answered
                self._window = self._restored
            step = 1.0 if self._window < self._steep_to else 1.0 / self._window
            self._window = min(float(self.most), self._window + step)

    def _note_failure(self, turn: _QueuedCall, error: Unavailable, policy: ModelRetryPolicy) -> bool:
        """Tell whether the failure affects all calls: a limit, or no success since this call started."""
        with self._guard:
            now = self._clock()
            if not _is_limit(error) and (self._answers > turn.answers or not policy.retries):
                return False
            down_since = min(
                place.note_failure(turn.started, now, policy.outage_s)
                for place in (self._outage, self._server)  # models of one server are not waited for in turn
            )
            self._outage.since = down_since
            if turn.setbacks == self._setbacks:  # of calls that failed together only the first counts
                self._setbacks += 1
                self._shrink(error)
                probe_at = min(now + policy.probe_wait_s(now - down_since), down_since + policy.outage_s)
                self._open_at = max(self._open_at, probe_at)
            if error.wait_s is not None:
                wait_s = min(error.wait_s, _LONGEST_S) * random.uniform(1.0, 1.05)  # noqa: S311 - no secret
                self._open_at = max(self._open_at, now + wait_s)
            return True

    def _shrink(self, error: Unavailable) -> None:
        """Let one call go first. What it restores depends on what was refused: too many at once, or now."""
        if self._window > 1.0:
            self._before = self._window
        is_timed = (error.wait_s or 0.0) >= _TIMED_S or self._window <= 1.0  # a probe that was alone
        self._steep_to = self._before if is_timed else max(1.0, self._before / 2)
        self._restored = self._before if is_timed else max(1.0, self._steep_to / 2)
        self._window = 1.0

    def _is_hopeless(self, error: Unavailable, failures: int, policy: ModelRetryPolicy) -> bool:
        """Tell whether the model was down for too long, or says it will be; then no call waits for it."""
        if not policy.retries:
            return True
        with self._guard:
            if self._outage.since is None:
                return False
            now = self._clock()
            is_stranger = isinstance(error, Unreachable) and not self._answers
            if is_stranger and failures <= policy.retries:
                return False
            most_s = min(policy.outage_s, policy.greeting_s) if is_stranger else policy.outage_s
            if now - self._outage.since + (error.wait_s or 0.0) < most_s:
                return False
            rest_s = max(min(_REST_S, policy.outage_s / 10), error.wait_s or 0.0)
            self._gone = (now + min(rest_s, _LONGEST_S), error)
            self._wake(everybody=True)
            return True


class Attempt:
    """One call at the limiter: `while not attempt.is_over: async with attempt: …` retries while useful.

    The `async with` swallows an Unavailable that is worth a retry; all other errors pass.
    """

    def __init__(self, limiter: RateLimiter, policy: ModelRetryPolicy) -> None:
        self.is_over = False
        self._limiter, self._policy = limiter, policy
        self._turn = _QueuedCall(asyncio.get_running_loop())
        self._began, self._answers, self._failures = float("inf"), 0, 0
        self._is_pausing = False

    async def __aenter__(self) -> None:
        if self._is_pausing:
            await asyncio.sleep(self._policy.wait_s(self._failures))
        await self._hear_others()
        await self._limiter._enter(self._turn)
        if self._began > self._turn.started:
            self._began, self._answers = self._turn.started, self._turn.answers

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        limiter, turn = self._limiter, self._turn
        try:
            if isinstance(error, Unavailable):
                await self._tell_others(error)
                return self._is_worth_another_try(error)
            if error is None or isinstance(error, ProviderError):
                limiter._note_answer(turn)  # a refusal is an answer too
            self.is_over = True
            return False
        finally:
            limiter._leave(turn)

    async def _hear_others(self) -> None:
        """Wait, where another machine was told to."""
        paces, name = shared_paces(), self._limiter.name
        if paces and name and (wait_s := await paces.wait_s(name)) > 0:
            self._limiter.pause(wait_s)

    async def _tell_others(self, error: Unavailable) -> None:
        """Have the other machines wait too, where the server said for how long."""
        if error.wait_s and self._limiter.name and (paces := shared_paces()):
            await paces.close(self._limiter.name, min(error.wait_s, _LONGEST_PAUSE_S))

    def _is_worth_another_try(self, error: Unavailable) -> bool:
        limiter, policy = self._limiter, self._policy
        self._is_pausing = not limiter._note_failure(self._turn, error, policy)
        self._failures += not _is_limit(error)
        is_hopeless = limiter._is_hopeless(error, self._failures, policy)
        is_late = bool(self._failures) and limiter._clock() - self._began >= policy.outage_s
        is_alone = self._failures > policy.retries and limiter._answers > self._answers
        return not (is_hopeless or is_late or is_alone)


def _is_limit(error: Unavailable) -> bool:
    return error.status == _LIMIT or error.wait_s is not None


_limiters: dict[tuple[str, str], RateLimiter] = {}
_outages: dict[str, Outage] = {}
_limiters_lock = threading.Lock()


def limiter_for(server: str, model: str, most: int) -> RateLimiter:
    """Return the process-wide limiter of a model on a server; the latest `most` counts."""
    with _limiters_lock:
        outage = _outages.setdefault(server, Outage())
        name = f"model {sha256(f'{server} {model}'.encode()).hexdigest()[:32]}"
        limiter = _limiters.setdefault((server, model), RateLimiter(most, server=outage, name=name))
        limiter.allow(most)
        return limiter
