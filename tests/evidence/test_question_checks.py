"""What a question needs, and when its evidence has it; each check speaks up a bounded number of times."""

from datetime import date

import pytest
from fakes.records import claim, gap, judgement, page

from fathom.evidence.answer_kinds import (
    MOST_REJECTIONS,
    confirm_checks,
    find_answer_kinds,
    find_compared_things,
    find_defined_thing,
    list_failing_checks,
    run_checks,
)
from fathom.state import Check, Claim, Judgement

TODAY = date(2026, 11, 16)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What is the latest version of Python?", ["freshness"]),
        ("Who is the current president of Iceland?", ["freshness"]),
        ("How many turbines does the plant have?", ["counting"]),
        ("How much does tidal power cost?", ["amount"]),
        ("List the types of tidal power plants", ["completeness"]),
        ("What are the types of tides?", ["completeness"]),
        ("Compare barrages and lagoons", ["comparison"]),
        ("Tidal versus wind power", ["comparison"]),
        ("What is a barrage?", ["definition"]),
        ("Why do tides rise twice a day?", ["cause"]),
        ("When was the plant built?", ["date"]),
        ("When was it built and why did it close?", ["cause", "date"]),
        ("최신 파이썬 버전은?", ["freshness"]),
        ("발전소에는 터빈이 몇 개 있나요?", ["counting"]),
        ("조력 발전 비용은 얼마인가요?", ["amount"]),
        ("조력 발전소를 모두 나열해 줘", ["completeness"]),
        ("조력과 풍력의 차이는 무엇인가요?", ["comparison"]),
        ("조석이란 무엇인가?", ["definition"]),
        ("왜 하루에 두 번 밀물이 드나요?", ["cause"]),
        ("발전소는 언제 지어졌나요?", ["date"]),
        ("몇 년에 지어졌나요?", ["date"]),
        ("What happens when a branch fails?", []),
        ("What is it?", []),
        ("How does the current flow through a coil?", []),
        ("", []),
        ("?!", []),
    ],
)
def test_the_words_of_a_question_say_what_it_needs(question: str, names: list[str]) -> None:
    assert list(find_answer_kinds(question)) == names


@pytest.mark.parametrize(
    ("question", "poor", "good"),
    [
        ("How many turbines has it?", "The turbines are large.", "It has 24 turbines."),
        ("How many turbines has it?", "The turbines came in 1966.", "It has ten turbines."),
        ("터빈이 몇 개 있나요?", "터빈이 크다.", "터빈이 24개 있다."),
        ("How long does cheese ripen?", "Cheese ripens in a cellar.", "Cheese ripens for eighteen months."),
        (
            "What is a barrage, and who builds one?",
            "The barrage at Rance has doors.",
            "A barrage is a dam across an estuary.",
        ),
        ("When was the plant built?", "The plant was built by divers.", "The plant was built in 1966."),
        ("발전소는 언제 지어졌나요?", "발전소는 바다에 있다.", "발전소는 2011년에 지어졌다."),
        ("Why did it close?", "It closed.", "It closed because of silt."),
        ("왜 문을 닫았나요?", "문을 닫았다.", "모래 때문에 문을 닫았다."),
        ("What is a barrage?", "The barrage at Rance has doors.", "A barrage is a dam across an estuary."),
        ("Compare barrages and lagoons", "Barrages are dams.", "Barrages cost more than lagoons."),
        ("조력과 풍력의 차이는?", "조력은 바다에서 얻는다.", "조력은 바다에서, 풍력은 바람에서 얻는다."),
        ("List the types of plants", "One type is a barrage.", "Types are barrages, lagoons and streams."),
        ("What is the newest plant?", "It was opened in 1966.", "It was opened in 2026."),
    ],
)
def test_a_check_fails_without_and_passes_with_what_was_asked_for(
    question: str, poor: str, good: str
) -> None:
    (failed,) = run_checks(question, [claim(poor)], [], TODAY)
    (passed,) = run_checks(question, [claim(poor), claim(good, name="c2")], [], TODAY)
    assert (failed.is_passed, passed.is_passed) == (False, True)
    assert failed.why
    assert passed.why
    assert failed.gap is not None
    assert failed.gap.suggested_query.startswith(question.split(",")[0].rstrip("?"))
    assert passed.gap is None


def test_what_is_beside_the_point_answers_nothing() -> None:
    (found,) = run_checks("How many turbines?", [claim("It has 24 turbines.", relevance=0.1)], [], TODAY)
    assert not found.is_passed


@pytest.mark.parametrize(
    ("published", "is_passed", "why"),
    [
        ("2026-03-01", True, "2026-03-01"),
        ("2019-03-01", False, "2019-03-01"),
        (None, False, "no cited page has a date"),
        ("soon", False, "no cited page has a date"),
    ],
)
def test_latest_needs_a_recent_page(published: str | None, is_passed: bool, why: str) -> None:
    pages = [
        page("page one", published=published),
        page("uncited", "https://b.example", published="2026-11-01"),
    ]
    (found,) = run_checks("What is the latest plant?", [claim("It is large.")], pages, TODAY)
    assert found.is_passed is is_passed
    assert why in found.why


def test_with_nothing_known_every_check_fails_and_none_raises() -> None:
    question = "How many are there, and when was the latest built? Why? List all the types"
    for found in run_checks(question, [], [], TODAY):
        assert not found.is_passed


def test_a_check_rejects_twice_in_a_run_and_then_only_mentions_it() -> None:
    known: list[Claim] = [claim("The turbines are large.")]
    before: list[Judgement] = []
    seen = []
    for number in range(1, 5):
        checks = run_checks("How many turbines?", known, [], TODAY, before)
        is_holding = bool(list_failing_checks(checks, before))
        assert checks[0].gap
        seen.append((is_holding, checks[0].gap.priority, checks[0].gap.suggested_query))
        before.append(judgement(number, checks=checks, held="sufficient" if is_holding else None))
    assert [s[0] for s in seen] == [True] * MOST_REJECTIONS + [False, False]
    assert [s[1] for s in seen] == ["high", "high", "low", "low"]
    assert len({s[2] for s in seen[:3]}) == 3


def test_a_check_that_held_nothing_back_keeps_its_say() -> None:
    check = Check(name="counting", is_passed=False, why="w", gap=gap())
    before = [judgement(1, checks=[check]), judgement(2, checks=[check])]
    assert list_failing_checks([check], before) == ["counting"]
    assert list_failing_checks([check], [*before, judgement(3, checks=[check], held="diverse")]) == [
        "counting"
    ]


def test_a_comparison_names_its_sides() -> None:
    assert find_compared_things("The difference between tidal stream and wave power?") == [
        "tidal stream",
        "wave power",
    ]
    assert find_compared_things("Redis vs. Memcached") == ["Redis", "Memcached"]
    assert find_compared_things("조력과 풍력의 차이") == ["조력", "풍력"]
    assert find_compared_things("Which is better?") == []
    assert find_defined_thing("What is a barrage?") == "barrage"
    assert find_defined_thing("조석이란 무엇인가?") == "조석"


@pytest.mark.parametrize("question", ["Why did it close?", "What is a barrage?", "왜 문을 닫았나요?"])
def test_what_code_suspects_the_judge_decides(question: str) -> None:
    (suspected,) = run_checks(question, [claim("The barrage closed.")], [], TODAY)
    (denied,) = confirm_checks([suspected], [])
    assert (denied.is_passed, denied.gap, list_failing_checks([denied], [])) == (True, None, [])
    (confirmed,) = confirm_checks([suspected], [suspected.name])
    assert (confirmed, list_failing_checks([confirmed], [])) == (suspected, [suspected.name])
    (note,) = confirm_checks([suspected], None)  # nobody read the evidence
    assert (note.is_passed, note.gap, list_failing_checks([note], [])) == (False, None, [])


def test_what_code_can_count_nobody_overrules() -> None:
    (counted,) = run_checks("How many turbines?", [claim("The turbines are large.")], [], TODAY)
    assert confirm_checks([counted], []) == [counted]
