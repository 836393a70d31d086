"""A chat client that keeps what a model said when it put all of it where only its thinking belongs.

What it would not say is kept too, for those who watch. Does not know forms. vLLM, llama.cpp and others send a
reasoning model's answer as `reasoning_content`, with nothing in `content`, when it never stopped thinking or
was held to a schema; langchain-openai drops it.
"""

from typing import Any

import openai
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatResult
from langchain_openai import ChatOpenAI

_FIELDS = ("reasoning_content", "reasoning")


class Outspoken(ChatOpenAI):
    """The same, with the thinking as the answer where there is no other."""

    def _create_chat_result(
        self, response: dict[str, Any] | openai.BaseModel, generation_info: dict[str, Any] | None = None
    ) -> ChatResult:
        result = super()._create_chat_result(response, generation_info)
        raw = response if isinstance(response, dict) else response.model_dump()
        for found, choice in zip(result.generations, raw.get("choices") or [], strict=False):
            message = found.message
            message.additional_kwargs.setdefault("refusal", choice["message"].get("refusal"))
            has_said = message.content or (isinstance(message, AIMessage) and message.tool_calls)
            said = next((s for f in _FIELDS if isinstance(s := choice["message"].get(f), str)), "")
            if said and not has_said:
                message.content = said
        return result
