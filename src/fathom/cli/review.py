"""Review a plan at the terminal: show it, edit it line by line, or take the answer from the arguments.

Does not know what becomes of the answer. A line is a command only if it is nothing else: a sentence is
feedback, also if it contains words such as "no", "stop" or "now".
"""

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from shutil import get_terminal_size
from typing import Any, Literal

from pydantic import ValidationError

from fathom.cli.terminal import interruptible
from fathom.cli.text import clock, dollars, plain, wrap
from fathom.errors import BadInput
from fathom.state import ReviewAnswer
from fathom.text.messages import Messages, messages_for

Part = Literal["queries", "questions"]
_YES = {"", "y", "yes", "ok", "예", "네"}
_REMOVE = re.compile(r"-\s*(q?\d+(?:[\s,]+q?\d+)*)$", re.IGNORECASE)
_NUMBER = re.compile(r"(q?)(\d+)$", re.IGNORECASE)
_SUGGESTED = re.compile(r"s(\d+)$", re.IGNORECASE)


@dataclass(frozen=True)
class Draft:
    """The queries and sub-questions as they stand now, and as they were."""

    queries: tuple[str, ...]
    questions: tuple[str, ...]
    suggested: tuple[str, ...] = ()
    before: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @classmethod
    def of(cls, shown: Mapping[str, Any]) -> "Draft":
        """The plan on the table."""
        queries, questions = tuple(shown.get("queries") or ()), tuple(shown.get("questions") or ())
        return cls(queries, questions, tuple(shown.get("suggested") or ()), (queries, questions))

    @property
    def is_changed(self) -> bool:
        """Whether anything is not as it was planned."""
        return (self.queries, self.questions) != self.before

    def entry(self, part: Part, number: int) -> str:
        """The entry of that number, from 1; nothing if there is none."""
        entries = self.queries if part == "queries" else self.questions
        return entries[number - 1] if 0 < number <= len(entries) else ""

    def edit(self, part: Part, number: int, words: str) -> "Draft":
        """Another wording for one entry."""
        entries = [*(self.queries if part == "queries" else self.questions)]
        entries[number - 1] = words
        return self._with(part, tuple(entries))

    def add(self, part: Part, words: str) -> "Draft":
        """One entry more."""
        return self._with(part, (*(self.queries if part == "queries" else self.questions), words))

    def remove(self, numbers: set[tuple[Part, int]]) -> "Draft":
        """Some entries less."""
        queries = tuple(q for n, q in enumerate(self.queries, 1) if ("queries", n) not in numbers)
        questions = tuple(q for n, q in enumerate(self.questions, 1) if ("questions", n) not in numbers)
        return replace(self, queries=queries, questions=questions)

    def undo(self) -> "Draft":
        """As it was planned."""
        return replace(self, queries=self.before[0], questions=self.before[1])

    def answer(self) -> ReviewAnswer:
        """Go on with it."""
        if not self.is_changed:
            return ReviewAnswer(action="approve")
        questions = list(self.questions) if self.questions != self.before[1] else []
        return ReviewAnswer(action="edit", queries=list(self.queries), questions=questions)

    def _with(self, part: Part, entries: tuple[str, ...]) -> "Draft":
        return replace(self, queries=entries) if part == "queries" else replace(self, questions=entries)


@dataclass(frozen=True)
class Wish:
    """What a typed line wants: a kind, and what it is about."""

    kind: Literal["go on", "edit", "remove", "add", "feedback", "finish", "leave", "undo", "help", "nothing"]
    part: Part = "queries"
    numbers: frozenset[tuple[Part, int]] = frozenset()
    text: str = ""  # or, of "nothing", why: a key of the table `plan`
    values: Mapping[str, object] = field(default_factory=dict)


_KEYS: Mapping[str, Wish] = {
    "w": Wish("finish"),
    "q": Wish("leave"),
    "u": Wish("undo"),
    "?": Wish("help"),
    "h": Wish("help"),
    "f": Wish("feedback"),
    "a": Wish("add"),
    "+": Wish("add"),
    "+q": Wish("add", "questions"),
}


def read_wish(line: str, draft: Draft) -> Wish:
    """What a person wants with the line they typed."""
    words = " ".join(line.split())
    low = words.lower()
    if low in _YES:
        return Wish("go on")
    if low in _KEYS:
        return _KEYS[low]
    if found := _NUMBER.match(low):
        return _edit(("questions" if found.group(1) else "queries", int(found.group(2))), draft, words)
    if found := _REMOVE.match(low):
        named = frozenset(_place(word) for word in re.split(r"[\s,]+", found.group(1)))
        missing = next((place for place in named if not draft.entry(*place)), None)
        return _no_entry(missing) if missing else Wish("remove", numbers=named)
    if (found := _SUGGESTED.match(low)) and 0 < int(found.group(1)) <= len(draft.suggested):
        return Wish("add", text=draft.suggested[int(found.group(1)) - 1])
    if words.startswith("+"):
        is_question = low.startswith("+q ")
        return Wish(
            "add", "questions" if is_question else "queries", text=words[2 + is_question - 1 :].strip()
        )
    if " " not in words:
        return Wish("nothing", text="one_word", values={"words": words})
    return Wish("feedback", text=words)


def _place(word: str) -> tuple[Part, int]:
    return ("questions", int(word[1:])) if word.startswith("q") else ("queries", int(word))


def _edit(place: tuple[Part, int], draft: Draft, words: str) -> Wish:
    if not draft.entry(*place):
        return _no_entry(place)
    return Wish("edit", place[0], frozenset({place}), words)


def _no_entry(place: tuple[Part, int]) -> Wish:
    key = "no_query" if place[0] == "queries" else "no_question"
    return Wish("nothing", text=key, values={"number": place[1]})


def plan_lines(shown: Mapping[str, Any], draft: Draft, width: int) -> list[str]:
    """The plan and what there is to know before deciding; once something was changed, only what can be."""
    say, number = _messages(shown), shown.get("round", 1)
    if draft.is_changed:
        return ["", say("plan.changed", round=number), *_lists(draft, width, say)]
    lines = ["", say("plan.title", round=number), "─" * min(width, 78)]
    thinking = say("plan.tool", tool=shown["tool"]) if shown.get("tool") else ""
    for words in (str(shown.get("summary") or ""), _strategy(shown), thinking):
        lines += wrap(words, width) if words else []
    for part, sign in (("perspectives", "·"), ("findings", "·"), ("gaps", "?"), ("outline", "·")):
        lines += _bullets(say(f"plan.{part}"), shown.get(part), f"  {sign} ", width)
    lines += _lists(draft, width, say)
    lines += _bullets(say("plan.waiting"), shown.get("waiting"), "  · ", width)
    return [*lines, "", *money_lines(shown)]


def _messages(shown: Mapping[str, Any]) -> Messages:
    return messages_for(str(shown.get("question") or ""), shown.get("language"))


def _lists(draft: Draft, width: int, say: Messages) -> Iterator[str]:
    """What can be edited, each with the name it is edited by."""
    yield from _numbers(say("plan.questions"), draft.questions, "q", width)
    yield from _numbers(say("plan.queries"), draft.queries, "", width)
    yield from _numbers(say("plan.suggested"), draft.suggested, "s", width)


def money_lines(shown: Mapping[str, Any]) -> list[str]:
    """What it has cost, and what it may still cost."""
    say = _messages(shown)
    spent, budget = float(shown.get("spent_usd") or 0.0), float(shown.get("budget_usd") or 0.0)
    is_paid = bool(budget or spent)
    lines = [say("plan.spent", spent=dollars(spent), budget=dollars(budget))] if is_paid else []
    forecast: Mapping[str, Any] = shown.get("forecast") or {}
    if "expected_usd" in forecast:
        usual, worst = (dollars(float(forecast.get(f"{name}_usd") or 0.0)) for name in ("expected", "worst"))
        time, longest = (clock(float(forecast.get(f"{name}_s") or 0.0)) for name in ("expected", "worst"))
        lines.append(say("plan.forecast", usual=usual, time=time, worst=worst, longest=longest))
    return lines


def _strategy(shown: Mapping[str, Any]) -> str:
    # The first plan's strategy says the effort itself.
    strategy, effort = str(shown.get("strategy") or ""), str(shown.get("effort") or "")
    return " ".join(words for words in (strategy, effort if effort not in strategy else "") if words)


def _bullets(title: str, entries: Sequence[str] | None, sign: str, width: int) -> Iterator[str]:
    if entries:
        yield f"{title}:"
    for entry in entries or ():
        yield from wrap(plain(str(entry)), width, sign)


def _numbers(title: str, entries: Sequence[str], letter: str, width: int) -> Iterator[str]:
    if entries:
        yield f"{title}:"
    for number, entry in enumerate(entries, 1):
        yield from wrap(plain(entry), width, f"  {letter}{number}".ljust(6))


_ASKED = {"queries": "plan.ask_query", "questions": "plan.ask_question"}


def read_answer(arguments: argparse.Namespace) -> ReviewAnswer | None:
    """The answer given on the command line, if one was."""
    words: dict[str, Any] | None = None
    if arguments.approve:
        words = {"action": "approve"}
    elif arguments.finish:
        words = {"action": "finish"}
    elif arguments.edit is not None:
        words = {"action": "edit", "queries": arguments.edit}
    elif arguments.feedback is not None:
        words = {"action": "feedback", "text": arguments.feedback}
    elif arguments.add is not None:
        words = {"action": "add", "text": arguments.add}
    try:
        return ReviewAnswer.model_validate(words) if words else None
    except ValidationError as error:
        raise BadInput(
            str(error.errors()[0]["msg"]).removeprefix("Value error, ").capitalize() + "."
        ) from None


def ask_person(shown: Mapping[str, Any]) -> ReviewAnswer | None:
    """Show the plan and ask; None when there is nobody to ask, or they leave."""
    draft = Draft.of(shown)
    _show(shown, draft)
    if not sys.stdin.isatty():
        return None
    # Ctrl-C here means: not now. Elsewhere it asks the work to end, but nothing works while somebody thinks.
    try:
        with interruptible():
            return _ask(shown, draft)
    except (EOFError, KeyboardInterrupt):
        _say("")
        return None


def _ask(shown: Mapping[str, Any], draft: Draft) -> ReviewAnswer | None:
    say = _messages(shown)
    while True:
        wish = read_wish(_read_line(f"\n{say('plan.keys')}\n> "), draft)
        match wish.kind:
            case "leave":
                return None
            case "finish":
                return ReviewAnswer(action="finish")
            case "go on" if draft.queries:
                return draft.answer()
            case "go on":
                _say(say("plan.none_left"))
            case "feedback":
                if text := wish.text or plain(_read_line(say("plan.ask_feedback"))):
                    if draft.is_changed:
                        _say(say("plan.made_again"))
                    return ReviewAnswer(action="feedback", text=text)
            case "help":
                _say(say("plan.help"))
            case "nothing":
                _say(say(f"plan.{wish.text}", **wish.values))
            case _:
                draft = _change(wish, draft, say)
                _show(shown, draft)


def _change(wish: Wish, draft: Draft, say: Messages) -> Draft:
    match wish.kind:
        case "remove":
            return draft.remove(set(wish.numbers))
        case "undo":
            return draft.undo()
        case "add":
            text = wish.text or plain(_read_line(say(_ASKED[wish.part])))
            return draft.add(wish.part, text) if text else draft
        case _:
            return _edit_entry(draft, *next(iter(wish.numbers)), say)


def _edit_entry(draft: Draft, part: Part, number: int, say: Messages) -> Draft:
    """One entry, typed over; left empty, it stays."""
    before = draft.entry(part, number)
    return draft.edit(part, number, plain(_read_line(say(_ASKED[part]), before)) or before)


def _show(shown: Mapping[str, Any], draft: Draft) -> None:
    width = max(20, get_terminal_size().columns - 1)
    _say("\n".join(plan_lines(shown, draft, width)))


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _read_line(prompt: str, begun: str = "") -> str:
    """A line from the person, who may go on from what is there already."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):  # the report may go to a file: nothing else must
        print(prompt, end="", file=sys.stderr, flush=True)
        return input()
    import readline  # its import alone changes how lines are typed, so it comes as late as it can

    readline.set_startup_hook(lambda: readline.insert_text(begun))
    try:
        return input(prompt)
    finally:
        readline.set_startup_hook(None)
