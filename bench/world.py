"""A model, a search engine and a web on loopback, in a process of their own, so that their work is not ours.

The model charges and delays, the engine delays, the pages do not. Every document has a host of its own. What
was asked is remembered with its times, and told at `/told`. A model is asked by schema, by tool call or in
words; what it does not take it refuses as servers do.
"""

import asyncio
import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

from brain import asked_for, filled
from library import Doc

_HITS = 20
_JSON = "application/json"
_EVENTS = "text/event-stream"


@dataclass(frozen=True)
class Manners:
    """How long an answer takes, after how many rounds the judge has enough, and how a model can be asked."""

    model_s: float = 1.0
    search_s: float = 0.3
    rounds: int = 1
    takes: Sequence[str] = ("schema", "tool", "words")
    full_after_s: float = float("inf")  # after the first call, the model says 429 …
    full_s: float = 0.0  # … for so long
    host: str = "127.0.0.1"  # where model and engine are
    pages: str = "127.1"  # the first half of the addresses of documents


@dataclass(frozen=True)
class Told:
    """One request: by whom, of which kind, when, and how many tokens."""

    who: str
    kind: str
    began: float
    ended: float
    tokens_in: int = 0
    tokens_out: int = 0


class World:
    """Started with `with`; gone when the block ends."""

    def __init__(self, docs: Sequence[Doc], manners: Manners) -> None:
        self._host = manners.host
        self._given = json.dumps({"docs": [asdict(doc) for doc in docs], "manners": asdict(manners)})

    def __enter__(self) -> Self:
        command = [sys.executable, str(Path(__file__).resolve()), "serve"]
        self._process = subprocess.Popen(  # noqa: S603 - this very file
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(self._given + "\n")
        self._process.stdin.flush()
        self.port = int(self._process.stdout.readline())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()

    @property
    def url(self) -> str:
        """Where the engine is, and the model under /v1."""
        return f"http://{self._host}:{self.port}"

    def told(self) -> list[Told]:
        """All that was asked so far."""
        with urlopen(f"{self.url}/told") as answer:  # noqa: S310 - our own process
            return [Told(**row) for row in json.load(answer)]


class _Server:
    def __init__(self, docs: Sequence[Doc], manners: Manners) -> None:
        self.docs, self.manners = docs, manners
        self.words = [Counter(re.findall(r"\w+", f"{d.title} {d.text}".lower())) for d in docs]
        self.told: list[Told] = []
        self.judged: Counter[str] = Counter()
        self.port = 0
        self.first_call: float | None = None

    async def serve(self) -> None:
        server = await asyncio.start_server(self._connected, "0.0.0.0", 0, backlog=1000)  # noqa: S104 - 127/8
        self.port = server.sockets[0].getsockname()[1]
        print(self.port, flush=True)
        await server.serve_forever()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                headers = await self._headers(reader)
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                status, kind, answer = await self._answered(line.decode().split(" ")[1], headers, body)
                head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(answer)}\r\n\r\n"
                writer.write(head.encode() + answer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the caller is gone
        finally:
            writer.close()

    async def _headers(self, reader: asyncio.StreamReader) -> dict[str, str]:
        headers = {}
        while (line := (await reader.readline()).decode("latin-1").strip()) != "":
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        return headers

    async def _answered(self, path: str, headers: dict[str, str], body: bytes) -> tuple[str, str, bytes]:
        began = time.monotonic()
        parts = urlsplit(path)
        if parts.path == "/v1/chat/completions":
            request = json.loads(body)
            way, form = asked_for(request)
            if self._is_full(began):
                self.told.append(Told("", "full", began, began))
                return "429 Too Many Requests", _JSON, _refusal("Rate limit reached for requests.")
            if not form or way not in self.manners.takes:
                return "400 Bad Request", _JSON, _refusal(f"this model cannot be asked by {way}")
            kind = _EVENTS if request.get("stream") else _JSON
            return "200 OK", kind, await self._completed(headers, request, way, form, began)
        if parts.path == "/search":
            await asyncio.sleep(self.manners.search_s)
            found = self._found(parse_qs(parts.query)["q"][0])
            self.told.append(Told("", "search", began, time.monotonic()))
            return "200 OK", _JSON, json.dumps({"results": found}).encode()
        if parts.path == "/told":
            return "200 OK", _JSON, json.dumps([asdict(told) for told in self.told]).encode()
        if parts.path.startswith("/page/"):
            self.told.append(Told("", "page", began, began))
            return "200 OK", "text/html; charset=utf-8", _page(self.docs[int(parts.path[6:])]).encode()
        return "200 OK", "text/plain", b""  # robots.txt, and the list of models, which may be empty

    def _is_full(self, now: float) -> bool:
        if self.first_call is None:
            self.first_call = now
        since = now - self.first_call
        return self.manners.full_after_s <= since < self.manners.full_after_s + self.manners.full_s

    async def _completed(
        self, headers: dict[str, str], request: dict[str, Any], way: str, form: str, began: float
    ) -> bytes:
        asked = "\n".join(str(message["content"]) for message in request["messages"])
        who = headers.get("authorization", "").removeprefix("Bearer ")
        self.judged[who] += form == "JudgeAnswer"
        is_satisfied = self.judged[who] >= self.manners.rounds
        said = json.dumps(filled(form, asked, is_satisfied), ensure_ascii=False)
        beside = request.get("tools") or request.get("response_format") or ""
        tokens_in = (len(asked) + len(json.dumps(beside))) // 4
        tokens_out = len(said) // 4
        await asyncio.sleep(self.manners.model_s - (time.monotonic() - began))
        self.told.append(Told(who, form, began, time.monotonic(), tokens_in, tokens_out))
        usage = {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        }
        choice: dict[str, Any] = {"index": 0, "finish_reason": "stop", "logprobs": None}
        head = {"id": "c", "created": 1, "model": request["model"]}
        message = _message(way, form, said)
        if request.get("stream"):
            return _streamed({**head, "object": "chat.completion.chunk"}, choice, message, usage)
        whole = {**head, "object": "chat.completion", "choices": [{**choice, "message": message}]}
        return json.dumps({**whole, "usage": usage}).encode()

    def _found(self, query: str) -> list[dict[str, str]]:
        """The documents that share most words with the query, rare words first."""
        wanted = set(re.findall(r"\w+", query.lower()))
        rarity = {w: 1 / (1 + sum(w in words for words in self.words)) for w in wanted}
        scores = [sum(rarity[w] for w in wanted if w in words) for words in self.words]
        best = sorted(range(len(self.docs)), key=lambda n: -scores[n])[:_HITS]
        return [
            {
                "url": f"http://{self.manners.pages}.{n // 250 + 128}.{n % 250 + 1}:{self.port}/page/{n}",
                "title": self.docs[n].title,
                "content": self.docs[n].text[:200],
            }
            for n in best
            if scores[n] > 0
        ]


def _message(way: str, form: str, said: str) -> dict[str, Any]:
    if way != "tool":
        return {"role": "assistant", "content": said, "refusal": None}
    call = {"id": "t", "type": "function", "function": {"name": form, "arguments": said}}
    return {"role": "assistant", "content": None, "refusal": None, "tool_calls": [call]}


def _streamed(
    head: dict[str, Any], choice: dict[str, Any], message: dict[str, Any], usage: dict[str, int]
) -> bytes:
    """The answer as server-sent events: the message in one piece, then what it took."""
    calls = [{"index": 0, **call} for call in message.get("tool_calls", [])]
    delta = {**message, "tool_calls": calls} if calls else message
    pieces = [
        {**head, "choices": [{**choice, "delta": delta, "finish_reason": None}]},
        {**head, "choices": [{**choice, "delta": {}}]},
        {**head, "choices": [], "usage": usage},
    ]
    return b"".join(f"data: {json.dumps(piece)}\n\n".encode() for piece in pieces) + b"data: [DONE]\n\n"


def _refusal(why: str) -> bytes:
    error = {"message": why, "type": "invalid_request_error", "param": None, "code": None}
    return json.dumps({"error": error}).encode()


def _page(doc: Doc) -> str:
    paragraphs = "".join(f"<p>{escape(part)}</p>" for part in doc.text.split("\n\n"))
    title = escape(doc.title)
    return f"<html><title>{title}</title><main><h1>{title}</h1>{paragraphs}</main></html>"


if __name__ == "__main__":
    given = json.loads(sys.stdin.readline())
    asyncio.run(_Server([Doc(**row) for row in given["docs"]], Manners(**given["manners"])).serve())
