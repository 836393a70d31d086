"""Tests of reading reStructuredText."""

import time
from pathlib import Path

import pytest

from fathom.reading.parsers.rst import read_rst


def text_of(rst: str) -> str:
    return read_rst(rst, name="notes.rst").text


def test_underlined_titles_become_headings_by_their_order() -> None:
    source = "=====\nTides\n=====\n\nHigh\n----\nWords.\n\nSpring\n~~~~~~\n\nLow\n---\n\n바다\n----\n"
    assert text_of(source) == "# Tides\n\n## High\n\nWords.\n\n### Spring\n\n## Low\n\n## 바다"


@pytest.mark.parametrize(
    ("rst", "words"),
    [
        ("a :class:`~sea.tide.Wave` and :ref:`words <target>`", "a `Wave` and words"),
        ("``lit __x__`` **bold** *soft*", "`lit __x__` bold soft"),
        ("`text <http://a.example>`_ and `phrase`_ and word_ here [1]_.", "text and phrase and word here."),
        ("|release| notes", "release notes"),
        ("two\nlines", "two lines"),
    ],
)
def test_marks_go_and_words_stay(rst: str, words: str) -> None:
    assert text_of(rst) == words


def test_literal_blocks_and_code_directives_are_fenced() -> None:
    source = "Example::\n\n    x = 1\n\n    y = 2\n\n.. code-block:: python\n   :linenos:\n\n   z = 3\n\nEnd."
    assert text_of(source) == "Example:\n\n```\nx = 1\n\ny = 2\n```\n\n```\nz = 3\n```\n\nEnd."


def test_notes_keep_their_words_and_pictures_and_comments_go() -> None:
    source = (
        ".. note:: Mind\n   it.\n\n.. versionadded:: 3.2\n   Waves.\n\n.. image:: x.png\n   :alt: f\n\n"
        ".. _target:\n\n.. a comment\n   goes on\n\n.. toctree::\n\n   a\n   b\n\n.. [1] A footnote."
    )
    assert text_of(source) == "Mind it.\n\nAdded in version 3.2: Waves.\n\nA footnote."


def test_lists_fields_and_tables_keep_a_line_each() -> None:
    source = (
        "* one\n  goes on\n* two\n\n#. first\n\n:param a: the\n    a\n:returns: nothing\n\n"
        "== =====\nA  B\n== =====\n1  two x\n== =====\n"
    )
    assert text_of(source) == (
        "- one goes on\n- two\n\n1. first\n\n- param a: the a\n- returns: nothing\n\n| A | B |\n| 1 | two x |"
    )


def test_unknown_markup_keeps_its_words_and_nothing_is_included(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    source = (
        ".. tab-set::\n   :sync-group: os\n\n   .. tab-item:: Linux\n\n      Use :kbd:`Ctrl` here.\n\n"
        "      Deep\n      ----\n      Inside.\n\n"
        ".. py:function:: rise(*args, **more)\n   :async:\n\n   Lift it.\n\n"
        f".. include:: {tmp_path}/secret.txt\n\n.. literalinclude:: {tmp_path}/secret.txt\n\n"
        f".. csv-table::\n   :file: {tmp_path}/secret.txt\n\n"
        f".. raw:: html\n   :file: {tmp_path}/secret.txt\n\n"
        f".. code::\n   :file: {tmp_path}/secret.txt\n\n   x = 1\n\nEnd.\n"
    )
    text = text_of(source)
    assert "secret" not in text.replace(f"{tmp_path}/secret.txt", "")
    for words in (
        "Linux",
        "Use `Ctrl` here.",
        "Deep",
        "Inside.",
        "rise(*args, **more)",
        "Lift it.",
        "x = 1",
        "End.",
    ):
        assert words in text


def test_definitions_and_options_are_whole_lines() -> None:
    source = "Level\n    How high.\n\n    Or low.\n\n-v, --verbose  Say more.\n"
    assert text_of(source) == "- Level: How high.\n  Or low.\n\n- -v, --verbose: Say more."


def test_doctests_are_fenced() -> None:
    assert text_of("So:\n\n>>> 1 + 1\n2\n") == "So:\n\n```\n>>> 1 + 1\n2\n```"


@pytest.mark.parametrize("mark", ["*a ", "- ", "``a", "`a <", ":a:`", "|a", "\t-", "  - \n"])
def test_thousands_of_unclosed_marks_take_no_time(mark: str) -> None:
    started = time.thread_time()
    text_of("x " + mark * 5000 + " end\n\n" + mark * 5000 + " end")
    assert time.thread_time() - started < 2
