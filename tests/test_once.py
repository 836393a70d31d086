"""What is read once: beside the loop the first time, never again, and not kept if it failed."""

import asyncio
import threading
import time

import pytest

from fathom.once import Once


async def test_it_is_read_once_and_beside_the_event_loop() -> None:
    threads: list[int] = []

    @Once
    def read() -> str:
        threads.append(threading.get_ident())
        return "certificates"

    assert [await read(), await read()] == ["certificates"] * 2
    assert len(threads) == 1
    assert threads[0] != threading.get_ident()


async def test_who_has_waited_for_it_in_a_thread_spares_the_others() -> None:
    read = Once(threading.get_ident)
    assert read.waited() == threading.get_ident()
    assert await read() == threading.get_ident()


async def test_who_comes_while_it_is_read_waits_for_that() -> None:
    @Once
    def read() -> list[str]:
        time.sleep(0.05)
        return ["certificates"]

    one, *others = await asyncio.gather(*(read() for _ in range(4)))
    assert all(other is one for other in others)


async def test_a_failure_is_not_remembered() -> None:
    outcomes = iter([OSError("no such file"), None])

    @Once
    def read() -> str:
        if error := next(outcomes):
            raise error
        return "certificates"

    with pytest.raises(OSError, match="no such file"):
        await read()
    assert await read() == "certificates"
