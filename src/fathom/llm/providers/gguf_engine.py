"""llama.cpp in this process, through xllamacpp: one loaded model per file, shared by all runs.

xllamacpp opens a listening server with every model. It is bound to a socket file in a private folder that is
removed as soon as the model is loaded, so that nobody can connect; without socket files it listens on
loopback with a random key. Requests bypass it.
"""

import importlib
import json
import secrets
import socket
import struct
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from fathom.errors import BadInput

_MAGIC = b"GGUF"
_MAX_HEADER_STRING = 1 << 20
_STRING, _ARRAY = 8, 9
# struct formats of the header's other types, by their numbers
_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_engines: dict["GGUFEngineSettings", "GGUFEngine"] = {}
_engines_lock = threading.Lock()


@dataclass(frozen=True)
class GGUFEngineSettings:
    """Settings of a loaded model; runs with the same settings share one."""

    path: Path
    n_ctx: int
    n_parallel: int = 1
    n_threads: int | None = None
    n_gpu_layers: int | None = None


@dataclass
class GGUFEngine:
    """A model that is loaded on first use. Calls queue for one of its `n_parallel` slots."""

    settings: GGUFEngineSettings
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @cached_property
    def executor(self) -> ThreadPoolExecutor:
        """Return the threads that requests run in."""
        return ThreadPoolExecutor(self.settings.n_parallel, thread_name_prefix="gguf")

    @cached_property
    def _server(self) -> Any:
        return _load(self.settings)

    def complete(self, body: dict[str, Any], on_event: Callable[[str], bool]) -> None:
        """Answer one chat request, calling `on_event` with each piece of JSON until it returns True.

        Blocking: call it in a thread of the executor.
        """
        with self._lock:
            server = self._server
        server.handle_chat_completions(json.dumps(body), on_event)


def shared_engine(settings: GGUFEngineSettings) -> GGUFEngine:
    """Return the process's engine with these settings."""
    with _engines_lock:
        return _engines.setdefault(settings, GGUFEngine(settings))


def import_xllamacpp() -> Any:
    """Import the package; raise BadInput if it is not installed."""
    try:
        return importlib.import_module("xllamacpp")
    except ImportError:
        raise BadInput(
            "To use a GGUF file, install Fathom with the extra [local]: pip install 'fathom-research[local]'"
        ) from None


def read_context_length(path: Path) -> int | None:
    """Return the context window a GGUF file was trained with; raise BadInput if it is no GGUF file."""
    try:
        with path.open("rb") as file:
            if file.read(4) != _MAGIC:
                raise BadInput(f"{path} is not a GGUF file.")
            return _find_context_length(file)
    except FileNotFoundError:
        raise BadInput(f"There is no model file {path}.") from None
    except OSError as error:
        raise BadInput(f"The model file {path} cannot be read: {error.strerror}.") from None
    except (struct.error, ValueError, KeyError):
        raise BadInput(f"{path} is not a sound GGUF file: its header cannot be read.") from None


def _find_context_length(file: BinaryIO) -> int | None:
    """Read the header's pairs up to `ARCHITECTURE.context_length`, which comes before the long lists."""
    _, _, pairs = _unpack(file, "IQQ")
    for _ in range(pairs):
        name = _read_string(file)
        (kind,) = _unpack(file, "I")
        value = _read_value(file, kind)
        if name.endswith(".context_length") and isinstance(value, int):
            return value
    return None


def _read_value(file: BinaryIO, kind: int) -> object:
    if kind == _STRING:
        return _read_string(file)
    if kind == _ARRAY:
        inner, count = _unpack(file, "IQ")
        for _ in range(count):
            _read_value(file, inner)
        return None
    return _unpack(file, _FORMATS[kind])[0]


def _read_string(file: BinaryIO) -> str:
    (size,) = _unpack(file, "Q")
    if size > _MAX_HEADER_STRING:
        raise ValueError("the header holds an endless string")
    return file.read(size).decode("utf-8", "replace")


def _unpack(file: BinaryIO, kinds: str) -> tuple[Any, ...]:
    layout = struct.Struct(f"<{kinds}")
    return layout.unpack(file.read(layout.size))


def _load(settings: GGUFEngineSettings) -> Any:
    xllamacpp = import_xllamacpp()
    params = xllamacpp.CommonParams()
    params.model.path = str(settings.path)
    params.model_alias = {settings.path.name}
    params.n_ctx = settings.n_ctx
    params.n_parallel = settings.n_parallel
    params.verbosity = -1  # its log would be written over our own output
    params.ui = False
    params.endpoint_slots = False
    params.api_keys = [secrets.token_urlsafe(32)]
    params.cors_origins = ""
    if settings.n_threads is not None:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings.n_threads
    if settings.n_gpu_layers is not None:
        params.n_gpu_layers = settings.n_gpu_layers
    with tempfile.TemporaryDirectory(prefix="fathom-") as folder:  # only its owner may enter
        if hasattr(socket, "AF_UNIX"):
            params.hostnames = [str(Path(folder) / "llama.sock")]
        try:
            return xllamacpp.Server(params)
        except RuntimeError as error:
            raise BadInput(f"llama.cpp cannot load the model {settings.path}: {error}") from None
