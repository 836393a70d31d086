"""Every attack is held off, by real processes."""

from pathlib import Path

import pytest
from standins import browser

from attacks.foreign_page import attack_with_a_page


@pytest.mark.server
@pytest.mark.browser
@pytest.mark.skipif(not browser.IS_THERE, reason=browser.WHY_NOT)
def test_a_page_of_another_origin_starts_nothing_and_reads_nothing(tmp_path: Path) -> None:
    attempts = list(attack_with_a_page(tmp_path))
    assert len(attempts) > 50
    assert [one for one in attempts if not one.is_held] == []
