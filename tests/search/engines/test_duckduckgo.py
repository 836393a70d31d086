"""DuckDuckGo, with a plain function in the place of the package's search: it cannot be sent elsewhere."""

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import pytest
from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException
from search.failures import QUERY

from fathom.errors import ProviderError, Unavailable, Unreadable
from fathom.search import Scope, SearchEngine
from fathom.search.engines.duckduckgo import DuckDuckGo

TODAY = date(2026, 2, 3)


class Fake:
    """Stands for `DDGS().text`: gives its rows or raises, and remembers what it was asked."""

    def __init__(
        self, *rows: Mapping[str, Any] | str, error: Exception | None = None, delay_s: float = 0.0
    ) -> None:
        self.rows: list[Any] = list(rows)
        self.error = error
        self.delay_s = delay_s
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, query: str, *, timeout_s: float, **words: Any) -> Sequence[Mapping[str, Any]]:
        self.asked.append((query, words))
        time.sleep(self.delay_s)
        if self.error:
            raise self.error
        return self.rows


def row(href: str, title: str = "Title", body: str = "Body") -> dict[str, str]:
    return {"title": title, "href": href, "body": body}


def duckduckgo(fake: Fake, scope: Scope | None = None, timeout_s: float = 5.0) -> DuckDuckGo:
    return DuckDuckGo(fake, scope or Scope(), timeout_s, today=lambda: TODAY)


async def error_of(fake: Fake, timeout_s: float = 5.0) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await duckduckgo(fake, timeout_s=timeout_s)(QUERY, limit=5)
    assert caught.value.__suppress_context__
    return caught.value


async def test_rows_become_hits_in_their_order() -> None:
    fake = Fake(
        row("https://a.example/1", "One &amp; only", "Costs fell."), row("/y.js?ad"), row("http://b.example")
    )
    hits = await duckduckgo(fake)(QUERY, limit=5)
    assert [(hit.address, hit.rank, hit.engine, hit.query) for hit in hits] == [
        ("https://a.example/1", 1, "duckduckgo", "q1"),
        ("http://b.example", 2, "duckduckgo", "q1"),
    ]
    assert (hits[0].title, hits[0].snippet, hits[0].published) == ("One & only", "Costs fell.", None)
    words = {"region": "wt-wt", "timelimit": None, "max_results": 5, "backend": "duckduckgo"}
    assert fake.asked == [("tidal power cost", words)]


async def test_the_limit_is_asked_for_and_kept() -> None:
    fake = Fake(*(row(f"https://a.example/{n}") for n in range(9)))
    assert len(await duckduckgo(fake)(QUERY, limit=3)) == 3
    assert fake.asked[0][1]["max_results"] == 3


async def test_no_rows_are_an_empty_list_and_no_words_are_not_asked() -> None:
    fake = Fake()
    assert await duckduckgo(fake)(QUERY, limit=5) == []
    assert await duckduckgo(fake)(QUERY.model_copy(update={"text": "  "}), limit=5) == []
    assert len(fake.asked) == 1


async def test_the_scope_is_passed_on() -> None:
    fake = Fake()
    await duckduckgo(fake, Scope(("a.example",), (), date(2025, 3, 1), None, "ko"))(QUERY, limit=5)
    ((query, words),) = fake.asked
    assert query == "tidal power cost site:a.example"
    assert (words["region"], words["timelimit"]) == ("kr-kr", "2025-03-01..2026-02-03")


async def test_korean_goes_out_and_comes_back_whole() -> None:
    fake = Fake(row("https://ko.example/조력", "조력 발전", "비용"))
    (hit,) = await duckduckgo(fake)(QUERY.model_copy(update={"text": "조력 발전"}), limit=5)
    assert fake.asked[0][0] == "조력 발전"
    assert (hit.address, hit.title, hit.snippet) == ("https://ko.example/조력", "조력 발전", "비용")


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (RatelimitException("202"), Unavailable, "asks for a pause"),
        (TimeoutException("timed out"), Unavailable, "did not answer in time"),
        (DDGSException(DDGSException("DNSError: DNSError('no records')")), Unavailable, "cannot be reached"),
        (DDGSException("ConnectError: refused"), Unavailable, "cannot be reached"),
        (DDGSException("No results found."), Unreadable, "it has none, or hides them (No results found.)"),
        (DDGSException("ParserError: empty"), Unreadable, "ParserError"),
    ],
)
async def test_the_packages_errors_become_ours(
    error: Exception, kind: type[ProviderError], said: str
) -> None:
    ours = await error_of(Fake(error=error))
    assert type(ours) is kind
    assert str(ours).startswith("duckduckgo")
    assert said in str(ours)


@pytest.mark.parametrize("wrong", [{"title": "no address"}, "a word"])
async def test_rows_of_another_form_are_unreadable(wrong: Mapping[str, Any] | str) -> None:
    assert isinstance(await error_of(Fake(wrong)), Unreadable)


async def test_silence_is_unavailable_after_the_time_limit() -> None:
    error = await error_of(Fake(delay_s=0.3), timeout_s=0.05)
    assert isinstance(error, Unavailable)
    assert str(error) == "duckduckgo did not answer within 0.05 s"


def test_the_package_is_not_loaded_until_it_is_used() -> None:
    code = (
        "import sys, fathom.search.engines.duckduckgo as d; d.DuckDuckGo(); sys.exit('ddgs' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_port_is_kept() -> None:
    engine: SearchEngine = DuckDuckGo()
    assert (engine.name, engine.capabilities) == ("duckduckgo", frozenset({"web"}))
