"""A model that keeps callers of one form waiting until the test lets it go on: a run that stands still.

Does not know what is looked at meanwhile.
"""

import threading

from standins.model import ModelRequest
from standins.replies import Reply
from standins.working_model import Answering, form_of

_LONGEST_S = 60.0


class Paced:
    """Answers like `answering`, but holds the answers of one form from a certain call on."""

    def __init__(self, answering: Answering, form: str, first: int = 1) -> None:
        self.reached, self._answering = threading.Event(), answering
        self._lock, self._go = threading.Lock(), threading.Event()
        self.hold(form, first)

    def hold(self, form: str, first: int = 1) -> None:
        """From now on, this form's answers are held; those that were held go out."""
        self._go.set()
        with self._lock:
            self.form, self.first, self._count = form, first, 0
            self.reached.clear()
            self._go = threading.Event()

    def let_go(self) -> None:
        """Hold nothing any more."""
        self.hold("")

    def __call__(self, request: ModelRequest) -> Reply:
        """An answer, now or later."""
        with self._lock:
            go = self._go
            self._count += form_of(request) == self.form
            is_held = form_of(request) == self.form and self._count >= self.first
        if is_held:
            self.reached.set()
            go.wait(_LONGEST_S)
        return self._answering(request)
