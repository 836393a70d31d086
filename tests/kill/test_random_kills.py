"""Killed at random moments, a run pays for nothing twice; forty kills: `make bench-kill`."""

import pytest
from standins.random_kills import kill_at_random

pytestmark = pytest.mark.kill


def test_no_answered_call_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FATHOM_HOME", "FATHOM_MODEL", "FATHOM_BASE_URL"):
        monkeypatch.setenv(name, "")  # so that they are put back
    figures = kill_at_random(4, seed=7)
    assert figures.kills == 4
    assert figures.failures == []
    assert (figures.model_calls_again, figures.searches_again) == (0, 0)
