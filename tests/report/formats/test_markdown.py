"""The only addresses in a report are those of pages that were read."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fathom.report.formats.markdown import escape_markdown, name_address
from fathom.text.messages import ENGLISH, KOREAN, messages_for


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("See https://evil.example/a?b=c now.", "See evil.example now."),
        ("at HTTP://EVIL.example/x", "at evil.example"),
        ("www.evil.example/x is it", "evil.example is it"),
        ("a [link](https://evil.example) here", "a [link]\\(evil.example) here"),
        ("an ![image](x.png)", "an ![image]\\(x.png)"),
        ("a [ref][1]", "a [ref]\\[1]"),
        ("[1]: //evil.example", "[1]\\: //evil.example"),
        ("<script>alert(1)</script>", "\\<script>alert(1)\\</script>"),
        ("<https://evil.example>", "\\<evil.example>"),
        ("\\<img src=x>", "\\\\\\<img src=x>"),
        ("<!-- hidden", "\\<!-- hidden"),
        ("if a < b and c<3", "if a < b and c<3"),
        ("# A heading", "\\# A heading"),
        ("``` never closed", "\\``` never closed"),
        ("> quoted", "\\> quoted"),
        ("two\nlines\n\n# three", "two lines # three"),
        ("#1 in [the list] (see 5*3)", "#1 in [the list] (see 5*3)"),
        ("at http://[broken now", "at  now"),
        ("\x1b]0;mine\x07a \x1b[2Jtitle\x9b1A", "]0;minea [2Jtitle1A"),
        ("\u202egnp.exe", "gnp.exe"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_words_of_others_are_only_words(said: str, shown: str) -> None:
    assert escape_markdown(said) == shown


@given(st.text(alphabet=st.sampled_from("ab<>/[]():\\!#`htps.w-℀ \n"), max_size=60))
@example("http://[::1")
@example("https://exam℀ple.example/x")
def test_no_words_become_a_link_or_a_tag(text: str) -> None:
    shown = escape_markdown(text)
    assert "\n" not in shown
    assert not re.search(r"(?<!\\)(?:\\\\)*<[A-Za-z/!?]", shown)
    assert not re.search(r"\](?:\(|\[|:)", shown)
    outside = re.sub("`[^`]*`", "", shown) if "``" not in shown else shown
    assert not re.search(r"https?://\w", outside)


@pytest.mark.parametrize(
    "said",
    [
        "Set the host to `http://localhost:8080/mcp` and restart `serve`.",
        "서버 주소는 `https://api.example/v1?x=1`입니다.",
    ],
)
def test_an_address_in_code_marks_stays_whole(said: str) -> None:
    assert escape_markdown(said) == said


def test_code_marks_that_do_not_close_hide_no_link() -> None:
    assert escape_markdown("a ` b https://evil.example/x c") == "a ` b evil.example c"
    assert "://" not in escape_markdown("``a ` https://evil.example ` b``")


@pytest.mark.parametrize(
    ("what", "name"),
    [
        ("https://a.example/x?token=1", "a.example/x"),
        ("file:///notes/my%20file.md", "/notes/my file.md"),
        ("file:///notes/a%60b.md", "/notes/a'b.md"),
        ("tidal `power`\ncost", "tidal 'power' cost"),
        ("http://[broken", "http://[broken"),
    ],
)
def test_what_was_not_read_does_not_look_like_a_source(what: str, name: str) -> None:
    assert name_address(what) == name


@pytest.mark.parametrize(
    ("question", "language", "words"),
    [
        ("What is it?", None, ENGLISH),
        ("조력 발전이란?", None, KOREAN),
        ("조력 발전이란?", "English", ENGLISH),
        ("What is it?", " Korean", KOREAN),
        ("What is it?", "한국어", KOREAN),
        ("What is it?", "ko-KR", KOREAN),
        ("What is it?", "  ", ENGLISH),
    ],
)
def test_a_report_speaks_the_language_that_was_asked_for(
    question: str, language: str | None, words: object
) -> None:
    assert messages_for(question, language) is words
