"""Models behind the wire formats of Anthropic, Google and Ollama.

Does not know what to say: the test gives a function from what was asked to a `Reply`. Formats:
https://docs.anthropic.com/en/api/messages, https://ai.google.dev/api/generate-content and
https://docs.ollama.com/api/chat.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from standins.replies import Reply
from standins.server import Answer, Seen, StandIn, json_answer

TOKENS_IN, TOKENS_OUT, CACHED, THOUGHT = 500, 20, 100, 5
Wire = dict[str, Any]


@dataclass(frozen=True)
class VendorRequest:
    """What was asked, whatever the vendor: `number` counts from 0 in order of arrival."""

    body: Mapping[str, Any]
    headers: Mapping[str, str]
    number: int
    tool: str | None
    schema: Mapping[str, Any] | None
    limit: int | None
    is_streaming: bool


class Vendor(StandIn):
    """Answers one vendor's calls with what `answer` says."""

    route = ""

    def __init__(self, answer: Callable[[VendorRequest], Reply]) -> None:
        super().__init__()
        self._answer = answer

    @property
    def calls(self) -> list[Seen]:
        """The requests to the model, in order of arrival."""
        return [seen for seen in self.records if self.route in seen.path]

    @property
    def requests(self) -> list[VendorRequest]:
        """The same, as the answering function sees them."""
        return [self.asked(seen, n) for n, seen in enumerate(self.calls)]

    def answer_to(self, seen: Seen) -> Answer:
        """An answer of the model, or 404."""
        if self.route not in seen.path:
            return json_answer({"error": "not found"}, 404)
        request = self.asked(seen, next(n for n, call in enumerate(self.calls) if call is seen))
        reply = self._answer(request)
        if reply.raw is not None:
            made = Answer(reply.status, {"content-type": "application/json", **reply.headers}, reply.raw)
        elif reply.error is not None:
            made = json_answer(self.error(reply), reply.status, reply.headers)
        else:
            made = self.completed(request, reply)
        return replace(made, delay_s=reply.delay_s, hangs=reply.hangs)

    def asked(self, seen: Seen, number: int) -> VendorRequest:
        """The request in the words of all vendors."""
        raise NotImplementedError

    def completed(self, request: VendorRequest, reply: Reply) -> Answer:
        """The reply in the vendor's words."""
        raise NotImplementedError

    def error(self, reply: Reply) -> Wire:
        """The error in the vendor's words."""
        raise NotImplementedError


def _words(reply: Reply) -> str:
    return reply.text if reply.text is not None else json.dumps(reply.value)


def _events(pieces: list[tuple[str, Wire]]) -> Answer:
    """Server-sent events, with names where the vendor has them."""
    wire = [
        f"{f'event: {name}' + chr(10) if name else ''}data: {json.dumps(piece)}\n\n" for name, piece in pieces
    ]
    return Answer(200, {"content-type": "text/event-stream"}, pieces=[piece.encode() for piece in wire])


class Anthropic(Vendor):
    """`/v1/messages`."""

    route = "/v1/messages"

    def asked(self, seen: Seen, number: int) -> VendorRequest:
        """The request in the words of all vendors."""
        body = seen.json
        schema = ((body.get("output_config") or {}).get("format") or {}).get("schema")
        tool = (body.get("tool_choice") or {}).get("name")
        return VendorRequest(
            body, seen.headers, number, tool, schema, body.get("max_tokens"), bool(body.get("stream"))
        )

    def completed(self, request: VendorRequest, reply: Reply) -> Answer:
        """A message, whole or in events."""
        block: Wire = {"type": "text", "text": _words(reply)}
        reason = {"length": "max_tokens"}.get(reply.finish_reason or "", "end_turn")
        if request.tool and reply.text is None:
            block, reason = (
                {"type": "tool_use", "id": "toolu_1", "name": request.tool, "input": reply.value},
                "tool_use",
            )
        content = [block]
        if reply.refusal is not None:
            content, reason = [], "refusal"
        fresh = TOKENS_IN - CACHED
        usage = {"input_tokens": fresh, "cache_read_input_tokens": CACHED, "cache_creation_input_tokens": 0}
        message = {
            "id": f"msg_{request.number}", "type": "message", "role": "assistant", "content": content,
            "model": request.body["model"], "stop_reason": reason, "stop_sequence": None,
            "usage": {**usage, "output_tokens": TOKENS_OUT},
        }  # fmt: skip
        if not request.is_streaming:
            return json_answer(message, 200, reply.headers)
        started = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
        pieces: list[tuple[str, Wire]] = [("message_start", {"message": started})]
        for index, one in enumerate(content):
            is_text = one["type"] == "text"
            empty = {"type": "text", "text": ""} if is_text else {**one, "input": {}}
            said = one["text"] if is_text else json.dumps(one["input"])
            kind = ("text_delta", "text") if is_text else ("input_json_delta", "partial_json")
            pieces.append(("content_block_start", {"index": index, "content_block": empty}))
            pieces += [
                ("content_block_delta", {"index": index, "delta": {"type": kind[0], kind[1]: part}})
                for part in (said[:10], said[10:])
            ]
            pieces.append(("content_block_stop", {"index": index}))
        ended = {
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {**usage, "output_tokens": TOKENS_OUT},
        }
        pieces += [("message_delta", ended), ("message_stop", {})]
        return _events([(name, {"type": name, **piece}) for name, piece in pieces])

    def error(self, reply: Reply) -> Wire:
        """An error object, one level deeper than OpenAI's."""
        error = reply.error or {}
        return {"type": "error", "error": {"type": error["type"], "message": error["message"]}}


class Google(Vendor):
    """`/v1beta/models/NAME:generateContent`."""

    route = "enerateContent"

    def asked(self, seen: Seen, number: int) -> VendorRequest:
        """The request in the words of all vendors."""
        body, config = seen.json, seen.json.get("generationConfig") or {}
        named = ((body.get("toolConfig") or {}).get("functionCallingConfig") or {}).get(
            "allowedFunctionNames"
        )
        schema = config.get("responseJsonSchema") or config.get("responseSchema")
        limit, is_streaming = config.get("maxOutputTokens"), "streamGenerateContent" in seen.path
        return VendorRequest(
            body, seen.headers, number, named[0] if named else None, schema, limit, is_streaming
        )

    def completed(self, request: VendorRequest, reply: Reply) -> Answer:
        """A candidate, whole or in events."""
        usage = {
            "promptTokenCount": TOKENS_IN, "candidatesTokenCount": TOKENS_OUT - THOUGHT,
            "thoughtsTokenCount": THOUGHT, "cachedContentTokenCount": CACHED,
            "totalTokenCount": TOKENS_IN + TOKENS_OUT,
        }  # fmt: skip
        reason = {"length": "MAX_TOKENS"}.get(reply.finish_reason or "", "STOP")
        parts: list[Wire] = [{"text": _words(reply)}]
        if request.tool and reply.text is None:
            parts = [{"functionCall": {"name": request.tool, "args": reply.value}}]
        if reply.refusal is not None:
            parts, reason = [], "SAFETY"

        def piece(parts: list[Wire], ended: Wire) -> Wire:
            candidate = {"content": {"role": "model", "parts": parts}, "index": 0, **ended}
            return {"candidates": [candidate], "modelVersion": "gemini", "usageMetadata": usage}

        if not request.is_streaming:
            return json_answer(piece(parts, {"finishReason": reason}), 200, reply.headers)
        if parts and "text" in parts[0]:
            said = parts[0]["text"]
            first, parts = [{"text": said[:10]}], [{"text": said[10:]}]
            return _events([("", piece(first, {})), ("", piece(parts, {"finishReason": reason}))])
        return _events([("", piece(parts, {"finishReason": reason}))])

    def error(self, reply: Reply) -> Wire:
        """An error with a status in words; how long to wait stands in its details."""
        error, wait_s = reply.error or {}, reply.headers.get("retry-after")
        names = {
            429: "RESOURCE_EXHAUSTED",
            400: "INVALID_ARGUMENT",
            404: "NOT_FOUND",
            403: "PERMISSION_DENIED",
        }
        details = (
            [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{wait_s}s"}]
            if wait_s
            else []
        )
        status = names.get(reply.status, "INTERNAL")
        return {
            "error": {"code": reply.status, "message": error["message"], "status": status, "details": details}
        }


class Ollama(Vendor):
    """`/api/chat`, which answers in lines."""

    route = "/api/chat"

    def asked(self, seen: Seen, number: int) -> VendorRequest:
        """The request in the words of all vendors; a tool can be offered, and not be demanded."""
        body = seen.json
        tools, schema = body.get("tools") or [], body.get("format")
        name = tools[0]["function"]["name"] if tools else None
        limit = (body.get("options") or {}).get("num_predict")
        is_streaming = bool(body.get("stream", True))
        return VendorRequest(
            body,
            seen.headers,
            number,
            name,
            schema if isinstance(schema, dict) else None,
            limit,
            is_streaming,
        )

    def completed(self, request: VendorRequest, reply: Reply) -> Answer:
        """Lines of JSON; the last one has the counts."""
        reason = "length" if reply.finish_reason == "length" else "stop"
        said = "" if reply.refusal is not None else _words(reply)
        messages: list[Wire] = [{"content": said[:10]}, {"content": said[10:]}]
        if request.tool and reply.text is None and reply.refusal is None:
            call = {"function": {"name": request.tool, "arguments": reply.value}}
            messages = [{"content": "", "tool_calls": [call]}]
        head = {"model": request.body["model"], "created_at": "2026-01-01T00:00:00Z"}
        lines = [{**head, "message": {"role": "assistant", **one}, "done": False} for one in messages]
        counts = {"prompt_eval_count": TOKENS_IN, "eval_count": TOKENS_OUT, "total_duration": 1}
        last = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": reason}
        wire = [json.dumps(line).encode() + b"\n" for line in [*lines, {**head, **last, **counts}]]
        return Answer(200, {"content-type": "application/x-ndjson"}, pieces=wire)

    def error(self, reply: Reply) -> Wire:
        """An error is a string."""
        return {"error": (reply.error or {})["message"]}
