"""A plan as an editable list: only a line that is nothing but a command is one."""

import pytest

from fathom.cli.review import Draft, Wish, plan_lines, read_wish
from fathom.text.messages import ENGLISH

SHOWN = {
    "round": 2,
    "strategy": "Look it up.",
    "summary": "After round 1 there are 4 claims from 2 pages.",
    "questions": ["What is it?", "What speaks against it?"],
    "queries": ["tides", "silt", "cost"],
    "suggested": ["turbine wear", "dredging"],
    "findings": ["A barrage stores water. (LIKELY)"],
    "gaps": ["nothing on prices"],
    "spent_usd": 0.0312,
    "budget_usd": 1.0,
    "forecast": {"expected_usd": 0.2, "worst_usd": 0.9, "expected_s": 75, "worst_s": 3700},
}


@pytest.fixture
def draft() -> Draft:
    return Draft.of(SHOWN)


@pytest.mark.parametrize("line", ["", "  ", "y", "yes", "OK"])
def test_a_plan_that_is_fine_is_approved(draft: Draft, line: str) -> None:
    assert read_wish(line, draft) == Wish("go on")
    assert draft.answer().action == "approve"


@pytest.mark.parametrize(
    "line",
    [
        "No, leave the weather out",
        "stop looking at prices",
        "now look at silt",
        "Write about turbines",
        "q is not a good letter",
        "3 percent is too low",
        "- drop the weather",
        "a query about silt is missing",
        "아니요, 지금은 흙만 보세요",
        "yes but only for wind",
    ],
)
def test_words_in_a_sentence_are_just_words(draft: Draft, line: str) -> None:
    assert read_wish(line, draft) == Wish("feedback", text=line)


@pytest.mark.parametrize("line", ["no", "stop", "now", "x", "later", "지금"])
def test_one_word_alone_decides_nothing(draft: Draft, line: str) -> None:
    wish = read_wish(line, draft)
    assert wish.kind == "nothing"
    assert line in ENGLISH(f"plan.{wish.text}", **wish.values)


@pytest.mark.parametrize("line", ["4", "0", "q3", "-4", "-1 9", "- q7"])
def test_what_is_not_there_is_neither_edited_nor_removed(draft: Draft, line: str) -> None:
    wish = read_wish(line, draft)
    assert ENGLISH(f"plan.{wish.text}", **wish.values).startswith("There is no ")


def test_entries_are_edited_removed_added_and_brought_back(draft: Draft) -> None:
    assert read_wish("2", draft).numbers == {("queries", 2)}
    assert read_wish("Q2", draft).numbers == {("questions", 2)}
    less = draft.remove(set(read_wish("-1, 3", draft).numbers))
    assert less.queries == ("silt",)
    assert less.remove(set(read_wish("-q1", less).numbers)).questions == ("What speaks against it?",)
    assert read_wish("s2", draft) == Wish("add", text="dredging")
    assert read_wish("+ 조력 발전", draft) == Wish("add", text="조력 발전")
    assert read_wish("+q Who pays?", draft) == Wish("add", "questions", text="Who pays?")
    more = less.add("queries", "조력 발전").edit("queries", 1, "silt in 2020")
    assert more.queries == ("silt in 2020", "조력 발전")
    assert more.undo() == draft


def test_an_edited_plan_says_what_changed_and_nothing_else(draft: Draft) -> None:
    answer = draft.edit("queries", 1, "tide tables").answer()
    assert (answer.action, answer.queries) == ("edit", ["tide tables", "silt", "cost"])


def test_the_plan_shows_everything_there_is_to_decide_on(draft: Draft) -> None:
    text = "\n".join(plan_lines(SHOWN, draft, 79))
    for words in (
        "Plan for round 2\n",
        "After round 1 there are 4 claims",
        "  q2  What speaks against it?",
        "  3   cost",
        "  s1  turbine wear",
        "  · A barrage stores water. (LIKELY)",
        "  ? nothing on prices",
        "Spent $0.0312 of $1.00.",
        "Forecast for the whole run: $0.2000 and 1:15, at most $0.9000 and 1:01:40.",
    ):
        assert words in text
    assert "(changed)" in "\n".join(plan_lines(SHOWN, draft.add("queries", "x y"), 79))
