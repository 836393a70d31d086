"""Tests of reading Markdown."""

import time

import pytest

from fathom.reading.parsers.markdown import read_markdown


def text_of(markdown: str) -> str:
    return read_markdown(markdown, name="notes.md").text


def test_a_paragraph_stands_on_one_line() -> None:
    assert text_of("# Tides\n\nThe sea rises\ntwice a day.\n") == "# Tides\n\nThe sea rises twice a day."


def test_front_matter_gives_title_and_date_and_disappears() -> None:
    document = read_markdown('---\ntitle: "Tide notes"\ndate: 2024-05-06T10:00\n---\nThe sea.\n', name="a.md")
    assert (document.title, document.published, document.text) == ("Tide notes", "2024-05-06", "The sea.")


def test_front_matter_gives_author_site_and_language() -> None:
    source = (
        "---\ntitle: Tides\nauthor: [Ada Kim, Bo Li]\nsite: Water Board\nlang: en\ndate: 5\n---\n2018-01-01\n"
    )
    document = read_markdown(source, name="a.md")
    assert (document.author, document.publisher, document.language) == ("Ada Kim, Bo Li", "Water Board", "en")
    assert document.published is None


def test_definitions_are_whole_lines_and_code_and_addresses_stay() -> None:
    assert text_of("Level\n: How high.\n: Or `low`, see <https://a.example/b>.\n") == (
        "- Level: How high.\n  Or `low`, see https://a.example/b."
    )


def test_without_front_matter_the_first_heading_is_the_title() -> None:
    assert read_markdown("Intro\n\n## Low water\n", name="a/b.md").title == "Low water"
    far = "\n\n".join(["A sentence."] * 30)
    assert read_markdown(f"{far}\n\n# Tides\n", name="a/b.md").title == "Tides"
    assert read_markdown("---\ntitle: b.md\n---\n# Tides\n", name="a/b.md").title == "Tides"


def test_the_file_gives_the_title_only_where_the_text_has_none() -> None:
    assert read_markdown("Only words", name="a/b.md").title == "b.md"
    assert read_markdown("Low water\n\nThe sea falls.", name="a/b.md").title == "Low water"
    assert read_markdown("The sea falls.\n\nThen it rises.", name="a/b.md").title == "b.md"


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("a **bold** and *soft* __x__ _y_ ~~z~~ word", "a bold and soft x y z word"),
        ("비중이 **47%**까지 늘었다", "비중이 47%까지 늘었다"),
        ("see [the *chart*](http://a.example/x_(y) 'T') and [that][1]", "see the chart and that"),
        ("[![ok](https://b.example/x.svg)](https://ci.example) ![chart](c.png) words", "words"),
        (
            "keep `__init__` and snake_case_name and 2 * 3 * 4",
            "keep `__init__` and snake_case_name and 2 * 3 * 4",
        ),
        ("a <b>tag</b> but List<int> &amp; `<b>`", "a tag but List<int> & `<b>`"),
        ("go to <https://a.example/b> now[^1]", "go to https://a.example/b now"),
        (r"a \*star\* stays", "a *star* stays"),
        ("one<!-- two\nlines -->three", "onethree"),
        ("> quoted\n> words", "quoted words"),
    ],
)
def test_marks_go_and_words_stay(markdown: str, words: str) -> None:
    assert text_of(markdown) == words


def test_reference_definitions_and_rules_go_but_footnotes_stay() -> None:
    assert text_of("Words.\n\n[1]: http://a.example\n\n***\n\n[^1]: A note.") == "Words.\n\nA note."


def test_lists_keep_an_entry_a_line() -> None:
    source = "- one\n  goes on\n- two\n\n1. first\n2. second\n   * inner\n\nAfter."
    assert text_of(source) == "- one goes on\n- two\n\n1. first\n2. second\n  - inner\n\nAfter."


def test_tables_keep_a_row_a_line() -> None:
    assert text_of("| A | B |\n|---|:-:|\n| 1 | **2** |\n\nA | B\n--|--\n3 | 4") == (
        "| A | B |\n| 1 | 2 |\n\n| A | B |\n| 3 | 4 |"
    )


def test_code_is_left_alone() -> None:
    source = "~~~python\n# **no** heading\n\n<b> [x](y)\n~~~\n\n    indented\n      more\n"
    assert text_of(source) == "```\n# **no** heading\n\n<b> [x](y)\n```\n\n```\nindented\n  more\n```"


def test_underlined_and_html_headings_are_headings() -> None:
    source = '<h1 align="center">\n <img src="x.png"> Fathom\n</h1>\n\nTides\n=====\n\nLow\n---\nWater.'
    assert text_of(source) == "# Fathom\n\n# Tides\n\n## Low\n\nWater."


@pytest.mark.parametrize(
    "mark",
    ["*", "_", "[", "`", "``a`", "![", "|", "- ", "> ", "~~", "](", "*a ", "_a ", "<p ", "<h1>", "<style>"],
)
def test_thousands_of_unclosed_marks_take_no_time(mark: str) -> None:
    started = time.thread_time()
    text_of("x" + mark * 5000 + " end")
    assert time.thread_time() - started < 2
