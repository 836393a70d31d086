"""A file of questions is read whole before anything starts, and a bad line is told by its number."""

import asyncio
import json
import random
from pathlib import Path

import pytest

from fathom.errors import BadInput
from fathom.runs.batch import BatchNotes, TotalBudget, read_questions


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
        BatchNotes(path).entries()
    assert path.read_text() == text


def test_notes_are_read_as_they_were_written(tmp_path: Path) -> None:
    notes = BatchNotes(tmp_path / "deep" / "batch.json")
    assert notes.entries() == {}
    notes.write({"a": {"run_id": "1", "question": "조력?"}})
    assert notes.entries() == {"a": {"run_id": "1", "question": "조력?"}}
    assert [path.name for path in notes.path.parent.iterdir()] == ["batch.json"]


async def test_without_a_total_everybody_gets_what_they_want() -> None:
    total = TotalBudget(None)
    assert [await total.hold(5.0) for _ in range(3)] == [5.0, 5.0, 5.0]
    await total.settle(5.0, 5.0)


async def test_the_last_one_gets_what_is_left_and_then_nobody_anything() -> None:
    total = TotalBudget(2.5)
    assert await total.hold(1.0) == 1.0
    assert await total.hold(1.0) == 1.0
    waiting = asyncio.ensure_future(total.hold(1.0))
    await asyncio.sleep(0)
    assert not waiting.done()  # somebody may give something back
    await total.settle(1.0, 1.0)
    await total.settle(1.0, 1.0)
    assert await waiting == pytest.approx(0.5)
    await total.settle(0.5, 0.5)
    assert await total.hold(1.0) is None


async def test_what_is_given_back_is_there_for_the_next() -> None:
    total = TotalBudget(1.0)
    assert await total.hold(1.0) == 1.0
    waiting = asyncio.ensure_future(total.hold(0.9))
    await asyncio.sleep(0)
    await total.settle(1.0, 0.1)
    assert await waiting == 0.9


async def test_nothing_may_be_spent_on_what_costs_nothing() -> None:
    total = TotalBudget(0.0)
    assert await total.hold(0.0) == 0.0
    assert await total.hold(1.0) is None


@pytest.mark.parametrize("seed", range(20))
async def test_however_they_are_worked_on_no_more_is_spent(seed: int) -> None:
    chance = random.Random(seed)
    usd = chance.choice([0.5, 3.0, 10.0])
    total, spent = TotalBudget(usd), 0.0

    async def question() -> None:
        nonlocal spent
        held = await total.hold(chance.uniform(0.1, 2.0))
        if held is None:
            return
        await asyncio.sleep(0)
        used = held * chance.random()
        spent += used
        await total.settle(held, used)

    await asyncio.wait_for(asyncio.gather(*(question() for _ in range(30))), 5)
    assert spent <= usd + 1e-6
