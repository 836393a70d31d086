"""The intake names a run and sizes its effort, and refuses what is no question."""

from typing import Any

import pytest
from fakes import FakePageLeases
from kits import nothing_expected

from fathom.errors import BadInput
from fathom.nodes.intake import intake
from fathom.state import ResearchState, RunConfig


async def taken_in(question: Any) -> ResearchState:
    given: Any = {"question": question}
    return await intake(
        given, run_config=RunConfig(), page_leases=FakePageLeases(), forecaster=nothing_expected
    )


async def test_a_new_run_is_named_and_sized_and_nothing_else() -> None:
    update = await taken_in("How much does tidal power cost?")
    assert set(update) == {"run_config", "effort", "run", "forecast"}
    assert update["effort"].kind == "fact"
    assert update["run"]


@pytest.mark.parametrize("question", ["", "  ", None, 7, "x" * 2001])
async def test_no_question_is_refused(question: Any) -> None:
    with pytest.raises(BadInput, match="The question is"):
        await taken_in(question)
