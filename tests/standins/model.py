"""A model behind an OpenAI-compatible server: `/v1/chat/completions` and `/v1/models`.

Does not know what to say: the test gives it a function from what was asked to a `Reply`.
Format: https://platform.openai.com/docs/api-reference/chat (see also the openai package's types).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from fathom.text.token_count import count_tokens
from standins.replies import Reply
from standins.server import Answer, Seen, StandIn, asked_again, json_answer, longest_chain, most_at_once

__all__ = ["Model", "ModelRequest", "Reply", "asked_again", "longest_chain", "most_at_once", "usage_of"]

Form = Literal["text", "json_object", "json_schema", "tool"]


@dataclass(frozen=True)
class ModelRequest:
    """What was asked; `number` counts from 0 in order of arrival."""

    body: Mapping[str, Any]
    headers: Mapping[str, str]
    number: int

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages as they were sent."""
        return list(self.body.get("messages", []))

    @property
    def model(self) -> str:
        """The model asked for."""
        return str(self.body.get("model", ""))

    @cached_property
    def text(self) -> str:
        """Everything that was said, in one piece."""
        return "\n".join(part for message in self.messages for part in _texts(message.get("content")))

    @cached_property
    def user_text(self) -> str:
        """What stands in the messages of the user."""
        mine = [message for message in self.messages if message.get("role") == "user"]
        return "\n".join(part for message in mine for part in _texts(message.get("content")))

    @property
    def is_streaming(self) -> bool:
        """Whether the answer is wanted in pieces."""
        return bool(self.body.get("stream"))

    @cached_property
    def tool(self) -> dict[str, Any] | None:
        """The function that must or may be called, if there is one."""
        choice = self.body.get("tool_choice")
        functions: list[dict[str, Any]] = [tool["function"] for tool in self.body.get("tools") or []]
        if choice == "none" or not functions:
            return None
        wanted = choice["function"]["name"] if isinstance(choice, dict) else functions[0]["name"]
        return next(function for function in functions if function["name"] == wanted)

    @property
    def form(self) -> Form:
        """Where the answer belongs."""
        if self.tool is not None:
            return "tool"
        kind = (self.body.get("response_format") or {}).get("type", "text")
        return "json_schema" if kind == "json_schema" else "json_object" if kind == "json_object" else "text"

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema asked for, either way."""
        if self.tool is not None:
            return dict(self.tool.get("parameters") or {})
        if self.form == "json_schema":
            return dict(self.body["response_format"]["json_schema"]["schema"])
        return None

    @property
    def schema_name(self) -> str | None:
        """The name of that schema."""
        if self.tool is not None:
            return str(self.tool["name"])
        if self.form == "json_schema":
            return str(self.body["response_format"]["json_schema"]["name"])
        return None


class Model(StandIn):
    """Answers chat completions with what `answer` says; `base_url` is what a client is given."""

    def __init__(
        self, answer: Callable[[ModelRequest], Reply], *, models: tuple[str, ...] = ("stand-in",)
    ) -> None:
        super().__init__()
        self._answer = answer
        self._models = models

    @property
    def base_url(self) -> str:
        """The address for `ChatOpenAI(base_url=…)`."""
        return f"{self.url}/v1"

    @property
    def calls(self) -> list[Seen]:
        """The requests for a completion, in order of arrival."""
        return [seen for seen in self.records if seen.route == "/v1/chat/completions"]

    @property
    def requests(self) -> list[ModelRequest]:
        """The same, as the answering function sees them."""
        return [ModelRequest(seen.json, seen.headers, n) for n, seen in enumerate(self.calls)]

    def answer_to(self, seen: Seen) -> Answer:
        """Completions, the list of models, or 404."""
        if seen.route == "/v1/models":
            models = [{"id": name, "object": "model", "owned_by": "tests"} for name in self._models]
            return json_answer({"object": "list", "data": models})
        if seen.route != "/v1/chat/completions" or not isinstance(seen.json, dict):
            return json_answer({"error": {"message": f"Invalid URL ({seen.method} {seen.path})"}}, 404)
        number = next(n for n, call in enumerate(self.calls) if call is seen)
        request = ModelRequest(seen.json, seen.headers, number)
        reply = self._answer(request)
        return replace(_answer(request, reply), delay_s=reply.delay_s, hangs=reply.hangs)


def _answer(request: ModelRequest, reply: Reply) -> Answer:
    headers = {"x-request-id": f"req_{request.number}", **reply.headers}
    if reply.raw is not None:
        return Answer(reply.status, {"content-type": "text/html", **headers}, reply.raw)
    if reply.error is not None:
        return json_answer({"error": reply.error}, reply.status, headers)
    message, finish_reason = _message(request, reply)
    usage = _usage(request, message)
    if reply.counted:
        usage |= {"prompt_tokens": reply.counted[0], "completion_tokens": reply.counted[1]}
    head = {"id": f"chatcmpl-{request.number}", "created": 1790000000, "model": request.model}
    if not request.is_streaming:
        choice = {"index": 0, "finish_reason": finish_reason, "logprobs": None, "message": message}
        whole = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
        return json_answer(whole, reply.status, headers)
    chunk = {**head, "object": "chat.completion.chunk"}
    pieces = [
        *(
            {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
            for delta in _deltas(message)
        ),
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}]},
        *([{**chunk, "choices": [], "usage": usage}] if _wants_usage(request) else []),
    ]
    events = [*(json.dumps(piece, ensure_ascii=False) for piece in pieces), "[DONE]"]
    wire = [f"data: {event}\n\n".encode() for event in events]
    return Answer(reply.status, {"content-type": "text/event-stream", **headers}, pieces=wire)


def _message(request: ModelRequest, reply: Reply) -> tuple[dict[str, Any], str]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    if reply.text is None and reply.refusal is None:
        said = json.dumps(reply.value, ensure_ascii=False)
        if request.tool is not None:
            call = {"name": request.tool["name"], "arguments": said}
            message["tool_calls"] = [{"id": f"call_{request.number}", "type": "function", "function": call}]
            return message, reply.finish_reason or "tool_calls"
        message["content"] = said
    return message, reply.finish_reason or "stop"


def _deltas(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    for index, call in enumerate(message.get("tool_calls", [])):
        said = call["function"]["arguments"]
        named = {**call, "index": index, "function": {"name": call["function"]["name"], "arguments": ""}}
        deltas.append({"tool_calls": [named]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": part}}]} for part in _parts(said)
        ]
    deltas += [{"content": part} for part in _parts(message["content"] or "")]
    deltas += [{"refusal": part} for part in _parts(message["refusal"] or "")]
    return deltas


def _parts(text: str, size: int = 40) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _wants_usage(request: ModelRequest) -> bool:
    return bool((request.body.get("stream_options") or {}).get("include_usage"))


def usage_of(request: ModelRequest, reply: Reply) -> tuple[int, int]:
    """The tokens in and out that the stand-in says a reply took."""
    told = _usage(request, _message(request, reply)[0])
    return told["prompt_tokens"], told["completion_tokens"]


def _usage(request: ModelRequest, message: Mapping[str, Any]) -> dict[str, Any]:
    tokens_in = count_tokens(f"{request.text}\n{json.dumps(request.schema or {})}")
    tokens_out = count_tokens(f"{message['content'] or ''}\n{json.dumps(message.get('tool_calls', []))}")
    return {
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def _texts(content: object) -> list[str]:
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    return [str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part]
