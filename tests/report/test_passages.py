"""No key, number or address that a model wrote stands in the text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.report.passages import has_address, strip_marks


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("It costs 5 [E3].", "It costs 5."),
        ("It costs 5 [E3][E12], they say [1, 2].", "It costs 5, they say."),
        ("It costs 5 (E3, E4) a day [3-5] [^2].", "It costs 5 a day."),
        ("It costs 5【3†source】.", "It costs 5."),
        ("It costs 5 E3, E4.", "It costs 5."),
        ("E10 fuel costs 5 [E10].", "E10 fuel costs 5."),
        ("See [the page](https://evil.example/x) now.", "See the page now."),
        ("It costs 5 (https://evil.example/x).", "It costs 5."),
        ("It costs 5 www.evil.example/x", "It costs 5"),
        ("조력 발전은 5원이다 [E2].", "조력 발전은 5원이다."),
        ("a [sic] remark and an array [x, y]", "a [sic] remark and an array [x, y]"),
        ("[1]", ""),
    ],
)
def test_marks_of_others_are_gone(said: str, shown: str) -> None:
    assert strip_marks(said, "E10 fuel costs 5") == shown


@given(st.text(alphabet=st.sampled_from("aE1 2[]()^,-http:/w."), max_size=40))
def test_nothing_that_is_left_looks_like_a_citation(text: str) -> None:
    bare = strip_marks(text)
    assert not re.search(r"\[\^?E?\d{1,4}\](?!\()", strip_marks(bare))
    assert not has_address(bare)
