"""A bill that leaves a package out and an audit that looked nothing up do not pass for sound."""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
supply: Any = import_module("supply")  # a script, no part of the package


def test_every_installed_package_is_in_the_bill_however_it_is_spelt() -> None:
    bill = {"metadata": {"component": {"name": "own"}}, "components": [{"name": "A_b"}]}
    assert supply.check_bill(bill, {"own", "a-b"}) == ""
    assert "c" in supply.check_bill(bill, {"own", "a-b", "c"})


def test_what_was_not_looked_up_is_not_called_sound() -> None:
    sound, flawed = {"name": "a", "vulns": []}, {"name": "b", "vulns": [{"id": "X-1"}]}
    skipped = {"name": "c", "skip_reason": "not found"}
    for rows, code, word in (
        ([sound], 0, "No known"),
        ([sound, skipped], 0, "NOT AUDITED"),
        ([skipped, flawed], 1, "X-1"),
    ):
        told = supply.judge_audit(json.dumps({"dependencies": rows}))
        assert told[0] == code
        assert word in told[1]
    assert "NOT AUDITED" in supply.judge_audit("")[1]
