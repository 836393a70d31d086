"""A person's word on the plan, at the terminal or from the command's own words.

Does not know what becomes of the answer.
"""

import argparse
import sys
from collections.abc import Mapping
from shutil import get_terminal_size
from typing import Any

from pydantic import ValidationError

from fathom.cli.cells import plain
from fathom.cli.draft import Draft, Part, Wish, read_wish
from fathom.cli.interrupting import interruptible
from fathom.cli.plan import HELP, KEYS, plan_lines
from fathom.errors import BadInput
from fathom.state import ReviewAnswer

_ASKED = {"queries": "query: ", "questions": "sub-question: "}


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


def ask_person(shown: Mapping[str, Any]) -> ReviewAnswer | None:
    """Show the plan and ask; None when there is nobody to ask, or they leave."""
    draft = Draft.of(shown)
    _show(shown, draft)
    if not sys.stdin.isatty():
        return None
    # Ctrl-C here means: not now. Elsewhere it asks the work to end, but nothing works while somebody thinks.
    try:
        with interruptible():
            return _asked(shown, draft)
    except (EOFError, KeyboardInterrupt):
        _say("")
        return None


def _asked(shown: Mapping[str, Any], draft: Draft) -> ReviewAnswer | None:
    while True:
        wish = read_wish(_typed(f"\n{KEYS}\n> "), draft)
        match wish.kind:
            case "leave":
                return None
            case "finish":
                return ReviewAnswer(action="finish")
            case "go on" if draft.queries:
                return draft.answer()
            case "go on":
                _say("No query is left: add one with +, or write now with w.")
            case "feedback":
                if text := wish.text or plain(_typed("what should change: ")):
                    if draft.is_changed:
                        _say("The plan is made again with these words; the changes above are left behind.")
                    return ReviewAnswer(action="feedback", text=text)
            case "help":
                _say(HELP)
            case "nothing":
                _say(wish.text)
            case _:
                draft = _changed(wish, draft)
                _show(shown, draft)


def _changed(wish: Wish, draft: Draft) -> Draft:
    match wish.kind:
        case "remove":
            return draft.without(set(wish.numbers))
        case "undo":
            return draft.undone()
        case "add":
            text = wish.text or plain(_typed(_ASKED[wish.part]))
            return draft.added(wish.part, text) if text else draft
        case _:
            return _edited(draft, *next(iter(wish.numbers)))


def _edited(draft: Draft, part: Part, number: int) -> Draft:
    """One entry, typed over; left empty, it stays."""
    before = draft.entry(part, number)
    return draft.edited(part, number, plain(_typed(_ASKED[part], before)) or before)


def _show(shown: Mapping[str, Any], draft: Draft) -> None:
    width = max(20, get_terminal_size().columns - 1)
    _say("\n".join(plan_lines(shown, draft, width)))


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _typed(prompt: str, begun: str = "") -> str:
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
