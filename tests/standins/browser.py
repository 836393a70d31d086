"""The page as a person uses it: `fathom serve` in a process of its own, and a real Chromium.

Does not know what is on the page. A server is ended by its process id, also when a test fails.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.error import URLError
from urllib.request import urlopen

from standins.commandline import FATHOM, PATIENCE_S
from standins.server import closed_port

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
IS_THERE = CHROMIUM is not None and find_spec("playwright") is not None
WHY_NOT = "NO CHROMIUM: the page was NOT tested in a browser; apt-get install chromium"
_QUIET = (
    "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@contextmanager
def chromium(*options: str) -> Iterator["Browser"]:
    """A browser that asks nobody but the pages it is sent to."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*_QUIET, *options])
        yield browser
        browser.close()


@dataclass
class Visit:
    """One person at the page: what was asked of whom, and what went wrong in the script."""

    page: "Page"
    asked: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def watch(self) -> Self:
        """Note every request and every error from now on."""
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda line: self._note(line.type, line.text))
        return self

    def _note(self, kind: str, text: str) -> None:
        # A server that is away is part of what is tested, and the browser says so on its own.
        if kind == "error" and "Failed to load resource" not in text:
            self.errors.append(text)


@dataclass
class PageServer:
    """`fathom serve` in `folder`, which is also the folder that documents may be read from."""

    folder: Path
    settings: Mapping[str, str]
    port: int = field(default_factory=closed_port)
    _process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.port}/"

    @property
    def log(self) -> str:
        """Everything it has written since it was first started."""
        return (self.folder.parent / "serve.log").read_text("utf-8", "replace")

    def start(self) -> Self:
        """Start it, also once more on the same port, and wait until it answers."""
        with (self.folder.parent / "serve.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*FATHOM, "serve", "--port", str(self.port)],
                cwd=self.folder,
                env={**os.environ, **self.settings},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + PATIENCE_S
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > until:
                self.stop()
                raise RuntimeError(f"fathom serve did not start:\n{self.log[-4000:]}")
            time.sleep(0.05)
        return self

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> int:
        """Ask it to end, and see to it that it does; its exit code."""
        if self._process is None:
            return 0
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.kill()
        return self._process.returncode

    def _is_ready(self) -> bool:
        try:
            with urlopen(self.url, timeout=2) as answer:
                return bool(answer.status == 200)
        except (URLError, OSError):
            return False
