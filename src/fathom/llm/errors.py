"""Translate errors of model providers into `fathom.errors`.

LangChain wraps only some errors; SDK errors, raw httpx and aiohttp errors, `ollama.ResponseError` and a bare
TimeoutError come through. Status, headers, code and message are searched in the whole chain of causes.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.exceptions import (
    ContextOverflowError,
    LangChainException,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelInvalidRequestError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
    ModelRateLimitError,
    ModelTimeoutError,
)
from pydantic import SecretStr

from fathom.budget import NO_ANSWER_IN_TIME
from fathom.errors import ProviderError, Refused, Unavailable, Unreachable, Unreadable
from fathom.llm.clients import MAX_ANSWER_BYTES, AnswerTooLarge
from fathom.llm.rate_limiter import retry_wait_s
from fathom.settings.model_names import provider_facts

_OVERFLOW = re.compile(
    r"context[ _](?:length|size|window)|maximum context|prompt is too long|too many tokens"
    r"|input token count|reduce the length of the (?:messages|prompt|input)",
    re.IGNORECASE,
)

_WINDOW_SIZES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"maximum context length (?:is|of) (\d+)",
        r"context (?:size|length|window)[^\d]{0,20}\((\d+)",
        r"context (?:length|size|window) of (?:only )?(\d+)",
        r"> (\d+) maximum",
        r"allowed \((\d+)\)",
        r"with (\d+) maximum context",
        r"\"?n_ctx\"?\D{1,4}(\d+)",
    )
]


def is_overflow(words: str, code: object = None) -> bool:
    """Tell whether a refusal says that the prompt exceeds the model's window."""
    return code in ("context_length_exceeded", "exceed_context_size_error") or bool(_OVERFLOW.search(words))


def read_window_size(words: str) -> int | None:
    """Return the window size that a refusal names, if any."""
    plain = words.replace(",", "")
    found = next((match for pattern in _WINDOW_SIZES if (match := pattern.search(plain))), None)
    return int(found.group(1)) if found else None


# Exceptions of provider packages by module; only loaded packages can raise.
_PROVIDER_ERRORS = {
    "openai": ("OpenAIError",),
    "anthropic": ("AnthropicError",),
    "google.genai.errors": ("APIError",),
    "ollama": ("ResponseError", "RequestError"),
    "aiohttp": ("ClientError",),
    "httpx": ("HTTPError", "StreamError"),
    "httpx2": ("HTTPError", "StreamError"),
}

_TIMEOUT_ERRORS = {
    "openai": ("APITimeoutError",),
    "anthropic": ("APITimeoutError",),
    "httpx": ("TimeoutException",),
    "httpx2": ("TimeoutException",),
}

_CONNECT_ERRORS = {
    "httpx": ("ConnectError", "ConnectTimeout", "PoolTimeout"),
    "httpx2": ("ConnectError", "ConnectTimeout", "PoolTimeout"),
    "aiohttp": ("ClientConnectorError", "ConnectionTimeoutError"),
}

_CONNECTION_ERRORS = {
    "openai": ("APIConnectionError",),
    "anthropic": ("APIConnectionError",),
    "aiohttp": ("ClientConnectionError", "ClientPayloadError"),
    "httpx": ("TransportError",),
    "httpx2": ("TransportError",),
}

# Statuses for errors without an HTTP response, as of a model in this process.
_STATUSES: dict[type[Exception], int] = {
    ModelAuthenticationError: 401,
    ModelPermissionDeniedError: 403,
    ModelNotFoundError: 404,
    ModelRateLimitError: 429,
    ModelInvalidRequestError: 400,
    ContextOverflowError: 400,
    ModelAPIError: 500,
}

_RETRY_DELAY = re.compile(r"retryDelay\W{1,6}(\d+(?:\.\d+)?)s")
_BAD_KEY = re.compile(r"API_KEY_INVALID|API key not valid", re.IGNORECASE)
_TOO_LARGE = 413
_SHAPE_ERRORS = (ValueError, TypeError, LookupError, AttributeError)
_UNPAID = 402


class MalformedAnswer(ValueError):
    """The answer cannot be parsed."""


class NotSupported(Unreadable):
    """The server does not support this kind of request; another kind may work."""


class PromptTooLong(Unreadable):
    """The prompt exceeds the model's window; `size` is the window if the server named it."""

    def __init__(self, message: str, size: int | None) -> None:
        super().__init__(message)
        self.size = size


def provider_errors() -> tuple[type[Exception], ...]:
    """Return every exception that a model call may raise, for an `except` clause.

    This includes builtin ones that clients raise on a malformed answer; `is_own_mistake` tells our own bugs
    from those.
    """
    return (
        LangChainException,
        *_loaded_classes(_PROVIDER_ERRORS),
        TimeoutError,
        ConnectionError,
        *_SHAPE_ERRORS,
    )


def is_own_mistake(error: BaseException) -> bool:
    """Tell whether our own code failed, rather than a client on a malformed answer."""
    trace = error.__traceback__
    if isinstance(error, MalformedAnswer) or not isinstance(error, _SHAPE_ERRORS) or trace is None:
        return False
    while trace.tb_next:
        trace = trace.tb_next
    return str(trace.tb_frame.f_globals.get("__name__", "")).startswith("fathom.")


def is_surely_unbilled(error: BaseException) -> bool:
    """Tell whether the request was surely not billed: it was never sent, or was refused."""
    status = _status(error)
    if status is not None:
        return status not in NO_ANSWER_IN_TIME
    # Ollama's client raises a bare ConnectionError when nothing listens.
    is_bare = any(type(one) is ConnectionError for one in _chain(error))
    return is_bare or _is_caused_by(error, [ConnectionRefusedError], _CONNECT_ERRORS)


@dataclass(frozen=True)
class ErrorTranslator:
    """Translates the errors of one model; messages never contain its key."""

    name: str
    server: str
    provider: str
    key: SecretStr | None = None

    def __call__(self, error: BaseException) -> ProviderError:
        """Return our error for this one, by who can act on it."""
        status, said = _status(error), self._words(error)
        if status is None:
            return self._translate_no_answer(error, said)
        return self._translate_refusal(error, status, said)

    @property
    def who(self) -> str:
        """Return the model and its server for messages."""
        return f"The model {self.name} at {self.server}"

    def _translate_no_answer(self, error: BaseException, said: str) -> ProviderError:
        if _is_caused_by(error, [AnswerTooLarge]):
            reason = f"it is longer than {MAX_ANSWER_BYTES:,} bytes"
            return Unreadable(f"The model {self.name} answered in no known format: {reason}.")
        if _is_caused_by(error, [TimeoutError, ModelTimeoutError], _TIMEOUT_ERRORS):
            return Unavailable(f"{self.who} did not answer in time.")
        if _is_caused_by(error, [ConnectionError, ModelConnectionError], _CONNECTION_ERRORS):
            return Unreachable(f"{self.who} cannot be reached.")
        return Unreadable(f"The model {self.name} answered in no known format: {said}.")

    def _translate_refusal(self, error: BaseException, status: int, said: str) -> ProviderError:
        who, code = self.who, _code(error)
        if status == 429 and code == "insufficient_quota":
            return Refused(f"{who} says the quota is used up.")
        if status == 429:
            wait_s = _wait_s(error)
            return Unavailable(f"{who} is limiting requests (429).", wait_s=wait_s, status=status)
        if status == _UNPAID:
            return Refused(f"{who} says that the account is empty (402).")
        if status in {401, 403} or _BAD_KEY.search(said):
            key = provider_facts(self.provider).key_words or "the key"
            return Refused(f"{who} refused the key: check {key}.")
        if status == 404:
            return Refused(f"{who} is not there: check the model's name and the server's address.")
        if isinstance(error, ContextOverflowError) or status == _TOO_LARGE or is_overflow(said, code):
            return PromptTooLong(f"{who} was sent more than it holds ({said}).", read_window_size(said))
        if status >= 500 or status in {408, 409}:
            return Unavailable(f"{who} failed ({status}).", wait_s=_wait_s(error), status=status)
        return NotSupported(f"{who} did not take the request ({status}: {said}).")

    def _words(self, error: BaseException) -> str:
        """Return the error in a few words, with the key removed if the server repeats it."""
        bodies = (getattr(one, "body", None) for one in _chain(error))
        said = next((m for body in bodies if (m := _message_in(body))), None) or str(error)
        if not said and not isinstance(error, MalformedAnswer):
            said = type(error).__name__
        words = " ".join("".join(c if c.isprintable() else " " for c in said).split())
        if self.key and self.key.get_secret_value():
            words = words.replace(self.key.get_secret_value(), "***")
        return words[:160].rstrip(".")


def _message_in(body: object) -> str | None:
    """Return the message of an error body: OpenAI's, or Anthropic's one level deeper."""
    inner = body.get("error", body) if isinstance(body, dict) else None
    said = inner.get("message") if isinstance(inner, dict) else None
    return said if isinstance(said, str) else None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _is_caused_by(
    error: BaseException, kinds: Sequence[type[Exception]], names: Mapping[str, Sequence[str]] | None = None
) -> bool:
    """Tell whether one of these exceptions, or of those of provider packages, is in the chain of causes."""
    known = (*kinds, *_loaded_classes(names or {}))
    return any(isinstance(one, known) for one in _chain(error))


def _status(error: BaseException) -> int | None:
    for one in _chain(error):
        for name in ("status_code", "code", "status"):
            value = getattr(one, name, None)
            if isinstance(value, int) and not isinstance(value, bool) and 300 <= value < 1000:
                return value
    return next((status for kind, status in _STATUSES.items() if isinstance(error, kind)), None)


def _code(error: BaseException) -> object:
    return next((c for one in _chain(error) if isinstance(c := getattr(one, "code", None), str)), None)


def _wait_s(error: BaseException) -> float | None:
    """Return how long the provider asks to wait: from its headers or, for Google, from the body."""
    for one in _chain(error):
        headers: Any = getattr(getattr(one, "response", None), "headers", None)
        if isinstance(headers, Mapping):
            found = retry_wait_s({str(name).lower(): str(value) for name, value in headers.items()})
            if found is not None:
                return found
    match = _RETRY_DELAY.search(str(error))
    return float(match[1]) if match else None


def _loaded_classes(names: Mapping[str, Sequence[str]]) -> tuple[type[Exception], ...]:
    """Return the exceptions of these names from loaded modules."""
    found = [
        getattr(sys.modules[m], n, None) for m, all_of in names.items() if m in sys.modules for n in all_of
    ]
    return tuple(kind for kind in found if kind is not None)
