"""The memory of a server's threads."""

import os
import subprocess
import sys

import pytest

from fathom.concurrency import limit_memory_arenas

# Twelve threads hold memory of the C library at the same time; glibc then tells how many heaps there are.
COUNT = """
import ctypes, pathlib, sys, threading
from fathom.concurrency import limit_memory_arenas

if sys.argv[2] == "limited":
    assert limit_memory_arenas()
barrier = threading.Barrier(12)

def hold():
    kept = [bytes(5000) for _ in range(100)]
    barrier.wait()

threads = [threading.Thread(target=hold) for _ in range(12)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
file = ctypes.c_void_p(libc.fopen(sys.argv[1].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
print(pathlib.Path(sys.argv[1]).read_text().count("<heap nr="))
"""


def heaps(place: str, how: str) -> int:
    """How many heaps a process of twelve threads has."""
    words = [sys.executable, "-c", COUNT, place, how]
    return int(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(not limit_memory_arenas(), reason="the C library is not glibc")
def test_threads_of_a_server_share_two_arenas(tmp_path: os.PathLike[str]) -> None:
    place = os.fspath(tmp_path) + "/heaps.xml"
    assert heaps(place, "limited") <= 2 < heaps(place, "as it comes")


@pytest.mark.parametrize("error", [ValueError, OSError, AttributeError])
def test_where_there_is_no_glibc_nothing_happens(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def confstr(_: str) -> str:
        raise error

    monkeypatch.setattr(os, "confstr", confstr)
    assert not limit_memory_arenas()
