"""A file of questions is read whole before anything starts, and a bad line is told by its number."""

import json
from pathlib import Path

import pytest

from fathom.batch_file import Notes, read_questions
from fathom.errors import BadInput


def test_blank_lines_and_comments_are_left_out_and_numbers_are_those_of_the_file() -> None:
    text = "\ufeff# mine\n\nWhat?\n   \n  # not this\n조력 발전?\r\n"
    assert [(one.number, one.request.query) for one in read_questions(text, {})] == [
        (3, "What?"),
        (6, "조력 발전?"),
    ]


def test_a_line_may_have_settings_of_its_own_under_any_name_they_have() -> None:
    line = {
        "question": "What?", "rounds": 2, "budget": 0.5, "engines": ["arxiv"], "time-limit": 9,
        "max_sources": 3, "only": ["a.example"], "review": "plan",
    }  # fmt: skip
    (one,) = read_questions(json.dumps(line), {"max_rounds": 7, "threshold": 0.4})
    run_config = one.request.run_config()
    assert (run_config.rounds, run_config.sources, run_config.budget_usd, run_config.time_limit_s) == (
        2,
        3,
        0.5,
        9,
    )
    assert (run_config.engines, run_config.include_domains, run_config.threshold) == (
        ["arxiv"],
        ["a.example"],
        0.4,
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "There is no question in the file."),
        ("# only this", "There is no question in the file."),
        ("ok\n" + "x" * 2001, "Line 2: The question is longer than 2000 characters."),
        ('{"question": "x", "rouns": 2}', "Line 1: There is no setting 'rouns'; did you mean rounds?"),
        ('\n{"question": "x", "zzzz": 2}', "Line 2: There is no setting 'zzzz'."),
        ('{"question": "x", "rounds": 0}', "Line 1: --rounds should be greater than or equal to 1."),
        ('{"rounds": 1}', "Line 1: There is no question in it."),
        ('{"question": "x"', "Line 1: It begins like JSON and is none ("),
        ('{"question": "x", "base_url": "http://e.example/v1"}', "Line 1: A model's server is named on"),
        ('{"question": ""}\n{"question": ""}', "Line 1: The question is empty. One more line is bad."),
        ('{"a": 1}\n{"b": 1}\n{"c": 1}', "Line 1: There is no setting 'a'. 2 more lines are bad."),
    ],
)
def test_a_bad_line_is_told_by_its_number(text: str, sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_questions(text, {})
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_a_question_keeps_its_name_while_it_is_asked_the_same() -> None:
    first = {one.request.query: one.key for one in read_questions("A?\nB?\nB?", {})}
    again = {one.request.query: one.key for one in read_questions("# new\nC?\nB?\nA?\nB?", {})}
    assert {name: again[name] for name in first} == first
    keys = [one.key for one in read_questions("A?\nA?\n" + json.dumps({"question": "A?", "rounds": 2}), {})]
    assert len(set(keys)) == 3
    assert read_questions("A?", {"max_rounds": 1})[0].key not in keys


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"questions": {"a": 1}}', '{"questions": {"a": {}}}', "\x00"]
)
def test_a_file_that_is_no_batch_of_ours_is_refused_and_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "batch.json"
    path.write_text(text)
    with pytest.raises(BadInput, match="is no file of a batch"):
        Notes(path).entries()
    assert path.read_text() == text


def test_notes_are_read_as_they_were_written(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "deep" / "batch.json")
    assert notes.entries() == {}
    notes.write({"a": {"run_id": "1", "question": "조력?"}})
    assert notes.entries() == {"a": {"run_id": "1", "question": "조력?"}}
    assert [path.name for path in notes.path.parent.iterdir()] == ["batch.json"]
