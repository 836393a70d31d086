"""A LangChain chat model for a GGUF file, run by llama.cpp in this process, through xllamacpp.

Options use OpenAI's names: `response_format`, `tools`, `max_tokens`, `temperature`, `seed`, `stop`. All runs
share one loaded model per file.

xllamacpp opens a listening server with every model. It is bound to a socket file in a private folder that is
removed as soon as the model is loaded, so that nobody can connect; without socket files it listens on
loopback with a random key. Requests bypass it.
"""

import asyncio
import importlib
import json
import queue
import secrets
import socket
import struct
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAPIError,
    ModelError,
    ModelInvalidRequestError,
)
from langchain_core.language_models import LanguageModelInput
from langchain_core.language_models.chat_models import (
    BaseChatModel,
    agenerate_from_stream,
    generate_from_stream,
)
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, convert_to_openai_messages
from langchain_core.messages.ai import InputTokenDetails, UsageMetadata
from langchain_core.messages.tool import ToolCallChunk
from langchain_core.output_parsers import JsonOutputParser, PydanticOutputParser
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableMap, RunnablePassthrough
from langchain_core.utils.function_calling import convert_to_json_schema, convert_to_openai_tool
from pydantic import BaseModel

from fathom.errors import BadInput

# A large model's own window may need more memory than the machine has; `n_ctx` asks for more.
_USUAL_CTX = 16_384
_OVERFLOW = "exceed_context_size_error"
_BAD_REQUEST = 400
_MAGIC = b"GGUF"
_MAX_HEADER_STRING = 1 << 20
_STRING, _ARRAY = 8, 9
# struct formats of the header's other types, by their numbers
_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_engines: dict["GGUFEngineSettings", "GGUFEngine"] = {}
_engines_lock = threading.Lock()


@dataclass(frozen=True)
class GGUFEngineSettings:
    """Settings of a loaded model; runs with the same settings share one."""

    path: Path
    n_ctx: int
    n_threads: int | None = None


@dataclass
class GGUFEngine:
    """A model that is loaded on first use. It answers one call at a time; the others queue."""

    settings: GGUFEngineSettings

    @cached_property
    def executor(self) -> ThreadPoolExecutor:
        """Return the thread that requests run in."""
        return ThreadPoolExecutor(1, thread_name_prefix="gguf")

    @cached_property
    def server(self) -> Any:
        """Return the loaded model; loading blocks, so only the executor's thread may ask for it."""
        return _load(self.settings)


def shared_engine(settings: GGUFEngineSettings) -> GGUFEngine:
    """Return the process's engine with these settings."""
    with _engines_lock:
        return _engines.setdefault(settings, GGUFEngine(settings))


def import_xllamacpp() -> Any:
    """Import the package; raise BadInput if it is not installed."""
    try:
        return importlib.import_module("xllamacpp")
    except ImportError:
        raise BadInput(
            "To use a GGUF file, install Fathom with the extra [local]: pip install 'fathom-research[local]'"
        ) from None


def read_context_length(path: Path) -> int | None:
    """Return the context window a GGUF file was trained with; raise BadInput if it is no GGUF file."""
    try:
        with path.open("rb") as file:
            if file.read(4) != _MAGIC:
                raise BadInput(f"{path} is not a GGUF file.")
            return _find_context_length(file)
    except FileNotFoundError:
        raise BadInput(f"There is no model file {path}.") from None
    except OSError as error:
        raise BadInput(f"The model file {path} cannot be read: {error.strerror}.") from None
    except (struct.error, ValueError, KeyError):
        raise BadInput(f"{path} is not a sound GGUF file: its header cannot be read.") from None


def _find_context_length(file: BinaryIO) -> int | None:
    """Read the header's pairs up to `ARCHITECTURE.context_length`, which comes before the long lists."""
    _, _, pairs = _unpack(file, "IQQ")
    for _ in range(pairs):
        name = _read_string(file)
        (kind,) = _unpack(file, "I")
        value = _read_value(file, kind)
        if name.endswith(".context_length") and isinstance(value, int):
            return value
    return None


def _read_value(file: BinaryIO, kind: int) -> object:
    if kind == _STRING:
        return _read_string(file)
    if kind == _ARRAY:
        inner, count = _unpack(file, "IQ")
        for _ in range(count):
            _read_value(file, inner)
        return None
    return _unpack(file, _FORMATS[kind])[0]


def _read_string(file: BinaryIO) -> str:
    (size,) = _unpack(file, "Q")
    if size > _MAX_HEADER_STRING:
        raise ValueError("the header holds an endless string")
    return file.read(size).decode("utf-8", "replace")


def _unpack(file: BinaryIO, kinds: str) -> tuple[Any, ...]:
    layout = struct.Struct(f"<{kinds}")
    return layout.unpack(file.read(layout.size))


def _load(settings: GGUFEngineSettings) -> Any:
    xllamacpp = import_xllamacpp()
    params = xllamacpp.CommonParams()
    params.model.path = str(settings.path)
    params.model_alias = {settings.path.name}
    params.n_ctx = settings.n_ctx
    params.n_parallel = 1
    params.verbosity = -1  # its log would be written over our own output
    params.ui = False
    params.endpoint_slots = False
    params.api_keys = [secrets.token_urlsafe(32)]
    params.cors_origins = ""
    if settings.n_threads is not None:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings.n_threads
    with tempfile.TemporaryDirectory(prefix="fathom-") as folder:  # only its owner may enter
        if hasattr(socket, "AF_UNIX"):
            params.hostnames = [str(Path(folder) / "llama.sock")]
        try:
            return xllamacpp.Server(params)
        except RuntimeError as error:
            raise BadInput(f"llama.cpp cannot load the model {settings.path}: {error}") from None


class GGUFChatModel(BaseChatModel):
    """A model file in this process; `profile["max_input_tokens"]` is its context window."""

    model: str
    engine: GGUFEngineSettings
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None

    @property
    def _llm_type(self) -> str:
        return "gguf"

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        return {"model": self.model, "temperature": self.temperature, "max_tokens": self.max_tokens}

    def bind_tools(
        self,
        tools: Sequence[Any],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools; llama.cpp can only require any tool, so a required tool is offered alone."""
        offered = [convert_to_openai_tool(tool) for tool in tools]
        named = [tool for tool in offered if tool["function"]["name"] == tool_choice]
        choice = "required" if named or tool_choice == "any" else tool_choice
        return super().bind(tools=named or offered, **({"tool_choice": choice} if choice else {}), **kwargs)

    def with_structured_output(
        self, schema: dict[str, Any] | type, *, include_raw: bool = False, **kwargs: Any
    ) -> Runnable[LanguageModelInput, dict[str, Any] | BaseModel]:
        """Return answers of a schema, which llama.cpp enforces by a grammar."""
        wire = convert_to_json_schema(schema)
        named = {"name": wire.get("title", "answer"), "schema": wire, "strict": True}
        asked = self.bind(response_format={"type": "json_schema", "json_schema": named}, **kwargs)
        is_form = isinstance(schema, type) and issubclass(schema, BaseModel)
        parser: Runnable[Any, Any] = (
            PydanticOutputParser(pydantic_object=schema) if is_form else JsonOutputParser()
        )
        if not include_raw:
            return asked | parser
        parsed = RunnablePassthrough.assign(parsed=itemgetter("raw") | parser, parsing_error=lambda _: None)
        failed = RunnablePassthrough.assign(parsed=lambda _: None)
        return RunnableMap(raw=asked) | parsed.with_fallbacks([failed], exception_key="parsing_error")

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return generate_from_stream(self._stream(messages, stop, run_manager, **kwargs))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return await agenerate_from_stream(self._astream(messages, stop, run_manager, **kwargs))

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        events: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        cancelled = threading.Event()
        request = self._start(self._body(messages, stop, kwargs), events.put, cancelled)
        try:
            while (event := events.get()) is not None:
                chunk = _read_chunk(event)
                if run_manager:
                    run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                yield chunk
            _raise_failure(request)
        finally:
            cancelled.set()
            request.cancel()

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        events: asyncio.Queue[str | None] = asyncio.Queue()
        cancelled = threading.Event()
        loop = asyncio.get_running_loop()

        def put(event: str | None) -> None:
            if not cancelled.is_set():
                try:
                    loop.call_soon_threadsafe(events.put_nowait, event)
                except RuntimeError:  # the loop is closed
                    cancelled.set()

        request = self._start(self._body(messages, stop, kwargs), put, cancelled)
        try:
            while (event := await events.get()) is not None:
                chunk = _read_chunk(event)
                if run_manager:
                    await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                yield chunk
            _raise_failure(request)
        finally:
            cancelled.set()  # llama.cpp stops at its next token
            request.cancel()  # a queued request never starts

    def _body(
        self, messages: list[BaseMessage], stop: list[str] | None, kwargs: Mapping[str, Any]
    ) -> dict[str, Any]:
        usual = {
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "stop": stop,
        }
        body = {name: value for name, value in {**usual, **kwargs}.items() if value is not None}
        if (limit := body.pop("max_completion_tokens", None)) is not None:
            body["max_tokens"] = limit
        request = {"messages": convert_to_openai_messages(messages), "model": self.model}
        return {**body, **request, "stream": True, "stream_options": {"include_usage": True}}

    def _start(
        self, body: dict[str, Any], put: Callable[[str | None], None], cancelled: threading.Event
    ) -> Future[None]:
        """Start a request in the engine's threads; `put` gets every event, and None at the end."""
        engine = shared_engine(self.engine)

        def on_event(event: str) -> bool:
            put(event)
            return cancelled.is_set()

        def run() -> None:
            try:
                engine.server.handle_chat_completions(json.dumps(body), on_event)
            finally:
                put(None)

        return engine.executor.submit(run)


def make_gguf_model(
    path: Path, *, n_ctx: int | None = None, n_threads: int | None = None, **settings: Any
) -> GGUFChatModel:
    """Return the chat model of a GGUF file; BadInput, in one sentence, if it cannot be used.

    The file is loaded with the first call. `n_ctx` and `n_threads` are llama.cpp's, all others the chat
    model's.
    """
    found = path.expanduser().resolve()
    trained = read_context_length(found)
    import_xllamacpp()
    window = n_ctx or min(trained or _USUAL_CTX, _USUAL_CTX)
    engine = GGUFEngineSettings(found, window, n_threads)
    profile = {"max_input_tokens": window, "structured_output": True}
    return GGUFChatModel(model=found.name, engine=engine, profile=profile, **settings)


def _raise_failure(request: Future[None]) -> None:
    """Raise a request's failure as LangChain's exceptions."""
    try:
        request.result()
    except ValueError as error:  # llama.cpp's error for a request it does not understand
        raise ModelInvalidRequestError(f"llama.cpp refused the request: {error}") from error
    except RuntimeError as error:
        if isinstance(error, BadInput):
            raise
        raise ModelAPIError(f"llama.cpp failed: {error}") from error


def _read_chunk(event: str) -> ChatGenerationChunk:
    said = json.loads(event)
    if "error" in said:
        raise _error(said["error"])
    choice: dict[str, Any] = next(iter(said["choices"]), {})
    delta = choice.get("delta", {})
    thoughts = delta.get("reasoning_content")
    reason = choice.get("finish_reason")
    calls = [_tool_call(call) for call in delta.get("tool_calls") or []]
    message = AIMessageChunk(
        content=delta.get("content") or "",
        tool_call_chunks=calls,
        additional_kwargs={"reasoning_content": thoughts} if thoughts else {},
        response_metadata={"finish_reason": reason, "model_name": said["model"]} if reason else {},
        usage_metadata=_usage(said["usage"]) if said.get("usage") else None,
    )
    return ChatGenerationChunk(message=message, generation_info={"finish_reason": reason} if reason else None)


def _tool_call(call: Mapping[str, Any]) -> ToolCallChunk:
    function = call.get("function", {})
    return ToolCallChunk(
        name=function.get("name"),
        args=function.get("arguments"),
        id=call.get("id"),
        index=call.get("index"),
        type="tool_call_chunk",
    )


def _usage(counts: Mapping[str, Any]) -> UsageMetadata:
    cached = counts.get("prompt_tokens_details", {}).get("cached_tokens", 0)
    return UsageMetadata(
        input_tokens=counts["prompt_tokens"],
        output_tokens=counts["completion_tokens"],
        total_tokens=counts["total_tokens"],
        input_token_details=InputTokenDetails(cache_read=cached),
    )


def _error(body: Mapping[str, Any]) -> ModelError:
    words = str(body.get("message", body))
    if body.get("type") == _OVERFLOW:
        return ContextOverflowError(words)
    if body.get("code") == _BAD_REQUEST:
        return ModelInvalidRequestError(words)
    return ModelAPIError(words)
