"""Sentences stand where they say they stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.text.sentences import sentences


def texts(text: str) -> list[str]:
    return [span.text for span in sentences(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One is here. Two is there! Three?", ["One is here.", "Two is there!", "Three?"]),
        (
            "It costs 3.5 million. Dr. Kim, e.g. in U.S. papers.",
            ["It costs 3.5 million.", "Dr. Kim, e.g. in U.S. papers."],
        ),
        ("So, approx. ten. Only lapprox. Next.", ["So, approx. ten.", "Only lapprox.", "Next."]),
        ("He said “stop.” Then (he left.) So.", ["He said “stop.”", "Then (he left.)", "So."]),
        ("발전소가 열렸다. 비용은 3.5억이다. 끝인가?", ["발전소가 열렸다.", "비용은 3.5억이다.", "끝인가?"]),
        ("潮力发电。它很贵！对吗？", ["潮力发电。", "它很贵！", "对吗？"]),
        ("- first item\n* second\n3. third\n[4] fourth", ["first item", "second", "third", "fourth"]),
        ("no full stop", ["no full stop"]),
        ("", []),
        ("\n\n  \n", []),
    ],
)
def test_text_is_cut_where_sentences_end(text: str, found: list[str]) -> None:
    assert texts(text) == found


def test_code_tables_prompts_and_headings_are_left_out() -> None:
    code = "```py\ncode is here.\n```\n~~~\nmore code.\n~~~\n"
    text = f"Before.\n\n{code}| a | b. |\n>>> x = 1.\n$ run it.\n# Head.\nAfter."
    assert texts(text) == ["Before.", "After."]


def test_a_sentence_knows_its_heading() -> None:
    found = sentences("Zero.\n# One\nFirst.\n## Two \nSecond.")
    assert [(s.text, s.heading) for s in found] == [("Zero.", ""), ("First.", "One"), ("Second.", "Two")]


def test_a_row_of_stops_that_ends_nothing_takes_no_time() -> None:
    text = "." * 200_000 + "x"
    assert texts(text) == [text]


@given(st.text(alphabet=st.sampled_from("abC .!?\n-#|`다。“”1\t\r\u2028"), max_size=120))
def test_a_sentence_is_always_where_it_says(text: str) -> None:
    end = 0
    for span in sentences(text):
        assert text[span.start : span.end] == span.text
        assert span.text.strip() == span.text
        assert span.start >= end
        end = span.end
