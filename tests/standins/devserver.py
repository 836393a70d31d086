"""A real `langgraph dev` in a process of its own, on the repository's `langgraph.json`.

Does not know what it serves. It is ended by its process id, also when a test fails.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.error import URLError
from urllib.request import urlopen

from standins.server import closed_port

ROOT = Path(__file__).parents[2]
READY_S = 60.0
_FOREIGN = ("OPENAI_", "TAVILY_", "FATHOM_", "LANGSMITH_", "LANGCHAIN_", "LANGGRAPH_")


def clean(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without keys, proxies and settings."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(_FOREIGN) and not name.lower().endswith("_proxy")
    }


@dataclass
class DevServer:
    """`langgraph dev` in `folder`, where it also keeps its own files and its log."""

    folder: Path
    settings: Mapping[str, str]
    port: int = field(default_factory=closed_port)
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        """Everything it has written since it was first started."""
        return (self.folder / "server.log").read_text("utf-8", "replace")

    def records(self) -> Iterator[dict[str, Any]]:
        """The lines of the log that are records."""
        for line in self.log.splitlines():
            if line.startswith("{"):
                yield json.loads(line)

    def start(self) -> Self:
        """Start it and wait until it answers."""
        words = [sys.executable, "-m", "langgraph_cli", "dev", "--config", str(ROOT / "langgraph.json")]
        words += ["--no-browser", "--no-reload", "--port", str(self.port)]
        quiet = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGGRAPH_NO_VERSION_CHECK": "1", "LOG_JSON": "true"}
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                words,
                cwd=self.folder,
                env={**clean(os.environ), **quiet, **self.settings},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + READY_S
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > until:
                self.stop()
                raise RuntimeError(f"langgraph dev did not start:\n{self.log[-4000:]}")
            time.sleep(0.1)
        return self

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """Ask it to end, and see to it that it does."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.kill()

    def _is_ready(self) -> bool:
        try:
            with urlopen(f"{self.url}/ok", timeout=2) as answer:
                return bool(answer.status == 200)
        except (URLError, OSError):
            return False
