"""Requests in the openai client's envelope: byte for byte, and error for error, what it does itself."""

import asyncio
import itertools
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import openai
import pytest
from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout
from standins.rough import Heard, Rough, in_each_loop, plain, saying
from standins.server import closed_port

from fathom.lanes import Lanes
from fathom.llm.completions import Completions, Envelope

pytestmark = pytest.mark.wire
BODY: dict[str, Any] = {
    "model": "m",
    "stream": False,
    "messages": [{"role": "user", "content": 'Grüße, 日本, \u2028 and "quotes"'}],
    "max_completion_tokens": 7,
}
MORE = {"response_format": {"type": "json_schema", "json_schema": {"name": "X", "schema": {}}}}
GOOD = plain(b'{"choices": []}', Content_Type="application/json", Set_Cookie="seat=7; Path=/")


@asynccontextmanager
async def asking(url: str, **given: Any) -> AsyncIterator[Completions]:
    """The short way, as the product has it."""
    lanes = Lanes(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    async with DefaultAsyncHttpxClient(mounts={"all://*": lanes}) as http:
        client = AsyncOpenAI(
            api_key="sk-mine", base_url=f"{url}/v1", max_retries=0, http_client=http,
            **{"timeout": Timeout(5, connect=1), **given},
        )  # fmt: skip
        yield Completions(client, http, await Envelope.of(client))


async def long_way(short: Completions) -> httpx2.Response:
    """What the openai client itself does."""
    return await short.client.post(
        "/chat/completions", cast_to=httpx2.Response, body={**BODY, **MORE},
        options={"security": {"bearer_auth": True}},
    )  # fmt: skip


async def short_way(short: Completions) -> httpx2.Response:
    answer = await short.create(extra_body=MORE, **BODY)
    found: httpx2.Response = answer.http_response
    return found


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"organization": "o", "project": "p"},
        {"default_headers": {"X-Mine": "1", "User-Agent": "me"}, "default_query": {"api-version": "2"}},
        {"timeout": 3.0},
        {"timeout": None},
    ],
)
async def test_every_request_is_the_same_on_the_wire(given: dict[str, Any]) -> None:
    async with Rough(saying(GOOD)) as server, asking(server.url, **given) as short:
        for ask in (short_way, long_way, short_way, long_way):
            assert (await ask(short)).json() == {"choices": []}
        first, *later = [(heard.line, heard.headers, heard.body) for heard in server.heard]
        assert later[0] == later[1] == later[2] == (first[0], first[1] | {"cookie": "seat=7"}, first[2])
        assert json.loads(first[2]) == {**BODY, **MORE}
        assert first[1]["authorization"] == "Bearer sk-mine"


SAID = [
    b'{"error": {"message": "slow down", "code": "rate", "type": "t", "param": "p"}}',
    b'{"error": {"message": "", "code": 7}}',
    b'{"error": "only words"}',
    b'{"message": "no error"}',
    b'{"detail": [1]}',
    b"[1, 2]",
    b'"words"',
    b"<html>Bad gateway</html>",
    b"",
    b"  \n",
    b"\xff\xfe",
    b"[" * 3_000,
]
STATUSES = [
    204,
    300,
    302,
    400,
    401,
    402,
    403,
    404,
    408,
    409,
    413,
    422,
    429,
    451,
    500,
    502,
    503,
    504,
    529,
    599,
]


async def told(asked: Any) -> tuple[object, ...]:
    try:
        answer = await asked
    except openai.APIStatusError as error:
        code = error.status_code, error.code, error.type, error.param, error.request_id
        return type(error), str(error), error.body, *code, error.response.headers["x-request-id"]
    except openai.APIConnectionError as error:
        return type(error), str(error), type(error.__cause__), str(error.__cause__)
    return answer.status_code, answer.content


@pytest.mark.parametrize("status", STATUSES)
async def test_every_refusal_is_the_same_error(status: int) -> None:
    async with Rough(saying(GOOD)) as server, asking(server.url) as short:
        for said in SAID if status not in {204, 300, 599} else SAID[:1]:
            body = b"" if status == 204 else said
            server.act = saying(plain(body, f"{status} So", X_Request_Id="r1", Retry_After="2"))
            assert await told(short_way(short)) == await told(long_way(short))


@in_each_loop
async def test_every_failure_of_the_connection_is_the_same_error() -> None:
    failures = [
        saying(b"", hangs_up=True),
        saying(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", hangs_up=True),
        saying(b"nonsense\r\n\r\n", hangs_up=True),
        saying(plain(b"no gzip", Content_Encoding="gzip")),
        saying(b""),
        saying(b"HTTP/1.1 200 OK\r\n"),
    ]
    async with Rough(saying(GOOD)) as server, asking(server.url, timeout=0.2) as short:
        for server.act in failures:
            short_told, long_told = await told(short_way(short)), await told(long_way(short))
            assert short_told == long_told
            assert issubclass(short_told[0], openai.APIConnectionError)  # type: ignore[arg-type]


async def test_nobody_there_is_the_same_error() -> None:
    async with asking(f"http://127.0.0.1:{closed_port()}") as gone:
        short_told, long_told = await told(short_way(gone)), await told(long_way(gone))
        assert short_told == long_told
        assert short_told[2] is httpx2.ConnectError


async def test_who_is_sent_elsewhere_once_still_asks_where_it_was_told_to() -> None:
    turns = itertools.count()

    async def moved(_: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(GOOD if next(turns) else plain(b"", "307 Elsewhere", Location="/elsewhere"))

    async with Rough(moved) as server, asking(server.url) as short:
        for _ in range(2):
            assert (await short_way(short)).json() == {"choices": []}
        lines = [heard.line.split()[1] for heard in server.heard]
        assert lines == ["/v1/chat/completions", "/elsewhere", "/v1/chat/completions"]


async def test_a_number_that_is_none_is_refused_as_the_openai_client_does() -> None:
    async with Rough(saying(GOOD)) as server, asking(server.url) as short:
        with pytest.raises(ValueError, match="not JSON compliant"):
            await short.create(**BODY, temperature=float("nan"))
        with pytest.raises(UnicodeEncodeError):
            await short.create(**BODY, user="\ud800")
        assert not server.heard
