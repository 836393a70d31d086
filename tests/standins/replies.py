"""What a stand-in model does with one request: words, a value, or one of the known failures.

Does not know where the request asked for the value to be put.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self


@dataclass(frozen=True)
class Reply:
    """What the model does with one request; made with `say`, `give` or one of the failures."""

    text: str | None = None
    value: object = None
    status: int = 200
    error: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    refusal: str | None = None
    reasoning: str | None = None
    finish_reason: str | None = None
    delay_s: float = 0.0
    hangs: bool = False
    counted: tuple[int, int] | None = None  # tokens in and out that it says it took, whatever it took

    def counting(self, tokens_in: int, tokens_out: int) -> Self:
        """The same from a server that says it took so many tokens."""
        return replace(self, counted=(tokens_in, tokens_out))

    @classmethod
    def say(cls, text: str) -> Self:
        """Plain words, put into the content whatever was asked for."""
        return cls(text=text)

    @classmethod
    def give(cls, value: object) -> Self:
        """A JSON value, put where it was asked for: content, or arguments of the tool call."""
        return cls(value=value)

    @classmethod
    def refuse(cls, words: str = "I can't help with that.") -> Self:
        """The model declines, in the field made for it."""
        return cls(refusal=words)

    @classmethod
    def think(cls, reasoning: str, text: str = "") -> Self:
        """Thoughts in the field made for them, and perhaps an answer."""
        return cls(text=text, reasoning=reasoning)

    @classmethod
    def cut(cls, text: str) -> Self:
        """The answer ran into the limit of tokens."""
        return cls(text=text, finish_reason="length")

    @classmethod
    def unsupported_format(cls, message: str = "This response_format type is unavailable now") -> Self:
        """A server that knows no `json_schema`, in DeepSeek's words; langchain-openai warns at OpenAI's."""
        return cls._failed(400, message, "invalid_request_error", None, "response_format")

    @classmethod
    def too_long(cls) -> Self:
        """More was sent than the model can hold."""
        said = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001."
        return cls._failed(400, said, "invalid_request_error", "context_length_exceeded", "messages")

    @classmethod
    def wrong_key(cls) -> Self:
        """The key is not valid; OpenAI's message shows it masked."""
        said = "Incorrect API key provided: sk-***cret."
        return cls._failed(401, said, "invalid_request_error", "invalid_api_key")

    @classmethod
    def no_such_model(cls, name: str = "gpt-none") -> Self:
        """The model is not there."""
        said = f"The model `{name}` does not exist or you do not have access to it."
        return cls._failed(404, said, "invalid_request_error", "model_not_found")

    @classmethod
    def too_fast(cls, wait_s: float | None = 1.0) -> Self:
        """The rate limit, with or without `retry-after`."""
        reply = cls._failed(429, "Rate limit reached for requests.", "requests", "rate_limit_exceeded")
        if wait_s is None:
            return reply
        waits = {"retry-after": f"{wait_s:g}", "retry-after-ms": f"{wait_s * 1000:.0f}"}
        return replace(reply, headers=waits)

    @classmethod
    def out_of_quota(cls) -> Self:
        """A 429 that no waiting helps against."""
        said = "You exceeded your current quota, please check your plan and billing details."
        return cls._failed(429, said, "insufficient_quota", "insufficient_quota")

    @classmethod
    def broken(cls, status: int = 500) -> Self:
        """The server's own fault."""
        said = "The server had an error while processing your request."
        return cls._failed(status, said, "server_error", None)

    @classmethod
    def garbage(cls, raw: bytes = b"<html><body>502 Bad Gateway</body></html>", status: int = 200) -> Self:
        """Bytes that are not JSON."""
        return cls(raw=raw, status=status)

    @classmethod
    def hang(cls) -> Self:
        """No answer until the caller gives up or the stand-in is closed."""
        return cls(hangs=True)

    @classmethod
    def _failed(
        cls, status: int, message: str, kind: str, code: str | None, param: str | None = None
    ) -> Self:
        error = {"message": message, "type": kind, "param": param, "code": code}
        return cls(status=status, error=error)

    def after(self, delay_s: float) -> Self:
        """The same, a while later."""
        return replace(self, delay_s=delay_s)
