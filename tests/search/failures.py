"""What every engine must make of a service that fails, as cases for a parametrised test.

Does not know any engine: a test says how one is made. A service's own failures are cases too: `BadAnswer(…)`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from standins.server import Answer, Seen, StandIn, closed_port, json_answer

from fathom.errors import ProviderError, Refused, Unavailable, Unreachable, Unreadable
from fathom.search import SearchEngine
from fathom.state import Query

QUERY = Query(id="q1", text="tidal power cost", question="s1", round=1)
PATIENCE_S = 0.2

# Makes an engine that asks the server at an address, and waits so many seconds for it.
Make = Callable[[str, float], SearchEngine]


@dataclass(frozen=True)
class BadAnswer:
    """A way to fail, and the error it must become; `answer` is None when nobody listens."""

    name: str
    answer: Answer | None
    error: type[ProviderError]
    says: str = ""
    wait_s: float | None = None

    def __str__(self) -> str:
        return self.name


class Failing(StandIn):
    """Answers the same to everything."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer

    def answer_to(self, seen: Seen) -> Answer:
        """What it was made with."""
        return self.answer


HTML = Answer(200, {"content-type": "text/html"}, b"<html><body>Please log in</body></html>")

# Every service may fail in these ways, whatever its format.
COMMON = [
    BadAnswer("429", json_answer({"message": "Slow."}, 429), Unavailable, "answered HTTP 429"),
    BadAnswer("429 told when", json_answer({}, 429, {"retry-after": "7"}), Unavailable, "HTTP 429", wait_s=7),
    BadAnswer("500", Answer(500, {"content-type": "text/html"}, b"<h1>oh</h1>"), Unavailable, "HTTP 500"),
    BadAnswer("502", Answer(502), Unavailable, "HTTP 502"),
    BadAnswer("503 told when", Answer(503, {"retry-after": "3"}), Unavailable, "HTTP 503", wait_s=3),
    BadAnswer("403", Answer(403, {"content-type": "text/html"}, b"<h1>no</h1>"), Refused, "HTTP 403"),
    BadAnswer("404", Answer(404, {"content-type": "text/plain"}, b"Not here."), Unreadable, "HTTP 404"),
    BadAnswer("moved", Answer(301, {"location": "https://elsewhere.example/"}), Unreadable, "HTTP 301"),
    BadAnswer("html for json", HTML, Unreadable),
    BadAnswer("half of json", Answer(200, {"content-type": "application/json"}, b'{"re'), Unreadable),
    BadAnswer("a list", json_answer([]), Unreadable),
    BadAnswer("a word", json_answer("no"), Unreadable),
    BadAnswer("an empty body", Answer(200), Unreadable),
    BadAnswer("silence", Answer(hangs=True), Unavailable, f"did not answer within {PATIENCE_S:g} s"),
    BadAnswer("nobody listens", None, Unreachable, "cannot be reached"),
]


def but(*names: str) -> list[BadAnswer]:
    """The common cases without those that mean something else to a service."""
    unknown = set(names) - {case.name for case in COMMON}
    assert not unknown, unknown
    return [case for case in COMMON if case.name not in names]


async def fails(case: BadAnswer, make: Make, *, key: str = "", query: Query = QUERY) -> ProviderError:
    """Let it happen to an engine, and check that the right error comes out and that it keeps the key."""
    if case.answer is None:
        error = await _error_of(make(f"http://127.0.0.1:{closed_port()}", PATIENCE_S), query)
    else:
        with Failing(case.answer) as server:
            patience_s = PATIENCE_S if case.answer.hangs else 5.0
            error = await _error_of(make(server.url, patience_s), query)
    assert type(error) is case.error, error
    assert case.says in str(error)
    assert getattr(error, "wait_s", None) == case.wait_s
    assert not key or key not in repr(error)
    assert error.__suppress_context__ or error.__context__ is None
    return error


async def _error_of(engine: SearchEngine, query: Query) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await engine(query, limit=5)
    assert str(caught.value).startswith(engine.name)
    return caught.value
