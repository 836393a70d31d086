"""A filled form from any model: by schema, by tool call, in words, by one repair, and by a smaller ask.

Does not know what the forms are for. A rung that a server does not offer is not tried on it again, and one
that never gave a form is passed over while another gives some.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Generic, Literal, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import BaseModel

from fathom.budget.budget import Budget
from fathom.errors import ProviderError, Unreadable
from fathom.llm.chat import Chat, NotSupported, TooLong
from fathom.llm.fitted import Told, Way, say
from fathom.llm.parsing import NotAForm, parse_answer, strip_thinking
from fathom.llm.sheets import Sheet, TooSmall
from fathom.llm.skeleton import described
from fathom.llm.window import Window
from fathom.prompts import Filled
from fathom.state import Cost, Failure, Role

F = TypeVar("F", bound=BaseModel)
Rung = Literal["schema", "tool", "words"]
_RUNGS: tuple[Rung, ...] = ("schema", "tool", "words")
_LUCKLESS = 3
_HALF = 0.5


@dataclass(frozen=True)
class Answer(Generic[F]):
    """A filled form, what it cost, what was cut for it, and how many parts of cut evidence it is about."""

    form: F
    costs: list[Cost] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    kept: Mapping[str, int] = field(default_factory=dict)


@dataclass
class StructuredOutput:
    """One model, the rungs its server offers, and its window."""

    chat: Chat
    window: Window = field(default_factory=Window)
    _absent: set[Rung] = field(default_factory=set)
    _tried: Counter[Rung] = field(default_factory=Counter)
    _gave: Counter[Rung] = field(default_factory=Counter)

    def within(self, budget: Budget) -> "StructuredOutput":
        """The same, paying from this purse; what is known of its server and its window both know."""
        return replace(self, chat=self.chat.within(budget))

    async def ask(
        self,
        role: Role,
        sheet: Sheet | Filled,
        form: type[F],
        complaint: Callable[[F], str] = lambda _: "",
    ) -> Answer[F]:
        """The filled form, one that nothing is to be complained about; Unreadable when no rung gave one."""
        climb = _Climb(self, role, sheet, form, complaint)
        try:
            return await climb.up()
        except NotAForm as error:
            name = sheet.id if isinstance(sheet, Filled) else sheet.whole().id
            told = f"The model {self.chat.name} gave no usable answer to {name}: {error}."
            raise Unreadable(told, climb.told.costs) from error
        except ProviderError as error:
            error.costs = [*climb.told.costs, *error.costs]
            raise

    def rungs(self) -> list[Rung]:
        """Those worth trying, in order; there is always one."""
        offered = [rung for rung in _RUNGS if rung not in self._absent] or ["words"]
        hopeful = [r for r in offered if self._gave[r] or self._tried[r] < _LUCKLESS]
        return hopeful or offered[-1:]

    def note(self, rung: Rung, *, is_filled: bool) -> None:
        """Whether a rung gave a form."""
        self._tried[rung] += 1
        self._gave[rung] += is_filled

    def lacks(self, rungs: set[Rung]) -> None:
        """The server does not offer these."""
        self._absent |= rungs


@dataclass
class _Climb(Generic[F]):
    """One form on its way up; what was paid is kept whatever happens."""

    ladder: StructuredOutput
    role: Role
    sheet: Sheet | Filled
    form: type[F]
    complaint: Callable[[F], str]
    told: Told = field(default_factory=Told)
    wrong: str = "no kind of request is taken by the server"
    last: str = ""

    async def up(self) -> Answer[F]:
        """The rungs in order, then one repair, then half of the evidence."""
        if found := await self._rungs():
            return found
        try:
            return await self._turn("repair", Way([_plainly(self.form), *_repair(self.last, self.wrong)]))
        except (NotAForm, TooSmall) as error:
            self.wrong = str(error)
        if isinstance(self.sheet, Filled) or not self.sheet.evidence:
            raise NotAForm(self.wrong)
        return await self._turn("smaller", Way([_plainly(self.form)], share=_HALF))

    async def _rungs(self) -> Answer[F] | None:
        refused: set[Rung] = set()
        crowded: TooSmall | None = None
        for rung in self.ladder.rungs():
            crowded = None
            try:
                found = await self._turn(rung, _way(rung, self.form))
            except NotSupported as error:
                self.wrong = str(error)
                refused.add(rung)
                continue
            except TooLong:
                raise
            except TooSmall as error:  # beside a schema; in plain words it may fit
                crowded = error
                continue
            except (NotAForm, Unreadable) as error:
                self.wrong = str(error)
                self.ladder.note(rung, is_filled=False)
                self.ladder.lacks(refused)
                continue
            # Only now is it known that it was the rung, and not the question, that was refused.
            self.ladder.lacks(refused)
            self.ladder.note(rung, is_filled=True)
            return found
        if crowded:
            raise crowded
        return None

    async def _turn(self, rung: str, way: Way) -> Answer[F]:
        ladder = self.ladder
        said = await say(ladder.chat, ladder.window, self.role, self.sheet, way, self.told, rung)
        self.last = said.text
        form = parse_answer(said.text, self.form)
        if wrong := self.complaint(form):
            raise NotAForm(wrong)
        return Answer(form, self.told.costs, self.told.failures, said.kept)


@cache
def _way(rung: Rung, form: type[BaseModel]) -> Way:
    """The same request of every sheet for the form: it is put into words once."""
    return Way([_plainly(form)]) if rung == "words" else Way(options=_options(rung, form))


def _options(rung: Rung, form: type[BaseModel]) -> dict[str, Any]:
    name, schema = form.__name__, form.model_json_schema()
    if rung == "schema":
        inner = {"name": name, "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": inner}}
    function = {"name": name, "description": form.__doc__ or name, "parameters": schema}
    return {
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": name}},
    }


def _plainly(form: type[BaseModel]) -> HumanMessage:
    return HumanMessage(f"Answer with one JSON object of this form, and nothing else:\n{described(form)}")


def _repair(said: str, wrong: str) -> list[BaseMessage]:
    shown = strip_thinking(said)[:2000] or "(nothing)"
    return [
        AIMessage(shown),
        HumanMessage(f"That cannot be used: {wrong}. Send the whole JSON object again, corrected."),
    ]
