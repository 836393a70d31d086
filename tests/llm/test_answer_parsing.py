"""Whatever a model wrote around its answer, the answer is found or the fault is named."""

import json
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.llm.answer_parsing import UnusableAnswer, parse_answer, strip_thinking
from fathom.llm.roles.answer_forms import (
    ClaimForm,
    JudgeAnswer,
    OutlineAnswer,
    PlanAnswer,
    ReadAnswer,
    WriteAnswer,
)

SENTENCES = {"sentences": [{"text": "조력은 바다의 힘이다. {not a brace}", "claims": ["E1"]}]}
BARE = json.dumps(SENTENCES, ensure_ascii=False)


def texts_in(text: str) -> list[tuple[str, list[str]]]:
    """The sentences of what a writer answered, with their keys."""
    blocks = parse_answer(text, WriteAnswer).blocks
    return [(sentence.text, sentence.claims) for block in blocks for sentence in block.sentences]


CLAIM = {"question": "Q1", "quote": "a quote here", "statement": "It says so.", "relevance": 0.5}


@pytest.mark.parametrize(
    "text",
    [
        BARE,
        json.dumps(SENTENCES),
        f"```json\n{BARE}\n```",
        f"```\n{BARE}\n```\nHope that helps!",
        f"Sure! Here it is:\n\n{BARE}\n\nAnything else?",
        f"<think>maybe {{}} or {{\"sentences\": []}}?</think>\n{BARE}",
        f"<THINKING>\nhm\n</THINKING>{BARE}",
        f"so the answer {{\"sentences\": []}} is wrong </think>{BARE}",
        f"An example would be {{\"a\": 1}}, but here: {BARE}",
        BARE.replace("]}]}", ",],},],}"),
        BARE[:-1],
        BARE[:-2],
        f"```json\n{BARE[:-1]}",
        json.dumps({**SENTENCES, "note": "extra"}),
        f"\ufeff{BARE}",
    ],
)  # fmt: skip
def test_the_form_is_found_in_whatever_was_written(text: str) -> None:
    assert texts_in(text) == [("조력은 바다의 힘이다. {not a brace}", ["E1"])]


def test_a_fence_inside_a_string_does_not_cut_the_answer() -> None:
    answer = {"sentences": [{"text": "Write ```python\nx\n``` so.", "claims": []}, *SENTENCES["sentences"]]}
    text = f"```json\n{json.dumps(answer)}\n```"
    assert [words for words, _ in texts_in(text)] == [s["text"] for s in answer["sentences"]]


@pytest.mark.parametrize("words", ["ends with </think> always", "<think>so</think> it goes", "a <think> tag"])
def test_tags_inside_an_answer_are_words_of_the_answer(words: str) -> None:
    answer = {"sentences": [{"text": words, "claims": []}]}
    assert texts_in(json.dumps(answer))[0][0] == words


def test_what_was_only_thought_is_not_an_answer() -> None:
    with pytest.raises(UnusableAnswer, match="no JSON object"):
        parse_answer(f"<think>I could say {BARE} but wait", WriteAnswer)
    assert strip_thinking("<think>cut off in the middle") == ""


def test_a_cut_off_answer_keeps_its_whole_entries() -> None:
    text = json.dumps({"claims": [CLAIM, {**CLAIM, "statement": "second"}]})
    for end in range(text.index("second") - 20, text.index("second")):
        assert [c.statement for c in parse_answer(text[:end], ReadAnswer).claims] == ["It says so."]


def test_a_bad_entry_is_dropped_and_the_good_ones_stay() -> None:
    bad = [{**CLAIM, "relevance": "very"}, {"question": "Q1"}, None, "words", 7]
    text = json.dumps({"claims": [bad[0], CLAIM, *bad[1:], {**CLAIM, "statement": "And so."}]})
    assert [c.statement for c in parse_answer(text, ReadAnswer).claims] == ["It says so.", "And so."]


def test_numbers_where_words_are_wanted_become_words() -> None:
    form = {"title": "T", "sections": [{"title": 3, "question": 1, "claims": [1, "E2"]}]}
    assert parse_answer(json.dumps(form), OutlineAnswer).sections[0].claims == ["1", "E2"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JSON object"),
        ("   \n", "no JSON object"),
        ("I cannot help with that.", "no JSON object"),
        ("null", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        ("{", "strategy: Field required"),
        ("{]", "strategy: Field required"),
        ('{"strategy": null, "questions": [], "queries": []}', "strategy: Input should be a valid string"),
        ('{"strategy": "s", "questions": null, "queries": []}', "questions: Input should be a valid list"),
        ('{"strategy": "s", "questions": [], "queries": {}}', "queries: Input should be a valid list"),
    ],
)
def test_what_is_wrong_is_named_for_the_repair(text: str, said: str) -> None:
    with pytest.raises(UnusableAnswer, match=said):
        parse_answer(text, PlanAnswer)


def test_the_fault_named_is_that_of_the_answer_and_not_of_a_part_of_it() -> None:
    text = json.dumps({"strategy": "s", "questions": [{"id": "Q1", "text": "Why?"}]})
    with pytest.raises(UnusableAnswer) as caught:
        parse_answer(text, PlanAnswer)
    assert str(caught.value) == "queries: Field required"


def test_a_mark_that_is_no_number_fails_the_form() -> None:
    marks = {"evidence": "E1", "accuracy": "4", "relevance": 4.0, "completeness": 3, "consistency": 3}
    assert parse_answer(json.dumps({**marks, "gaps": []}), JudgeAnswer).accuracy == 4
    with pytest.raises(UnusableAnswer, match="accuracy"):
        parse_answer(json.dumps({**marks, "accuracy": "it depends", "gaps": []}), JudgeAnswer)


@given(st.text(max_size=80))
def test_no_text_at_all_breaks_the_parser(text: str) -> None:
    for words in (text, f"{{{text}", f'{{"claims": [{text}'):
        try:
            parse_answer(words, ReadAnswer)
        except UnusableAnswer as error:
            assert str(error)


SHORT = st.text(max_size=40)  # a longer one may be a loop, and loops are dropped


@given(st.builds(ClaimForm, question=SHORT, quote=SHORT, statement=SHORT, relevance=st.floats(0, 1)))
def test_any_answer_survives_its_wrapping(claim: ClaimForm) -> None:
    answer = ReadAnswer(claims=[claim])
    text = answer.model_dump_json()
    assert parse_answer(text, ReadAnswer) == answer
    assert parse_answer(f"Here you are:\n```json\n{text}\n```", ReadAnswer) == answer


@pytest.mark.parametrize(
    "unit", ["{", "[", '{"a": ', "<think>", '{"x": 1},', '{"claims": [', "```json\n{"], ids=ascii
)
def test_a_model_that_says_the_same_for_ever_does_not_keep_everybody_waiting(unit: str) -> None:
    said = f'{{"claims": [{unit * 4_000}' if unit.endswith(",") else unit * 8_000
    began = time.process_time()
    with suppress(UnusableAnswer):
        assert parse_answer(said, ReadAnswer).claims == []
    assert time.process_time() - began < 4.0  # it took up to a minute


def test_an_answer_of_many_megabytes_is_read_as_far_as_anybody_would() -> None:
    began = time.process_time()
    found = parse_answer(
        json.dumps({"claims": [{**CLAIM, "quote": f"{n}"} for n in range(50_000)]}), ReadAnswer
    )
    assert 0 < len(found.claims) <= 500
    assert time.process_time() - began < 4.0


@pytest.mark.parametrize("marks", ['"', "'"])
@pytest.mark.parametrize(
    ("said", "meant"), [("\\ud800 x", "\ufffd x"), ("\\ude00", "\ufffd"), ("\\ud83d\\ude00", "\U0001f600")]
)
def test_half_a_character_is_none(marks: str, said: str, meant: str) -> None:
    text = f'{{"sentences": [{{"text": "a {said}", "claims": []}}]}}'.replace('"', marks)
    assert texts_in(text)[0][0] == f"a {meant}"


def test_thinking_of_one_kind_does_not_end_with_another() -> None:
    assert strip_thinking("a <think>b </reasoning> c</think> d <reasoning>e</reasoning>") == "a  d"
    assert strip_thinking("a <THINK>b</think> c <think>d") == "a  c <think>d"
