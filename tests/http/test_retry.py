"""Waiting and trying again."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from standins.server import json_answer
from standins.tavily import KEY, TavilyServer, failure, result

from fathom.errors import ProviderError, Refused, Unavailable, Unreadable
from fathom.http import RetryPolicy, error_for_status, retry, retry_after_s
from fathom.reading import Document, Reader
from fathom.reading.readers import RetryingReader
from fathom.search import Capability, SearchEngine
from fathom.search.engines.tavily import Tavily
from fathom.search.wrappers import EngineHealth, MonitoredEngine
from fathom.state import Hit, Query

QUERY = Query(id="q1", text="tides", question="s1", round=1)

HIT = Hit(query="q1", address="https://a.example", title="A", snippet="", engine="fake", rank=1)

QUICK = RetryPolicy(attempts=3, first_wait_s=0.01, most_wait_s=0.02, jitter_s=0.01, longest_s=1)


@dataclass
class Moody:
    """Fails as told, then serves; refuses to be asked more often."""

    moods: list[ProviderError | None]
    name: str = "moody"
    capabilities: frozenset[Capability] = frozenset({"web"})
    asked: list[float] = field(default_factory=list)

    async def __call__(self, query: Query, *, limit: int) -> Sequence[Hit]:
        self.asked.append(time.monotonic())
        mood = self.moods.pop(0)
        if mood is not None:
            raise mood
        return [HIT][:limit]


def retrying(engine: SearchEngine) -> MonitoredEngine:
    return MonitoredEngine(engine, EngineHealth(), policy=QUICK)


async def test_the_unavailable_is_asked_again_until_it_serves(capsys: pytest.CaptureFixture[str]) -> None:
    moody = Moody([Unavailable("busy"), Unavailable("busy"), None])
    assert await retrying(moody)(QUERY, limit=5) == [HIT]
    assert len(moody.asked) == 3
    assert capsys.readouterr() == ("", "")


async def test_after_the_last_attempt_the_last_error_rises() -> None:
    moody = Moody([Unavailable("first"), Unavailable("second"), Unavailable("third")])
    with pytest.raises(Unavailable, match="third"):
        await retrying(moody)(QUERY, limit=5)


@pytest.mark.parametrize("error", [Refused("no"), Unreadable("what?")])
async def test_what_waiting_does_not_cure_rises_at_once(error: ProviderError) -> None:
    moody = Moody([error])
    with pytest.raises(type(error)):
        await retrying(moody)(QUERY, limit=5)
    assert len(moody.asked) == 1


async def test_the_wait_asked_for_is_honoured() -> None:
    moody = Moody([Unavailable("busy", wait_s=0.3), None])
    await retrying(moody)(QUERY, limit=5)
    assert 0.3 <= moody.asked[1] - moody.asked[0] < 1


async def test_nobody_waits_longer_than_the_bound_or_asks_sooner_than_told() -> None:
    moody = Moody([Unavailable("busy", wait_s=60)])
    with pytest.raises(Unavailable):
        await retrying(moody)(QUERY, limit=5)
    assert len(moody.asked) == 1


async def test_retry_after_travels_from_the_wire_to_the_wait() -> None:
    too_fast = failure(429, "Slow down.", {"retry-after": "1"})
    with TavilyServer([result("https://a.example")], [too_fast, json_answer({}, 500)]) as server:
        hits = await retrying(Tavily(KEY, server.url))(QUERY, limit=5)
    assert [hit.address for hit in hits] == ["https://a.example"]
    first, second, third = (seen.arrived for seen in server.records)
    assert 1 <= second - first < 2
    assert third - second < 0.5


async def test_a_reader_can_be_patient_too() -> None:
    class Slow:
        moods = [Unavailable("timeout"), None]  # noqa: RUF012

        async def __call__(self, hit: Hit) -> Document:
            if (mood := self.moods.pop(0)) is not None:
                raise mood
            return Document(text="Tides.", title=hit.title, how="html")

    reader: Reader = RetryingReader(Slow(), QUICK)
    assert (await reader(HIT)).text == "Tides."


async def test_our_own_mistakes_are_not_repeated() -> None:
    calls = []

    async def mistaken() -> None:
        calls.append(1)
        raise KeyError("ours")

    with pytest.raises(KeyError):
        await retry(mistaken, QUICK)
    assert calls == [1]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (408, Unavailable),
        (429, Unavailable),
        (500, Unavailable),
        (529, Unavailable),
        (401, Refused),
        (402, Refused),
        (403, Refused),
        (432, Refused),
        (204, Unreadable),
        (302, Unreadable),
        (400, Unreadable),
        (404, Unreadable),
    ],
)
def test_a_status_says_who_can_act(status: int, kind: type[ProviderError]) -> None:
    assert type(error_for_status("x", status)) is kind


@pytest.mark.parametrize(
    ("header", "wait_s"),
    [("2", 2), ("1.5", 1.5), ("-3", 0), ("soon", None), (None, None), ("Tue, 03 Feb 2015 09:00:00 GMT", 0)],
)
def test_the_wait_is_in_seconds(header: str | None, wait_s: float | None) -> None:
    assert retry_after_s(header) == wait_s


@pytest.mark.parametrize("usegmt", [True, False])
def test_the_wait_may_be_given_as_a_date(usegmt: bool) -> None:
    until = datetime.now(UTC) + timedelta(seconds=60)
    wait_s = retry_after_s(format_datetime(until, usegmt=usegmt))
    assert wait_s is not None
    assert 50 < wait_s <= 60
