"""Sentences stand where they say they stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.text.sentences import is_complete_sentence, is_instruction, split_passages, split_sentences


def test_a_short_document_is_one_passage() -> None:
    assert list(split_passages("# Title\n\nSome words.")) == ["# Title\n\nSome words."]


def test_passages_end_where_blocks_end() -> None:
    blocks = [f"Block {number} " + "word " * 60 for number in range(10)]
    cut = list(split_passages("\n\n".join(block.strip() for block in blocks)))
    assert len(cut) > 1
    assert all(passage.startswith("Block") and len(passage) <= 1200 for passage in cut)


def test_a_new_section_starts_a_new_passage() -> None:
    cut = list(split_passages("a " * 400 + "\n\n# Second\n\nmore words"))
    assert cut[1] == "# Second\n\nmore words"


@given(st.text(alphabet="ab .\n", max_size=500), st.integers(10, 50))
def test_no_word_is_lost_and_no_passage_is_too_long(text: str, limit: int) -> None:
    cut = list(split_passages(text, max_chars=limit))
    assert "".join("".join(cut).split()) == "".join(text.split())
    assert all(len(passage) <= limit + 2 for passage in cut)


@pytest.mark.parametrize(
    "sentence",
    [
        "Buffers allow long runs to keep their state.",
        "A servicer delegates to the engine.",
        "Ten turbines stand in a wall of 1.2 kilometres.",
        "Fishermen protested against the wall.",
        "Colonies with strong queens survive more often.",
        "Use of solar power rose.",
        "Water boils at 100 degrees.",
        "Bees pollinate crops.",
        "열펌프는 바깥의 열을 옮기는 기계이다.",
        "발전소는 언제 문을 열었나요?",
    ],
)
def test_a_sentence_says_something_of_something(sentence: str) -> None:
    assert is_complete_sentence(sentence)


@pytest.mark.parametrize(
    "label",
    [
        "Data models for talking to the service.",
        "Plant service implementation.",
        "Requires a buffer to be set.",
        "Maps to plant status 3.",
        "Base class for making a graph.",
        "Photos of the tidal station.",
        "Use the first valve.",
        "It lasts about 20 years.",
        "열펌프 설치 안내",
        "이는 2011년의 일이다.",
        "",
    ],
)
def test_a_label_an_order_and_what_leans_on_another_sentence_do_not(label: str) -> None:
    assert not is_complete_sentence(label)


def test_an_order_is_told_from_its_noun() -> None:
    assert is_instruction("Use the first valve.")
    assert not is_instruction("Use of the valve is rare.")


def texts(text: str) -> list[str]:
    return [span.text for span in split_sentences(text)]


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
    found = split_sentences("Zero.\n# One\nFirst.\n## Two \nSecond.")
    assert [(s.text, s.heading) for s in found] == [("Zero.", ""), ("First.", "One"), ("Second.", "Two")]


def test_a_row_of_stops_that_ends_nothing_takes_no_time() -> None:
    text = "." * 200_000 + "x"
    assert texts(text) == [text]


@given(st.text(alphabet=st.sampled_from("abC .!?\n-#|`다。“”1\t\r\u2028"), max_size=120))
def test_a_sentence_is_always_where_it_says(text: str) -> None:
    end = 0
    for span in split_sentences(text):
        assert text[span.start : span.end] == span.text
        assert span.text.strip() == span.text
        assert span.start >= end
        end = span.end


def test_a_quoted_question_does_not_end_the_sentence_around_it() -> None:
    text = 'It carries the prompt “Delete 3 files?” and a string. He asked "Why?" She left.'
    assert [span.text for span in split_sentences(text)] == [
        "It carries the prompt “Delete 3 files?” and a string.",
        'He asked "Why?"',
        "She left.",
    ]
