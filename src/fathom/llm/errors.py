"""Errors of model providers, turned into ours.

LangChain has vendor-neutral errors, and lets others through: SDK errors it has no class for, raw httpx and
aiohttp errors, `ollama.ResponseError`, and a bare TimeoutError. What is read from an error is its status, its
headers, its code and its words, wherever in the chain of causes they stand. Does not know money or retries.
"""

import re
import sys
from collections.abc import Iterator, Mapping
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

from fathom.budget.meter import NO_ANSWER_IN_TIME
from fathom.errors import ProviderError, Refused, Unavailable, Unreachable, Unreadable
from fathom.llm.clients import MAX_ANSWER_BYTES, AnswerTooLarge
from fathom.llm.rate_limiter import retry_wait_s

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
    """Whether a server's refusal says that more was sent than its model holds."""
    return code in ("context_length_exceeded", "exceed_context_size_error") or bool(_OVERFLOW.search(words))


def read_window_size(words: str) -> int | None:
    """The size of the window, if the refusal names it."""
    plain = words.replace(",", "")
    found = next((match for pattern in _WINDOW_SIZES if (match := pattern.search(plain))), None)
    return int(found.group(1)) if found else None


# What providers' packages raise, by module; only those of packages that are loaded can come.
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

_KEYS = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "google_genai": "GOOGLE_API_KEY or GEMINI_API_KEY",
}

# Of errors that come from no HTTP answer: a model in this process has none.
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
    """There is no answer in it that anybody could read."""


class NotSupported(Unreadable):
    """The server does not take this kind of request; another kind may do."""


class PromptTooLong(Unreadable):
    """More was sent than the model holds; `size` is its window, if the server said so."""

    def __init__(self, message: str, size: int | None) -> None:
        super().__init__(message)
        self.size = size


def provider_errors() -> tuple[type[Exception], ...]:
    """Return every exception that a call of a model may end with, for an `except` clause.

    The plain ones are what clients stumble over when an answer has not the promised shape; see
    `is_own_mistake` for those that are ours.
    """
    return (
        LangChainException,
        *_loaded_classes(_PROVIDER_ERRORS),
        TimeoutError,
        ConnectionError,
        *_SHAPE_ERRORS,
    )


def is_own_mistake(error: BaseException) -> bool:
    """Whether our own code stumbled, and not a client over an answer that has not the promised shape."""
    trace = error.__traceback__
    if isinstance(error, MalformedAnswer) or not isinstance(error, _SHAPE_ERRORS) or trace is None:
        return False
    while trace.tb_next:
        trace = trace.tb_next
    return str(trace.tb_frame.f_globals.get("__name__", "")).startswith("fathom.")


def is_surely_unbilled(error: BaseException) -> bool:
    """Whether it is sure that nobody worked for this request: it never left, or was answered with a no."""
    status = _status(error)
    if status is not None:
        return status not in NO_ANSWER_IN_TIME
    unsent: tuple[type[Exception], ...] = (ConnectionRefusedError, *_loaded_classes(_CONNECT_ERRORS))
    # Ollama's client says nothing but ConnectionError when nobody listens.
    return any(isinstance(one, unsent) or type(one) is ConnectionError for one in _chain(error))


@dataclass(frozen=True)
class ErrorTranslator:
    """Turns the errors of one model into ours; the model's key is in no message."""

    name: str
    server: str
    provider: str
    key: SecretStr | None = None

    def __call__(self, error: BaseException) -> ProviderError:
        """Return the error by who can do something about it."""
        status, said = _status(error), self._words(error)
        if status is None:
            return self._without_answer(error, said)
        return self._refused(error, status, said)

    @property
    def who(self) -> str:
        """The model and where it is, as messages name it."""
        return f"The model {self.name} at {self.server}"

    def _without_answer(self, error: BaseException, said: str) -> ProviderError:
        chain, who = list(_chain(error)), self.who
        if any(isinstance(one, AnswerTooLarge) for one in chain):
            told = f"it is longer than {MAX_ANSWER_BYTES:,} bytes"
            return Unreadable(f"The model {self.name} answered in no known format: {told}.")
        late: tuple[type[Exception], ...] = (
            TimeoutError,
            ModelTimeoutError,
            *_loaded_classes(_TIMEOUT_ERRORS),
        )
        if any(isinstance(one, late) for one in chain):
            return Unavailable(f"{who} did not answer in time.")
        lost: tuple[type[Exception], ...] = (
            ConnectionError,
            ModelConnectionError,
            *_loaded_classes(_CONNECTION_ERRORS),
        )
        if any(isinstance(one, lost) for one in chain):
            return Unreachable(f"{who} cannot be reached.")
        return Unreadable(f"The model {self.name} answered in no known format: {said}.")

    def _refused(self, error: BaseException, status: int, said: str) -> ProviderError:
        who, code = self.who, _code(error)
        if status == 429 and code == "insufficient_quota":
            return Refused(f"{who} says the quota is used up.")
        if status == 429:
            wait_s = _wait_s(error)
            return Unavailable(f"{who} is limiting requests (429).", wait_s=wait_s, status=status)
        if status == _UNPAID:
            return Refused(f"{who} says that the account is empty (402).")
        if status in {401, 403} or _BAD_KEY.search(said):
            return Refused(f"{who} refused the key: check {_KEYS.get(self.provider, 'the key')}.")
        if status == 404:
            return Refused(f"{who} is not there: check the model's name and the server's address.")
        if isinstance(error, ContextOverflowError) or status == _TOO_LARGE or is_overflow(said, code):
            return PromptTooLong(f"{who} was sent more than it holds ({said}).", read_window_size(said))
        if status >= 500 or status in {408, 409}:
            return Unavailable(f"{who} failed ({status}).", wait_s=_wait_s(error), status=status)
        return NotSupported(f"{who} did not take the request ({status}: {said}).")

    def _words(self, error: BaseException) -> str:
        """What went wrong in few words; a server that repeats the key must not make us repeat it."""
        bodies = (getattr(one, "body", None) for one in _chain(error))
        said = next((m for body in bodies if (m := _message_in(body))), None) or str(error)
        if not said and not isinstance(error, MalformedAnswer):
            said = type(error).__name__
        words = " ".join("".join(c if c.isprintable() else " " for c in said).split())
        if self.key and self.key.get_secret_value():
            words = words.replace(self.key.get_secret_value(), "***")
        return words[:160].rstrip(".")


def _message_in(body: object) -> str | None:
    """The words in an error's body: OpenAI's, or Anthropic's, which are one level deeper."""
    inner = body.get("error", body) if isinstance(body, dict) else None
    said = inner.get("message") if isinstance(inner, dict) else None
    return said if isinstance(said, str) else None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


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
    """How long the provider asks to wait: in its headers, or, as Google does, in the body."""
    for one in _chain(error):
        headers: Any = getattr(getattr(one, "response", None), "headers", None)
        if isinstance(headers, Mapping):
            found = retry_wait_s({str(name).lower(): str(value) for name, value in headers.items()})
            if found is not None:
                return found
    told = _RETRY_DELAY.search(str(error))
    return float(told[1]) if told else None


def _loaded_classes(names: Mapping[str, tuple[str, ...]]) -> tuple[type[Exception], ...]:
    """The exceptions of these names in those modules that are loaded."""
    found = [
        getattr(sys.modules[m], n, None) for m, all_of in names.items() if m in sys.modules for n in all_of
    ]
    return tuple(kind for kind in found if kind is not None)
