"""What keys do to a run that is being watched.

Does not know how an order reaches the run.
"""

from collections.abc import Callable
from typing import Protocol

from fathom.cli.cells import cut, plain
from fathom.cli.keys import Key, Typed
from fathom.storage.records import SignalWord

_SHORT = 60
_REST = (("s", "stop and write"), ("a", "add a query"), ("q", "leave"))


class Shown(Protocol):
    """The view that keys are pressed at."""

    typed: Typed | None
    keys: tuple[tuple[str, str], ...]

    def notice(self, words: str) -> None:
        """Say something."""


class Steering:
    """Turns keys into orders, and says what they do."""

    def __init__(self, give: Callable[[SignalWord, str], None], leave: Callable[[], None]) -> None:
        self._give, self._leave = give, leave
        self.is_paused = False  # or about to be

    def keys(self) -> tuple[tuple[str, str], ...]:
        """The keys there are now, with what they do."""
        return (("p", "go on" if self.is_paused else "pause"), *_REST)

    def press(self, key: Key, view: Shown) -> None:
        """One key."""
        if view.typed is not None:
            self._type(key, view, view.typed)
            return
        match key.text.lower():
            case "p" if self.is_paused:
                self.is_paused = False
                self._give("go", "")
                view.notice("Going on.")
            case "p":
                self.is_paused = True
                self._give("pause", "")
                view.notice("Pausing as soon as the step in hand is done.")
            case "s":
                self._give("stop", "")
                view.notice("No new searches; the report is written from what is known.")
            case "a":
                view.typed = Typed()
            case "q":
                self._leave()
            case _:
                return
        view.keys = self.keys()

    def _type(self, key: Key, view: Shown, typed: Typed) -> None:
        if key.name == "escape":
            view.typed = None
        elif key.name == "enter":
            view.typed = None
            if text := plain(typed.text):
                self._give("add", text)
                view.notice(f"Added to the next round: {cut(text, _SHORT)}")
        else:
            view.typed = typed.after(key)
