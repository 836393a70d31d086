"""Turns with a model that fit its window before they are sent, and once more when the window proves smaller.

Does not know forms. What was cut is told; a server that cuts prompts off without a word is found out.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import add
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from fathom.errors import ProviderError
from fathom.llm.chat import Chat, TooLong
from fathom.llm.sheets import Fitted, Sheet, TooSmall
from fathom.llm.window import Window
from fathom.prompts import Filled
from fathom.state import Cost, Failure, Role
from fathom.text.tokencount import measured

_AROUND = 48  # what a server's template puts before and after all messages
_A_MESSAGE = 8


@dataclass(frozen=True)
class Way:
    """How the same is asked: what comes after the prompt, and what the server is told beside it."""

    after: Sequence[BaseMessage] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    share: float = 1.0  # of the evidence

    @cached_property
    def beside(self) -> str:
        """What a server may count or not: a schema is part of some prompts only."""
        return json.dumps(self.options, ensure_ascii=False) if self.options else ""


@dataclass
class Told:
    """What a step has cost and lost so far, whatever becomes of it."""

    costs: list[Cost] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


@dataclass(frozen=True)
class Said:
    """The model's words, and which of the evidence they are about."""

    text: str
    kept: Mapping[str, int]


async def say(
    chat: Chat, window: Window, role: Role, sheet: Sheet | Filled, way: Way, told: Told, rung: str
) -> Said:
    """One turn; made again, once and smaller, when the model turns out to hold less than was thought."""
    before = await window.known()
    silent: Failure | None = None
    for is_last in (False, True):
        size = window.size or 0
        fitted = _fitted(chat, window, sheet, way)
        messages = [SystemMessage(fitted.prompt.system), HumanMessage(fitted.prompt.user), *way.after]
        texts = [str(message.content) for message in messages]
        sent = reduce(add, map(measured, texts))
        try:
            reply = await chat.say(role, messages, _options(window, way))
        except ProviderError as error:
            told.costs += error.costs
            error.costs = []
            if is_last or not isinstance(error, TooLong):
                raise
            window.lower(error.size if error.size and error.size < size else int(0.8 * size))
            continue
        told.costs.append(reply.cost.model_copy(update={"rung": rung}))
        seen = reply.cost.tokens_in
        if silent and window.is_short(sent, seen):  # this time nothing can have been cut off
            told.failures.remove(silent)
            window.distrust(before)
        elif window.is_cut(sent, seen):
            silent = _silent(chat, seen, sum(map(window.count, texts)))
            told.failures.append(silent)
            window.lower(seen)
            if not is_last:
                continue
        else:
            window.learn(sent, seen, way.beside)
            await window.keep()
        if set(fitted.cut) - {getattr(sheet, "batched", "")}:
            told.failures.append(_cut(chat, role, window, size))
        return Said(reply.text, fitted.kept)
    raise AssertionError("the second turn is the last")


def _fitted(chat: Chat, window: Window, sheet: Sheet | Filled, way: Way) -> Fitted:
    """The prompt in the room that is left beside everything else that is sent."""
    others = [*(str(message.content) for message in way.after), *filter(None, [way.beside])]
    beside = sum(window.count(words) + _A_MESSAGE for words in others) + _AROUND + 2 * _A_MESSAGE
    room = window.room() - beside
    if isinstance(sheet, Filled):
        if window.count(sheet.system) + window.count(sheet.user) <= room:
            return Fitted(sheet)
        raise TooSmall(f"The window of {chat.name} ({window.size:,} tokens) does not hold {sheet.id}.")
    try:
        return sheet.within(room, window.count, way.share)
    except TooSmall as error:
        told = f"The window of {chat.name} ({window.size:,} tokens) is too small: {error}."
        raise TooSmall(told) from error


def _options(window: Window, way: Way) -> dict[str, Any]:
    limit = window.answer()
    return {**way.options, **({"max_completion_tokens": limit} if limit < window.most_answer else {})}


def _cut(chat: Chat, role: Role, window: Window, size: int) -> Failure:
    known = ", as an earlier run found out" if window.is_recalled else ""
    why = f"The window of {chat.name} holds {window.size:,} tokens{known}."
    if size < (window.size or size):
        why = f"The window of {chat.name} was taken for {size:,} tokens."
    return Failure(where="context", what=f"the least relevant evidence for the step {role}", why=why)


def _silent(chat: Chat, seen: int, sent: int) -> Failure:
    told = f"The server of {chat.name} took in {seen:,} of about {sent:,} tokens without a word"
    why = f"{told}: raise its window, or name its size with --context."
    return Failure(where="context", what="prompts cut off by the server", why=why)
