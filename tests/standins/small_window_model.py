"""A model with a small window: it refuses what does not fit, or cuts it off without a word.

Does not know what to say; that is the researcher's. Tokens are counted with a real vocabulary.
"""

import re
from dataclasses import replace
from typing import Any

from standins.model import Model, ModelRequest
from standins.replies import Reply
from standins.server import Answer, Seen, json_answer
from standins.vocabulary import small_count
from standins.working_model import researcher

_A_MESSAGE = 6  # what the model's template puts around each


class Narrow(Model):
    """Holds `window` tokens, prompt and answer together."""

    def __init__(self, window: int, *, is_telling: bool, is_silent: bool = False) -> None:
        super().__init__(self._said)
        self.window = window
        self.is_telling = is_telling
        self.is_silent = is_silent
        self.overflows: list[int] = []
        self.most = 0

    def answer_to(self, seen: Seen) -> Answer:
        """A refusal in vLLM's words, or an answer that says how much was taken in."""
        if seen.route == "/v1/models":
            entry: dict[str, Any] = {"id": "narrow", "object": "model", "owned_by": "vllm"}
            size = {"max_model_len": self.window} if self.is_telling else {}
            return json_answer({"object": "list", "data": [{**entry, **size}]})
        if seen.route != "/v1/chat/completions":
            return super().answer_to(seen)
        sent, room = _sizes(ModelRequest(seen.json, seen.headers, 0))
        if sent + room > self.window:
            self.overflows.append(sent)
            if not self.is_silent:
                said = f"This model's maximum context length is {self.window} tokens. You requested {sent}."
                error = {"message": said, "type": "BadRequestError", "param": None, "code": 400}
                return json_answer({"error": error}, 400)
        else:
            self.most = max(self.most, sent + room)
        answer = super().answer_to(seen)
        tokens = min(sent, self.window)
        if answer.pieces:
            return replace(answer, pieces=[_with_usage(piece, tokens) for piece in answer.pieces])
        return replace(answer, body=_with_usage(answer.body, tokens))

    def _said(self, request: ModelRequest) -> Reply:
        """Without its instructions the model babbles."""
        if _sizes(request)[0] > self.window:
            return Reply.say("What was it that you wanted of me?")
        return researcher(request)


def _with_usage(body: bytes, tokens: int) -> bytes:
    """An answer, or a piece of a streamed one, that says that so many tokens were taken in."""
    return re.sub(rb'("prompt_tokens": ?)\d+', rb"\g<1>%d" % tokens, body)


def _sizes(request: ModelRequest) -> tuple[int, int]:
    """What the small model makes of all it is sent, a schema left out, and what it may answer."""
    sent = sum(small_count(str(m.get("content") or "")) + _A_MESSAGE for m in request.messages) + 4
    return sent, int(request.body.get("max_completion_tokens") or 0)
