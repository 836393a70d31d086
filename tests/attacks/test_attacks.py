"""Every attack is held off, by real processes; and where a guard is off, it is seen."""

import json
from functools import partial
from pathlib import Path

import pytest
from standins import browser

from attacks import __main__ as attacks
from attacks.bad_days import attack_the_database
from attacks.by_tests import make_attack
from attacks.foreign_page import attack_with_a_page
from attacks.raw_requests import attack_the_page_server, attack_with_keys, attack_with_requests


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


@pytest.mark.server
def test_another_key_reaches_nothing(tmp_path: Path) -> None:
    attempts = list(attack_with_keys(tmp_path))
    assert len(attempts) > 25
    assert [one for one in attempts if not one.is_held] == []


@pytest.mark.whole
def test_the_page_server_refuses_the_same(tmp_path: Path) -> None:
    attempts = list(attack_the_page_server(tmp_path))
    assert len(attempts) > 35
    assert [one for one in attempts if not one.is_held] == []


@pytest.mark.whole
def test_a_guard_that_is_off_is_seen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    off = {
        "FATHOM_ALLOWED_ORIGINS": '["https://foreign.example"]',
        "FATHOM_ALLOWED_HOSTS": '["127.0.0.1", "foreign.example"]',
    }
    monkeypatch.setattr(attacks, "ATTACKS", {"open": partial(attack_the_page_server, more=off)})
    assert attacks.main([]) == 1
    told = capsys.readouterr().out
    assert "BROKEN  foreign origin: POST /mcp" in told
    found = json.loads(told.splitlines()[-1])
    assert found["broken"] == 6  # an origin and a name, at three doors
    assert found["held"] > 30


@pytest.mark.whole
def test_a_test_that_fails_is_an_attack_that_broke(tmp_path: Path) -> None:
    place = tmp_path / "test_it.py"
    place.write_text("def test_a(): pass\ndef test_b(): assert 1 == 2\n", "utf-8")
    assert [one.is_held for one in make_attack(str(place))(tmp_path)] == [True, False]
    assert [one.is_held for one in make_attack(str(tmp_path / "none.py"))(tmp_path)] == [False]


@pytest.mark.kill
def test_a_database_on_its_bad_days_is_told_in_one_sentence(tmp_path: Path) -> None:
    attempts = list(attack_the_database(tmp_path, flips=2))
    assert len(attempts) > 100
    assert [one for one in attempts if not one.is_held] == []
