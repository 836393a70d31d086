"""What is tried only where it can begin is found as if it were tried everywhere."""

import re

from hypothesis import given
from hypothesis import strategies as st

from fathom.text.spotting import spotted

_SUM = re.compile(r"(?:[$]|USD)?\s?(?<!\w)\d+(?: million)?")
_BEGINS = re.compile(r"[$U\s\d]")


@given(st.text(st.sampled_from("a$ 12USD."), max_size=30))
def test_matches_are_those_of_the_pattern_alone(text: str) -> None:
    found = [match.span() for match in spotted(_SUM, _BEGINS, text)]
    assert found == [match.span() for match in _SUM.finditer(text)]


def test_a_match_is_not_looked_for_inside_another() -> None:
    text = "It cost $12 million 3 times"
    assert [m.group() for m in spotted(_SUM, _BEGINS, text)] == ["$12 million", " 3"]
