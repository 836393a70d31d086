"""A person's word on the plan, at the terminal or from the command's own words.

Does not know what becomes of the answer.
"""

import argparse
import sys
from typing import Any

from pydantic import ValidationError

from fathom.errors import BadInput
from fathom.state import ReviewAnswer

_CHOICES = (
    "[Enter] go on   e edit queries   a add a query   w write the report now   q leave\n"
    "f feedback in words, or just type what should change"
)


def answer_from(arguments: argparse.Namespace) -> ReviewAnswer | None:
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


def ask_person(shown: dict[str, Any]) -> ReviewAnswer | None:
    """Show the plan and ask; None when there is nobody to ask, or they leave."""
    _show(shown)
    if not sys.stdin.isatty():
        return None
    try:
        return _asked(shown)
    except EOFError:
        return None


def _asked(shown: dict[str, Any]) -> ReviewAnswer | None:
    while True:
        choice = _prompt(f"\n{_CHOICES}\n> ").strip()
        if choice in {"", "y", "yes"}:
            return ReviewAnswer(action="approve")
        if choice == "w":
            return ReviewAnswer(action="finish")
        if choice == "q":
            return None
        answer = _with_words(choice, shown)
        if answer:
            return answer


def _with_words(choice: str, shown: dict[str, Any]) -> ReviewAnswer | None:
    if choice == "e":
        return _edited(shown)
    # A longer answer is feedback as it stands: words such as "no" or "now" inside it are just words.
    letter, text = (choice, "") if choice in {"a", "f"} else ("f", choice if len(choice) > 1 else "")
    if choice in {"a", "f"}:
        text = _prompt("query: " if choice == "a" else "what should change: ").strip()
    if not text:
        return None
    return ReviewAnswer(action="add" if letter == "a" else "feedback", text=text)


def _edited(shown: dict[str, Any]) -> ReviewAnswer | None:
    """Each query in turn: Enter keeps it, a dash drops it, words replace it."""
    kept = []
    for query in shown.get("queries", []):
        words = _prompt(f"  {query}\n  [Enter] keep, - drop, or type another: ").strip()
        if words != "-":
            kept.append(words or query)
    while words := _prompt("  one more, or [Enter] when done: ").strip():
        kept.append(words)
    return ReviewAnswer(action="edit", queries=kept) if kept else None


def _show(shown: dict[str, Any]) -> None:
    lines = [f"\nPlan for round {shown.get('round')}: {shown.get('strategy', '')}"]
    # The first plan's strategy says the effort itself.
    effort = shown.get("effort") or ""
    lines += [words for words in (effort if effort not in lines[0] else "", _thinking(shown)) if words]
    for title, key in (
        ("Perspectives", "perspectives"),
        ("Sub-questions", "questions"),
        ("Queries", "queries"),
        ("Waiting for an answer", "waiting"),
        ("Findings so far", "findings"),
        ("Gaps", "gaps"),
        ("Suggested", "suggested"),
    ):
        entries = shown.get(key) or []
        if entries:
            lines += [f"{title}:", *(f"  - {entry}" for entry in entries)]
    print("\n".join(lines), file=sys.stderr)


def _thinking(shown: dict[str, Any]) -> str:
    return f"Thinking tool: {shown['tool']}" if shown.get("tool") else ""


def _prompt(words: str) -> str:
    print(words, end="", file=sys.stderr, flush=True)
    return input()
