"""A chat client that reads any server's answer, also one that a model put where only its thinking belongs.

What it would not say is kept too, for those who watch. Does not know forms. vLLM, llama.cpp and others send a
reasoning model's answer as `reasoning_content`, with nothing in `content`, when it never stopped thinking or
was held to a schema; langchain-openai drops it.
"""

from typing import Any

import openai
from langchain_core.callbacks import AsyncCallbackManager, AsyncCallbackManagerForLLMRun
from langchain_core.globals import get_llm_cache
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatResult
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_openai import ChatOpenAI

from fathom.llm.bodies import Misshapen, sound
from fathom.llm.completions import Completions
from fathom.llm.parsing import replace_lone_surrogates

_FIELDS = ("reasoning_content", "reasoning")


class Outspoken(ChatOpenAI):
    """The same, with the thinking as the answer where there is no other."""

    async def ainvoke(
        self,
        input: LanguageModelInput,  # noqa: A002  LangChain's
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AIMessage:
        """One answer; where nobody watches calls, or keeps answers, nothing is prepared for them."""
        callbacks = ensure_config(config).get("callbacks")
        watching = AsyncCallbackManager.configure(callbacks, self.callbacks, self.verbose)
        if watching.handlers or get_llm_cache() or self.streaming or not isinstance(input, list):
            return await super().ainvoke(input, config, stop=stop, **kwargs)
        result = await self._agenerate(input, stop, **kwargs)
        found = result.generations[0]
        assert isinstance(found.message, AIMessage)
        told = {**(result.llm_output or {}), **(found.generation_info or {})}
        found.message.response_metadata = {**told, **found.message.response_metadata}
        return found.message

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        """What was answered, read right here: langchain-openai reads it in a thread, which costs more."""
        payload = self._get_request_payload(messages, stop=stop, **kwargs)
        is_plain = isinstance(self.async_client, Completions) and "response_format" not in payload
        if not is_plain or self._use_responses_api(payload):
            return await super()._agenerate(messages, stop, run_manager, **kwargs)
        answer = await self.async_client.create(**payload)
        beside = {"headers": dict(answer.headers)} if self.include_response_headers else {}
        return self._create_chat_result(answer.parse(), beside)

    def _create_chat_result(
        self, response: dict[str, Any] | openai.BaseModel, generation_info: dict[str, Any] | None = None
    ) -> ChatResult:
        """What was answered; Misshapen when that cannot be read, whatever the library makes of it."""
        raw = sound(response.model_dump() if isinstance(response, openai.BaseModel) else response)
        try:
            result = super()._create_chat_result(raw, generation_info)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise Misshapen(str(error)) from error
        for found, choice in zip(result.generations, raw["choices"], strict=True):
            message = found.message
            message.additional_kwargs.setdefault("refusal", choice["message"].get("refusal"))
            has_said = message.content or (isinstance(message, AIMessage) and message.tool_calls)
            said = next((s for f in _FIELDS if isinstance(s := choice["message"].get(f), str)), "")
            if said and not has_said:
                message.content = replace_lone_surrogates(said)
        return result
