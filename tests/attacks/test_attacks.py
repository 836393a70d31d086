"""Every attack is held off, by real processes."""

from pathlib import Path

import pytest
from standins import browser

from attacks.bad_days import attack_the_database
from attacks.foreign_page import attack_with_a_page
from attacks.raw_requests import attack_with_requests


@pytest.mark.server
@pytest.mark.browser
@pytest.mark.skipif(not browser.IS_THERE, reason=browser.WHY_NOT)
def test_a_page_of_another_origin_starts_nothing_and_reads_nothing(tmp_path: Path) -> None:
    attempts = list(attack_with_a_page(tmp_path))
    assert len(attempts) > 50
    assert [one for one in attempts if not one.is_held] == []


@pytest.mark.server
def test_raw_requests_are_refused(tmp_path: Path) -> None:
    attempts = list(attack_with_requests(tmp_path))
    assert len(attempts) > 50
    assert [one for one in attempts if not one.is_held] == []


@pytest.mark.kill
def test_a_database_on_its_bad_days_is_told_in_one_sentence(tmp_path: Path) -> None:
    attempts = list(attack_the_database(tmp_path, flips=2))
    assert len(attempts) > 100
    assert [one for one in attempts if not one.is_held] == []
