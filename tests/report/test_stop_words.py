"""A Korean report says in Korean why the run stopped."""

import pytest
from fakes import gap

from fathom.evidence.stopping import RULES, Position
from fathom.report.stop_words import in_korean
from fathom.text.normal import is_korean

AT = Position(
    9, 9, 0.9, 0.8, 0.9, 6, 10, 0, [gap("low")], 2.0, 1.0, True, False, 1.0, 0.9, worked_s=9, time_limit_s=8
)  # fmt: skip


@pytest.mark.parametrize("name", [name for name in RULES if name not in {"settled", "gain too low"}])
def test_every_rule_is_told_in_korean(name: str) -> None:
    because = RULES[name](AT)  # type: ignore[index]
    assert because
    assert is_korean(in_korean(because))


def test_numbers_stay_and_what_is_not_known_stays_as_it_is() -> None:
    assert in_korean("0 new findings on 2 known") == "알려진 2건에 새로운 것 0건"
    assert (
        in_korean("0.24 new findings a query of 0.25 needed")
        == "검색 한 번에 새로운 것 0.24건, 필요한 것 0.25건"
    )
    assert is_korean(in_korean("9.90 new findings a USD, and 0.0000 USD are left"))
    assert in_korean("something else") == "something else"
