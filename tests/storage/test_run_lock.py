"""One works on a run at a time; whoever is just leaving is waited for, whoever works is not."""

import asyncio
import time
from pathlib import Path

import pytest

from fathom.errors import BadInput
from fathom.run_lock import held, held_in_turn, told_when_left
from fathom.storage import Storage, open_storage


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return open_storage(tmp_path / "fathom.sqlite")


RUN = "01234567-89ab-cdef-0123-456789abcdef"


async def test_who_works_is_not_waited_for(storage: Storage) -> None:
    began = time.monotonic()
    async with held_in_turn(storage, RUN):
        with pytest.raises(BadInput, match="01234567 is being worked on"):
            async with held_in_turn(storage, RUN):
                pass
        with pytest.raises(BadInput):
            async with held(storage, RUN):
                pass
    assert time.monotonic() - began < 5
    async with held(storage, RUN):
        pass


async def test_who_leaves_is_waited_for_until_all_is_tidied_up(storage: Storage) -> None:
    order = []
    inside, left = asyncio.Event(), asyncio.Event()

    async def leave() -> None:
        async with held_in_turn(storage, RUN):
            try:
                with told_when_left(storage, RUN):
                    inside.set()
                    await asyncio.sleep(60)
            finally:
                left.set()
                await asyncio.sleep(0.2)
                order.append("left")

    leaving = asyncio.ensure_future(leave())
    await inside.wait()
    leaving.cancel()
    await left.wait()
    async with held_in_turn(storage, RUN):
        order.append("came")
    assert order == ["left", "came"]


async def test_nobody_is_thought_to_be_leaving_once_gone(storage: Storage) -> None:
    with pytest.raises(ValueError, match="over"):
        async with held_in_turn(storage, RUN):
            with told_when_left(storage, RUN):
                raise ValueError("over")
    async with held_in_turn(storage, RUN):
        with pytest.raises(BadInput):
            async with held_in_turn(storage, RUN):
                pass
