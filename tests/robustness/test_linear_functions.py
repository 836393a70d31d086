"""What combines patterns takes linear time too, or reads only so much of a text that it ends soon."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from fathom.errors import Unreadable
from fathom.evidence.checks import parse_text
from fathom.evidence.checks.dates import find_dates
from fathom.evidence.checks.derivation import Passage, find_underived
from fathom.evidence.checks.figures import find_figures, find_loose_figures
from fathom.evidence.checks.strict import find_amounts, find_wrong_amounts
from fathom.evidence.checks.suspicions import find_suspicions
from fathom.evidence.grounding import QuoteFinder
from fathom.llm.answer_parsing import UnusableAnswer, parse_answer, strip_thinking
from fathom.llm.roles.answer_forms import ReadAnswer
from fathom.reading.parsers import parse_document
from fathom.reading.units import whole_units
from fathom.report.formats.markdown import escape_markdown as plain_markdown
from fathom.report.passages import strip_marks
from fathom.text.mentions import find_name_phrases
from fathom.text.sentences import split_sentences

UNITS = (
    "from 3 to 5 ", "1 ", "12 ", "2024년 ", "Jan 1, 2024 ", "a", "a ", "가 나 ", "3% of the ", "twenty ",
    "한 명 ", "not 5 ", "five, ", "A.B. ", "[1](", "- a\n", "# h\n", "`a", "| a ", "\n", " ", '{"a":', "[",
    "<a", "<!--a-->",
)  # fmt: skip
SHORT, LONG = 2_000, 8_000
MOST_GROWTH = 8.0  # four times the text; what is quadratic takes sixteen times as long
ALWAYS_FINE_S = 0.12
SAID = "It rose from 3 to 5 in 2024, not in 2023."


def _answer(text: str) -> None:
    with suppress(UnusableAnswer):
        parse_answer(text, ReadAnswer)


def _document(name: str) -> Callable[[str], None]:
    def read(text: str) -> None:
        with suppress(Unreadable):
            parse_document(f"x {text}".encode(), content_type=None, name=name)

    return read


FUNCTIONS: dict[str, Callable[[str], Any]] = {
    "figures": find_figures,
    "loose figures": find_loose_figures,
    "dates": find_dates,
    "amounts": find_amounts,
    "wrong amounts": lambda text: find_wrong_amounts(text, [f"{text}."]),
    "underived of a long statement": lambda text: find_underived(text, Passage((SAID,))),
    "underived from a long quote": lambda text: find_underived(SAID, Passage((text,))),
    "suspicions about a long statement": lambda text: find_suspicions(text, Passage((SAID,))),
    "suspicions with a long quote": lambda text: find_suspicions(SAID, Passage((text,))),
    "suspicions about both": lambda text: find_suspicions(f"{text}x", Passage((text,))),
    "a quote that is nearly there": lambda text: QuoteFinder("0" * 64, text).find(f"{text[:500]}zz"),
    "a quote that begins inside a number": lambda text: QuoteFinder("0" * 64, text).find(text[1:700]),
    "words": parse_text,
    "sentences": split_sentences,
    "phrases": find_name_phrases,
    "whole units": whole_units,
    "plain text": _document("a.txt"),
    "Markdown": _document("a.md"),
    "HTML": _document("a.html"),
    "Python": _document("a.py"),
    "plain words of Markdown": plain_markdown,
    "text without marks": strip_marks,
    "an answer": _answer,
    "thinking aloud": lambda text: strip_thinking(f"<think>{text}"),
}


def _seconds(function: Callable[[str], Any], text: str) -> float:
    began = time.thread_time()
    result = function(text)
    if isinstance(result, Iterator):
        list(result)
    return time.thread_time() - began


def _is_worse_than_linear(function: Callable[[str], Any], unit: str) -> bool:
    for attempt in range(3):  # noise does not come three times; another end, so that nothing is remembered
        short = _seconds(function, unit * (SHORT // len(unit)) + "xyz"[attempt])
        long = _seconds(function, unit * (LONG // len(unit)) + "xyz"[attempt])
        if long < max(MOST_GROWTH * short, ALWAYS_FINE_S):
            return False
    return True


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_long_text_takes_no_more_than_linear_time(name: str) -> None:
    slow = [unit for unit in UNITS if _is_worse_than_linear(FUNCTIONS[name], unit)]
    assert slow == []


@pytest.mark.parametrize("unit", ["from 3 to 5 ", "1 ", "12 ", "not 5 ", "2024년 "])
def test_a_claim_of_repeated_figures_is_checked_in_a_moment(unit: str) -> None:
    text = unit * (8_000 // len(unit))
    began = time.thread_time()
    find_suspicions(f"{text}more", Passage((text,)))
    find_underived(f"{text}more", Passage((text,)))
    assert time.thread_time() - began < 2


def test_a_body_of_comments_alone_is_sniffed_in_a_moment() -> None:
    began = time.thread_time()
    for name in ("a", "a.xml", "a.txt"):
        with suppress(Unreadable):
            parse_document(b"<!--a--> " * 2_000, content_type="application/octet-stream", name=name)
    assert time.thread_time() - began < 0.5


def test_a_slow_function_would_be_noticed() -> None:
    def compare_all(text: str) -> int:
        words = text.split()
        return sum(one == other for one in words for other in words)

    assert _is_worse_than_linear(compare_all, "a ")
