"""Batches of the page: what they may cost holds also for those that go on."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from fathom import DeepResearcher
from fathom.errors import BadInput
from fathom.runs.batch import read_questions
from fathom.settings import load_settings
from fathom.web.batches import CAP_FILE, LiveBatches, is_total


class Recorder(DeepResearcher):
    """Keeps what a batch may cost, and answers nothing."""

    caps: list[float | None]

    async def batch(self, *_: Any, total_usd: float | None = None, **__: Any) -> Any:
        """Note the cap."""
        self.caps.append(total_usd)


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    made = Recorder(load_settings(home=tmp_path / "home", local_servers={}))
    made.caps = []
    return made


@pytest.mark.parametrize("total_usd", [0.5, 0, None])
async def test_a_batch_goes_on_with_its_cap_after_a_restart(
    recorder: Recorder, tmp_path: Path, total_usd: float | None
) -> None:
    name = await LiveBatches(recorder, tmp_path / "batches").begin(read_questions("Why?", {}), total_usd)
    await asyncio.sleep(0)
    again = LiveBatches(recorder, tmp_path / "batches")
    await again.go_on(name)
    await again.close()
    assert recorder.caps == [total_usd, total_usd]


@pytest.mark.parametrize("damage", [None, "", "{}", "NaN", "-1", '"1"'])
async def test_a_batch_whose_cap_is_lost_does_not_go_on_without_one(
    recorder: Recorder, tmp_path: Path, damage: str | None
) -> None:
    batches = LiveBatches(recorder, tmp_path / "batches")
    name = await batches.begin(read_questions("Why?", {}), 0.5)
    await batches.close()
    (cap,) = (tmp_path / "batches").glob(f"*/{CAP_FILE}")
    cap.unlink() if damage is None else cap.write_text(damage)
    with pytest.raises(BadInput):
        await batches.go_on(name)
    assert recorder.caps == [0.5]


@pytest.mark.parametrize("given", [True, -1, float("nan"), float("inf"), "1", []])
def test_what_is_no_number_of_dollars_is_no_cap(given: object) -> None:
    assert not is_total(given)
