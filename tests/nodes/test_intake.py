"""The intake names a run and sizes its effort, and refuses what is no question."""

from typing import Any

import pytest
from fakes.run_parts import empty_forecast
from fakes.services import FakePageLeases, FakeRunConfigs

from fathom.errors import BadInput
from fathom.nodes.intake import intake
from fathom.state import ResearchState, RunConfig


async def taken_in(question: Any, kept: FakeRunConfigs | None = None) -> ResearchState:
    given: Any = {"question": question}
    return await intake(
        given,
        run_config=RunConfig(rounds=2),
        run_configs=kept or FakeRunConfigs(),
        page_leases=FakePageLeases(),
        forecaster=empty_forecast,
    )


async def test_a_new_run_is_named_and_sized_and_nothing_else() -> None:
    update = await taken_in("How much does tidal power cost?")
    assert set(update) == {"effort", "run", "forecast"}
    assert update["effort"].kind == "fact"
    assert update["run"]


async def test_the_configuration_is_kept_under_the_runs_name() -> None:
    kept = FakeRunConfigs()
    update = await taken_in("How much does tidal power cost?", kept)
    assert RunConfig.model_validate_json(kept.configs[update["run"]]) == RunConfig(rounds=2)


@pytest.mark.parametrize("question", ["", "  ", None, 7, "x" * 2001])
async def test_no_question_is_refused(question: Any) -> None:
    with pytest.raises(BadInput, match="The question is"):
        await taken_in(question)
