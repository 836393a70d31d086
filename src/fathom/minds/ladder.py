"""A filled form from any model: by schema, by tool call, by plain words, and by one repair.

Does not know what the forms are for. A rung that a server does not offer is not tried on it again.
"""

import json
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel

from fathom.errors import ProviderError, Unreadable
from fathom.minds.chat import Chat, NotSupported
from fathom.minds.parsing import NotAForm, parsed, without_thinking
from fathom.prompts import Filled
from fathom.spend.purse import Purse
from fathom.state import Charge, Role

F = TypeVar("F", bound=BaseModel)
Rung = Literal["schema", "tool", "words"]


@dataclass
class Ladder:
    """One model and the rungs its server offers."""

    chat: Chat
    _absent: set[Rung] = field(default_factory=set)

    def within(self, purse: Purse) -> "Ladder":
        """The same, paying from this purse; what its server does not offer stays known to both."""
        return replace(self, chat=self.chat.within(purse))

    async def ask(self, role: Role, prompt: Filled, form: type[F]) -> tuple[F, list[Charge]]:
        """The filled form and what it cost; Unreadable when no rung gave one."""
        charges: list[Charge] = []
        messages: list[BaseMessage] = [SystemMessage(prompt.system), HumanMessage(prompt.user)]
        wrong, said = "no kind of request is taken by the server", ""
        refused: set[Rung] = set()
        try:
            for rung in ("schema", "tool", "words"):
                if rung in self._absent:
                    continue
                try:
                    asked = [*messages, _plainly(form)] if rung == "words" else messages
                    said = await self._say(role, asked, _options(rung, form), charges)
                    # Only now is it known that it was the rung, and not the question, that was refused.
                    self._absent |= refused
                    return parsed(said, form), charges
                except NotSupported as error:
                    wrong = str(error)
                    refused.add(rung)
                except (NotAForm, Unreadable) as error:
                    wrong = str(error)
                    charges += getattr(error, "charges", [])
            said = await self._say(role, [*messages, _plainly(form), *_repair(said, wrong)], {}, charges)
            return parsed(said, form), charges
        except NotAForm as error:
            told = f"The model {self.chat.name} gave no usable answer to {prompt.id}: {error}."
            raise Unreadable(told, charges) from error
        except ProviderError as error:
            error.charges = [*charges, *error.charges]
            raise

    async def _say(
        self, role: Role, messages: list[BaseMessage], options: dict[str, Any], charges: list[Charge]
    ) -> str:
        reply = await self.chat.say(role, messages, options)
        charges.append(reply.charge)
        return reply.text


@cache
def _schema(form: type[BaseModel]) -> dict[str, Any]:
    return form.model_json_schema()


def _options(rung: Rung, form: type[BaseModel]) -> dict[str, Any]:
    name, schema = form.__name__, _schema(form)
    if rung == "schema":
        inner = {"name": name, "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": inner}}
    if rung == "tool":
        function = {"name": name, "description": form.__doc__ or name, "parameters": schema}
        return {
            "tools": [{"type": "function", "function": function}],
            "tool_choice": {"type": "function", "function": {"name": name}},
        }
    return {}


def _plainly(form: type[BaseModel]) -> HumanMessage:
    schema = json.dumps(_schema(form), ensure_ascii=False)
    return HumanMessage(f"Answer with one JSON object that fits this schema, and nothing else:\n{schema}")


def _repair(said: str, wrong: str) -> list[BaseMessage]:
    shown = without_thinking(said)[:2000] or "(nothing)"
    return [
        AIMessage(shown),
        HumanMessage(f"That cannot be used: {wrong}. Send the whole JSON object again, corrected."),
    ]
