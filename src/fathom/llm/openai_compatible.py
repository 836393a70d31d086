"""A chat model for every OpenAI-compatible server, tolerant of malformed responses.

langchain-openai assumes OpenAI's exact response shape and fails with arbitrary errors otherwise. It also
drops `reasoning_content`, where vLLM, llama.cpp and others put the whole answer of a reasoning model that was
held to a schema. https://platform.openai.com/docs/api-reference/chat/object
"""

import json
import math
from typing import Any

import openai
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI

from fathom.llm.answer_parsing import replace_lone_surrogates
from fathom.llm.errors import MalformedAnswer

REASONING = "reasoning_content"  # langchain-ollama uses the same key
_FIELDS = (REASONING, "reasoning")
_MOST_TOKENS = 100_000_000  # more than any model accepts: a larger number counts something else
_SHOWN_CHARS = 80


class CompatibleChatOpenAI(ChatOpenAI):
    """ChatOpenAI that reads any server's answer and keeps its reasoning."""

    def _create_chat_result(
        self, response: dict[str, Any] | openai.BaseModel, generation_info: dict[str, Any] | None = None
    ) -> ChatResult:
        """Return the answer; raise MalformedAnswer if it cannot be read."""
        raw = normalize_completion(
            response.model_dump(warnings=False) if isinstance(response, openai.BaseModel) else response
        )
        try:
            result = super()._create_chat_result(raw, generation_info)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise MalformedAnswer(str(error)) from error
        for found, choice in zip(result.generations, raw["choices"], strict=True):
            found.message.additional_kwargs.setdefault("refusal", choice["message"].get("refusal"))
            _keep_reasoning(found.message, choice["message"])
        return result

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        """Return a chunk of a stream, with the model's reasoning."""
        found = super()._convert_chunk_to_generation_chunk(chunk, default_chunk_class, base_generation_info)
        choices = chunk.get("choices")
        if found and choices and isinstance(delta := choices[0].get("delta"), dict):
            _keep_reasoning(found.message, delta)
        return found


def _keep_reasoning(message: Any, said: dict[str, Any]) -> None:
    reasoning = next((s for name in _FIELDS if isinstance(s := said.get(name), str) and s), "")
    if reasoning and isinstance(message, AIMessage):
        message.additional_kwargs[REASONING] = replace_lone_surrogates(reasoning)


def normalize_completion(body: Any) -> dict[str, Any]:
    """Return the completion in OpenAI's shape; raise MalformedAnswer if it is none.

    The role is always assistant. Invalid token counts are left out.
    """
    if not isinstance(body, dict):
        raise MalformedAnswer(
            f"it is no object but {_shorten_body(body) if isinstance(body, str) else type(body).__name__}"
        )
    if error := body.get("error"):
        raise MalformedAnswer(str(error.get("message", error) if isinstance(error, dict) else error))
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        raise MalformedAnswer("it has no choices")
    choice = choices[0]
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        raise MalformedAnswer("its choice has no message")
    message = _message(choice["message"])
    return {**body, "choices": [{**choice, "message": message}], "usage": _usage(body.get("usage"))}


def _shorten_body(words: str) -> str:
    """Return the first whole words: a key cut in half would not be recognized and hidden."""
    return repr(words if len(words) <= _SHOWN_CHARS else words[:_SHOWN_CHARS].rpartition(" ")[0])


def _message(said: dict[str, Any]) -> dict[str, Any]:
    calls, words = _calls(said.get("tool_calls"))
    known = {name: said[name] for name in ("name", "id") if isinstance(said.get(name), str)}
    others = {n: v for n, v in said.items() if n not in {"name", "id", "function_call", "audio"}}
    content = replace_lone_surrogates("\n".join(filter(None, [_text(said.get("content")), *words])))
    return {**others, **known, "role": "assistant", "content": content, "tool_calls": calls}


def _text(content: Any) -> str:
    """Return the text of an answer: a string, or the text among its parts."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        return json.dumps(content, ensure_ascii=False)
    texts = [part.get("text") if isinstance(part, dict) else part for part in content]
    return "".join(text for text in texts if isinstance(text, str))


def _calls(said: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """Return tool calls with object arguments, and the text of all others."""
    calls: list[dict[str, Any]] = []
    words: list[str] = []
    for call in said if isinstance(said, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict):
            continue
        given = function.get("arguments")
        arguments = given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)
        if arguments.lstrip().startswith("{"):
            named = {"name": str(function.get("name") or ""), "arguments": replace_lone_surrogates(arguments)}
            calls.append({"id": str(call.get("id") or ""), "type": "function", "function": named})
        else:
            words.append(arguments)
    return calls, words


def _usage(said: Any) -> dict[str, Any] | None:
    """Return the server's token counts; None if they are missing or invalid."""
    if not isinstance(said, dict):
        return None
    tokens_in, tokens_out = _count(said.get("prompt_tokens")), _count(said.get("completion_tokens"))
    if tokens_in is None or tokens_out is None:
        return None
    details = said.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else None
    return {
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
        "prompt_tokens_details": {"cached_tokens": min(cached, tokens_in) if cached else None},
    }


def _count(value: Any) -> int | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return math.ceil(value) if is_number and 0 <= value <= _MOST_TOKENS else None
