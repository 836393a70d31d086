"""The page on a shelf of documents and a home of its own, with a model that a test can hold up."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from standins.browser import PageServer, Visit, chromium
from standins.documents import stocked
from standins.killable_run import WORKING
from standins.model import Model, ModelRequest
from standins.replies import Reply
from standins.working_model import form_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ViewportSize

Visitor = Callable[..., Visit]
_LONGEST_S = 60.0


class Gate:
    """A model that works, and keeps callers of one form waiting until it is opened."""

    form = "read"

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()

    def __call__(self, request: ModelRequest) -> Reply:
        """The researcher's answer, now or later."""
        if form_of(request) == self.form:
            self.reached.set()
            self.opened.wait(_LONGEST_S)
        return WORKING(request)


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """The only folder that the page may read."""
    return stocked(tmp_path / "shelf")


@pytest.fixture
def gate() -> Gate:
    """The door between choosing pages and reading them."""
    return Gate()


@pytest.fixture
def server(tmp_path: Path, shelf: Path, gate: Gate) -> Iterator[PageServer]:
    """A server that answers, with a model behind it."""
    with Model(gate) as model:
        settings = {
            "FATHOM_HOME": str(tmp_path / "home"),
            "FATHOM_DOCS_ROOTS": json.dumps([str(shelf)]),
            "FATHOM_BASE_URL": model.base_url,
            "FATHOM_MODEL": "stand-in",
            "OPENAI_API_KEY": "a key",
        }
        started = PageServer(shelf, settings).start()
        yield started
        gate.opened.set()
        started.stop()


@pytest.fixture
def visitor() -> Iterator[Visitor]:
    """Somebody with a browser: their language, the width of their window, light or dark."""
    with ExitStack() as stack:
        browser: list[Browser] = []

        def visit(language: str = "en-GB", width: int = 1440, **more: Any) -> Visit:
            if not browser:
                browser.append(stack.enter_context(chromium()))
            window: ViewportSize = {"width": width, "height": 844 if width < 500 else 900}
            context = browser[0].new_context(viewport=window, locale=language, **more)
            stack.callback(context.close)
            context.set_default_timeout(30_000)
            return Visit(context.new_page()).watch()

        yield visit
