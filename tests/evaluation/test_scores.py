"""The arithmetic of an evaluation, by hand."""

import pytest

from fathom.evaluation import (
    Criterion,
    EvalReport,
    PairOutcome,
    RaceScore,
    make_rubric,
    measure_interval,
    score_race,
    settle_pair,
    summarize_tools,
)

CRITERIA = [
    Criterion(dimension="comprehensiveness", text="covers causes", weight=3),
    Criterion(dimension="comprehensiveness", text="covers limits", weight=1),
    Criterion(dimension="insight", text="concludes", weight=2),
    Criterion(dimension="readability", text="is clear", weight=1),
]
RUBRIC = make_rubric(
    {"comprehensiveness": 4, "insight": 4, "instruction_following": 9, "readability": 2}, CRITERIA
)


def test_weights_add_up_to_one_and_an_empty_dimension_counts_nothing() -> None:
    assert RUBRIC.weights == pytest.approx(
        {"comprehensiveness": 0.4, "insight": 0.4, "instruction_following": 0.0, "readability": 0.2}
    )
    assert [one.weight for one in RUBRIC.criteria] == [0.75, 0.25, 1.0, 1.0]
    assert make_rubric({}, CRITERIA).weights["insight"] == pytest.approx(0.25)


def test_scores_are_weighted_and_relative_to_the_reference() -> None:
    found = score_race(RUBRIC, {0: 8, 1: 4, 2: 6, 3: 10}, {0: 5, 1: 5, 2: 5, 3: 5})
    assert found.dimensions == {"comprehensiveness": 7.0, "insight": 6.0, "readability": 10.0}
    assert found.overall == pytest.approx(0.4 * 7 + 0.4 * 6 + 0.2 * 10)  # 7.2
    assert found.reference == pytest.approx(5.0)
    assert found.relative == pytest.approx(7.2 / 12.2)


def test_missing_and_wild_scores_are_borne() -> None:
    found = score_race(RUBRIC, {0: 80, 2: -3}, None)
    assert found.dimensions == {"comprehensiveness": 10.0, "insight": 0.0}
    assert found.overall == pytest.approx(5.0)
    assert found.relative is None
    assert score_race(RUBRIC, {0: 0.0}, {0: 0.0}).relative == 0.5


@pytest.mark.parametrize(
    ("in_order", "swapped", "settled"),
    [
        ("first", "second", "first"),
        ("second", "first", "second"),
        ("first", "first", "tie"),
        ("second", "second", "tie"),
        ("tie", "first", "tie"),
        ("tie", "tie", "tie"),
    ],
)
def test_a_preference_must_survive_the_swap(in_order: str, swapped: str, settled: str) -> None:
    assert settle_pair(in_order, swapped) == settled  # type: ignore[arg-type]


def test_intervals_are_students() -> None:
    found = measure_interval([0.4, 0.5, 0.6, None])
    assert found is not None and found.count == 3 and found.mean == pytest.approx(0.5)
    assert found.high == pytest.approx(0.5 + 4.303 * 0.1 / 3**0.5)
    single = measure_interval([0.4])
    assert single is not None and single.low is None
    assert measure_interval([None]) is None


def test_one_line_a_tool_and_ours_first() -> None:
    race = RaceScore(dimensions={"insight": 6.0}, overall=6.0, reference=6.0, relative=0.5)
    reports = [
        EvalReport(tool="alpha", task="t", race=race, citation_accuracy=0.5, effective_citations=4),
        EvalReport(tool="fathom", task="t", repeat=1, race=race, citation_accuracy=1.0, usd=0.2),
        EvalReport(tool="fathom", task="t", repeat=2, race=race, citation_accuracy=0.8, usd=0.4),
    ]
    pairs = [
        PairOutcome(task="t", tool="fathom", other="alpha", repeat=n, preferred=said)
        for n, said in enumerate(("first", "tie", "second", "first"), 1)
    ]
    own, other = summarize_tools(reports, pairs)
    assert (own.tool, other.tool, other.wins, other.ties, other.losses) == ("fathom", "alpha", 2, 1, 1)
    assert own.citation_accuracy is not None and own.citation_accuracy.mean == pytest.approx(0.9)
    assert own.usd is not None and own.usd.mean == pytest.approx(0.3)
    assert own.dimensions == {"insight": 6.0}
