"""Structured output from any model: JSON schema, tool call, plain text, one repair, less evidence.

A strategy that a server does not support is not tried again, and one that never worked is skipped while
another works. The prompt fits the model's window and is shrunk once if the window proves smaller; what was
cut is reported.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, reduce
from operator import add
from typing import Any, Generic, Literal, TypeVar, get_args, get_origin

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel

from fathom.budget import Budget
from fathom.errors import ProviderError, Unreadable
from fathom.llm.answer_parsing import UnusableAnswer, parse_answer, strip_thinking
from fathom.llm.chat import Chat
from fathom.llm.errors import NotSupported, PromptTooLong
from fathom.llm.prompt_budget import ContextWindow, FittedPrompt, PromptBudget, WindowTooSmall
from fathom.prompts import FilledPrompt
from fathom.state import Cost, Failure, Reason, Role
from fathom.text.token_count import measure_tokens

_EXAMPLE_VALUES: dict[Any, object] = {str: "…", int: 1, float: 0.5, bool: True}


def describe_form(form: type[BaseModel]) -> str:
    """Return an empty example, and one line per kind of entry."""
    notes = [" ".join((kind.__doc__ or "").split()) for kind in _nested_forms(form)]
    return "\n".join([json.dumps(_example(form), ensure_ascii=False), *filter(None, notes)])


def _example(kind: Any) -> object:
    if get_origin(kind) is list:
        return [_example(get_args(kind)[0])]
    if _is_form(kind):
        return {name: _example(field.annotation) for name, field in kind.model_fields.items()}
    return _EXAMPLE_VALUES.get(kind, "…")


def _nested_forms(form: type[BaseModel]) -> list[type[BaseModel]]:
    """Return the form and its nested forms, each once."""
    inner = [get_args(f.annotation)[0] for f in form.model_fields.values() if get_args(f.annotation)]
    nested = [kind for entry in inner if _is_form(entry) for kind in _nested_forms(entry)]
    return list(dict.fromkeys([form, *nested]))


def _is_form(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


F = TypeVar("F", bound=BaseModel)
T = TypeVar("T")
OutputStrategy = Literal["schema", "tool", "words"]
_STRATEGIES: tuple[OutputStrategy, ...] = ("schema", "tool", "words")
_MAX_FAILED_TRIES = 3
_HALF = 0.5
_TEMPLATE_TOKENS = 48  # the server's chat template around all messages
_MESSAGE_TOKENS = 8


@dataclass(frozen=True)
class FormAnswer(Generic[F]):
    """A filled form, its costs, what was cut, and how many parts of cut evidence it covers."""

    form: F
    costs: list[Cost] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    kept: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _AskVariant:
    """One way to ask: the messages after the prompt, and the call options."""

    strategy: str
    after: Sequence[BaseMessage] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    share: float = 1.0  # of the evidence

    @cached_property
    def beside(self) -> str:
        """Return text that a server may or may not count: a schema is part of some prompts only."""
        return json.dumps(self.options, ensure_ascii=False) if self.options else ""


@dataclass
class _PendingForm(Generic[F]):
    """State of one form being asked for: its costs and failures are kept whatever happens."""

    role: Role
    prompt_budget: PromptBudget | FilledPrompt
    form: type[F]
    complaint: Callable[[F], str]
    costs: list[Cost] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    refused: set[OutputStrategy] = field(default_factory=set)
    wrong: str = "no kind of request is taken by the server"
    last: str = ""


@dataclass
class StructuredOutput:
    """One model, the strategies its server supports, and its window."""

    chat: Chat
    window: ContextWindow = field(default_factory=ContextWindow)
    _absent: set[OutputStrategy] = field(default_factory=set)
    _tried: Counter[OutputStrategy] = field(default_factory=Counter)
    _gave: Counter[OutputStrategy] = field(default_factory=Counter)

    def within(self, budget: Budget) -> "StructuredOutput":
        """Return a copy that pays from this budget; both share what they learn about server and window."""
        return replace(self, chat=self.chat.within(budget))

    async def ask(
        self,
        role: Role,
        prompt_budget: PromptBudget | FilledPrompt,
        form: type[F],
        complaint: Callable[[F], str] = lambda _: "",
    ) -> FormAnswer[F]:
        """Return a filled form without complaint: by each strategy, by one repair, from half of the evidence.

        Raises Unreadable if all of them fail.
        """
        work = _PendingForm(role, prompt_budget, form, complaint)
        crowded: WindowTooSmall | None = None
        try:
            for strategy in self.strategies():
                crowded = None
                answer: FormAnswer[F] | None
                try:
                    answer = await self._attempt(work, _ask_variant(strategy, form))
                except NotSupported as error:
                    work.wrong = str(error)
                    work.refused.add(strategy)
                    continue
                except PromptTooLong:
                    raise
                except WindowTooSmall as error:  # too small with a schema; as plain text it may fit
                    crowded = error
                    continue
                except (UnusableAnswer, Unreadable) as error:
                    answer, work.wrong = None, str(error)
                # This strategy was taken, so the others were refused and not the question.
                self._absent |= work.refused
                self._tried[strategy] += 1
                if answer:
                    self._gave[strategy] += 1
                    return answer
            if crowded:
                raise crowded
            try:
                return await self._attempt(work, _repair_variant(work))
            except (UnusableAnswer, WindowTooSmall) as error:
                work.wrong = str(error)
            if isinstance(prompt_budget, FilledPrompt) or not prompt_budget.evidence:
                raise UnusableAnswer(work.wrong)
            return await self._attempt(work, _AskVariant("smaller", [_ask_in_words(form)], share=_HALF))
        except UnusableAnswer as error:
            name = prompt_budget.id if isinstance(prompt_budget, FilledPrompt) else prompt_budget.fill().id
            message = f"The model {self.chat.name} gave no usable answer to {name}: {error}."
            raise Unreadable(message, work.costs) from error
        except ProviderError as error:
            error.costs = [*work.costs, *error.costs]
            raise

    def strategies(self) -> list[OutputStrategy]:
        """Return the strategies worth trying, in order; at least one."""
        offered = [one for one in _STRATEGIES if one not in self._absent] or ["words"]
        hopeful = [s for s in offered if self._gave[s] or self._tried[s] < _MAX_FAILED_TRIES]
        return hopeful or offered[-1:]

    async def _attempt(self, work: _PendingForm[F], way: _AskVariant) -> FormAnswer[F]:
        """Send one request; send it again once, smaller, if the window proves smaller."""
        window = self.window
        before = await window.find_size()
        silent: Failure | None = None
        for is_last in (False, True):
            size = window.size or 0
            fitted = self._fit(work.prompt_budget, way)
            messages = [SystemMessage(fitted.prompt.system), HumanMessage(fitted.prompt.user), *way.after]
            texts = [str(message.content) for message in messages]
            sent = reduce(add, map(measure_tokens, texts))
            try:
                reply = await self.chat.send(work.role, messages, self._options(way))
            except ProviderError as error:
                work.costs += error.costs
                error.costs = []
                if is_last or not isinstance(error, PromptTooLong):
                    raise
                window.lower(error.size if error.size and error.size < size else int(0.8 * size))
                continue
            work.costs.append(reply.cost.model_copy(update={"strategy": way.strategy}))
            seen = reply.cost.tokens_in
            if silent and window.is_short(sent, seen):  # this time nothing can have been truncated
                work.failures.remove(silent)
                window.distrust(before)
            elif window.is_cut(sent, seen):
                silent = self._silent_cut_failure(seen, sum(map(window.count, texts)))
                work.failures.append(silent)
                window.lower(seen)
                if not is_last:
                    continue
            else:
                window.learn(sent, seen, way.beside)
            if set(fitted.cut) - {getattr(work.prompt_budget, "batched", "")}:
                work.failures.append(self._cut_failure(work.role, size))
            answer = _read_form(work, reply.text, fitted.kept)
            if reply.is_cut:  # it could be read, but what stood behind the limit is lost
                answer.failures.append(self._lost_end_failure(work.role))
            return answer
        raise AssertionError("the second turn is the last")

    def _fit(self, prompt_budget: PromptBudget | FilledPrompt, way: _AskVariant) -> FittedPrompt:
        """Fit the prompt beside everything else that is sent."""
        window, name = self.window, self.chat.name
        others = [*(str(message.content) for message in way.after), *filter(None, [way.beside])]
        beside = (
            sum(window.count(words) + _MESSAGE_TOKENS for words in others)
            + _TEMPLATE_TOKENS
            + 2 * _MESSAGE_TOKENS
        )
        room = window.prompt_tokens() - beside
        if isinstance(prompt_budget, FilledPrompt):
            if window.count(prompt_budget.system) + window.count(prompt_budget.user) <= room:
                return FittedPrompt(prompt_budget)
            raise WindowTooSmall(
                f"The window of {name} ({window.size:,} tokens) does not hold {prompt_budget.id}."
            )
        try:
            return prompt_budget.fit_prompt(room, window.count, way.share)
        except WindowTooSmall as error:
            message = f"The window of {name} ({window.size:,} tokens) is too small: {error}."
            raise WindowTooSmall(message) from error

    def _options(self, way: _AskVariant) -> dict[str, Any]:
        """Return the call options; a token limit only if it is below the model's own."""
        window = self.window
        limit = window.answer_tokens() + window.thinking_tokens()
        is_less = limit < window.most_answer + window.most_thinking
        return {**way.options, **({"max_completion_tokens": limit} if is_less else {})}

    def _cut_failure(self, role: Role, size: int) -> Failure:
        window, name = self.window, self.chat.name
        why = f"The window of {name} holds {window.size:,} tokens."
        if size < (window.size or size):
            why = f"The window of {name} was taken for {size:,} tokens."
        return Failure(
            where="context",
            what=f"the least relevant evidence for the step {role}",
            why=why,
            code="window",
            told=Reason(phrase="cut_evidence", values={"step": role}),
        )

    def _lost_end_failure(self, role: Role) -> Failure:
        why = f"{self.chat.name} stopped at its limit of tokens before it was done."
        return Failure(
            where="model",
            what=f"the end of an answer in the step {role}",
            why=why,
            code="token_limit",
            told=Reason(phrase="cut_answer", values={"step": role}),
        )

    def _silent_cut_failure(self, seen: int, sent: int) -> Failure:
        message = f"The server of {self.chat.name} took in {seen:,} of about {sent:,} tokens without a word"
        why = f"{message}: raise its window, or name its size with --context."
        told = Reason(phrase="cut_prompts")
        return Failure(
            where="context", what="prompts cut off by the server", why=why, code="window", told=told
        )


async def ask_in_batches(
    output: StructuredOutput,
    role: Role,
    items: Sequence[T],
    build_prompt: Callable[[Sequence[T]], PromptBudget],
    form: type[F],
    complaint: Callable[[F], str] = lambda _: "",
) -> list[tuple[FormAnswer[F], Sequence[T]]]:
    """Ask about all items: in one call if the window holds them, else in several."""
    found: list[tuple[FormAnswer[F], Sequence[T]]] = []
    rest = items
    while rest:
        prompt_budget = build_prompt(rest)
        try:
            answer = await output.ask(role, prompt_budget, form, complaint)
        except ProviderError as error:
            error.costs = [c for before, _ in found for c in before.costs] + error.costs
            raise
        kept = max(1, answer.kept.get(prompt_budget.batched, len(rest)))
        found.append((answer, rest[:kept]))
        rest = rest[kept:]
    return found


def _read_form(work: _PendingForm[F], text: str, kept: Mapping[str, int]) -> FormAnswer[F]:
    work.last = text
    form = parse_answer(text, work.form)
    if wrong := work.complaint(form):
        raise UnusableAnswer(wrong)
    return FormAnswer(form, work.costs, work.failures, kept)


@cache
def _ask_variant(strategy: OutputStrategy, form: type[BaseModel]) -> _AskVariant:
    """Return the request for a form and strategy; cached."""
    if strategy == "words":
        return _AskVariant(strategy, [_ask_in_words(form)])
    name, schema = form.__name__, form.model_json_schema()
    if strategy == "schema":
        inner = {"name": name, "schema": schema, "strict": True}
        return _AskVariant(
            strategy, options={"response_format": {"type": "json_schema", "json_schema": inner}}
        )
    function = {"name": name, "description": form.__doc__ or name, "parameters": schema}
    tool = {"type": "function", "function": function}
    choice = {"type": "function", "function": {"name": name}}
    return _AskVariant(strategy, options={"tools": [tool], "tool_choice": choice})


def _ask_in_words(form: type[BaseModel]) -> HumanMessage:
    return HumanMessage(f"Answer with one JSON object of this form, and nothing else:\n{describe_form(form)}")


def _repair_variant(work: _PendingForm[Any]) -> _AskVariant:
    shown = strip_thinking(work.last)[:2000] or "(nothing)"
    message = f"That cannot be used: {work.wrong}. Send the whole JSON object again, corrected."
    return _AskVariant("repair", [_ask_in_words(work.form), AIMessage(shown), HumanMessage(message)])
