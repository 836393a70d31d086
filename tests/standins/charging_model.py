"""A model that charges: it does its work, keeps to the length it was allowed, and counts what it earned.

Does not know budgets. What it says it used, and what it charges for, is what a provider would.
"""

import json
import threading
from collections.abc import Callable

from standins.model import ModelRequest, usage_of
from standins.replies import Reply
from standins.working_model import researcher

MILLION = 1_000_000


class Cashier:
    """Answers with `answer`, at USD a million tokens in and out; `small` is the price of a second model."""

    def __init__(
        self,
        usd_in: float,
        usd_out: float,
        answer: Callable[[ModelRequest], Reply] = researcher,
        small: tuple[float, float] | None = None,
    ) -> None:
        self._usd = {"stand-in": (usd_in, usd_out), **({"small": small} if small else {})}
        self._answer = answer
        self._lock = threading.Lock()
        self.billed_usd = 0.0
        self.answers = 0

    @property
    def prices(self) -> str:
        """Its prices as a person would write them down."""
        lines = [f"[models.{name}]\ninput = {i}\noutput = {o}\n" for name, (i, o) in self._usd.items()]
        return "\n".join(lines)

    def __call__(self, request: ModelRequest) -> Reply:
        """The work, billed as soon as it is done: whoever hangs up pays too."""
        reply = self._within(self._answer(request), request)
        if reply.status == 200:
            usd = self._worth(request, reply)
            with self._lock:
                self.billed_usd += usd
                self.answers += 1
        return reply

    def _within(self, reply: Reply, request: ModelRequest) -> Reply:
        most = int(request.body.get("max_completion_tokens") or 16_384)
        if reply.status != 200 or usage_of(request, reply)[1] <= most:
            return reply
        said = reply.text if reply.text is not None else json.dumps(reply.value, ensure_ascii=False)
        return Reply.cut(said[:most]).after(reply.delay_s)

    def _worth(self, request: ModelRequest, reply: Reply) -> float:
        tokens_in, tokens_out = usage_of(request, reply)
        usd_in, usd_out = self._usd[request.model]
        return (tokens_in * usd_in + tokens_out * usd_out) / MILLION
