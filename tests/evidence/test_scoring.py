"""How much is known, as numbers between 0 and 1."""

from datetime import date

import pytest
from fakes.records import RUBRIC, claim, page, question
from hypothesis import given
from hypothesis import strategies as st

from fathom.evidence.scoring import (
    WEIGHTS,
    count_sources,
    map_pages_to_sources,
    measure_gain,
    score_coverage,
    score_diversity,
    score_freshness,
    score_overall,
    score_quality,
)
from fathom.state import Gain
from fathom.text.similarity import make_sketch


def test_the_first_round_is_as_it_is() -> None:
    found = measure_gain(known=6, queries=3, usd=0.5)
    assert (found.new, found.per_query, found.per_usd) == (6, 2.0, 12.0)
    assert (found.smoothed_per_query, found.smoothed_per_usd) == (2.0, 12.0)


def test_later_rounds_are_smoothed() -> None:
    second = measure_gain(known=7, queries=4, usd=0.5, before=measure_gain(known=6, queries=3, usd=0.5))
    assert (second.new, second.per_query, second.per_usd) == (1, 0.25, 2.0)
    assert second.smoothed_per_query == pytest.approx(0.5 * 0.25 + 0.5 * 2.0)
    assert second.smoothed_per_usd == pytest.approx(7.0)


def test_a_round_that_asked_nothing_says_nothing_of_queries() -> None:
    recalled = measure_gain(known=6, queries=0, usd=0.0)
    assert measure_gain(known=7, queries=1, usd=0.0, before=recalled).smoothed_per_query == 1.0


def test_what_costs_nothing_has_no_gain_a_dollar() -> None:
    free = measure_gain(known=6, queries=3, usd=0.0)
    assert (free.per_usd, free.smoothed_per_usd) == (None, None)
    assert measure_gain(known=8, queries=1, usd=0.1, before=free).smoothed_per_usd == pytest.approx(20)
    paid = measure_gain(known=8, queries=1, usd=0.1)
    assert measure_gain(known=9, queries=1, usd=0.0, before=paid).smoothed_per_usd == pytest.approx(80)


def test_findings_that_merged_are_no_loss_and_a_round_without_queries_no_error() -> None:
    before = measure_gain(known=6, queries=3, usd=0.0)
    assert measure_gain(known=4, queries=2, usd=0.0, before=before).new == 0
    assert measure_gain(known=7, queries=0, usd=0.0, before=before).per_query == 0.0


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9), st.floats(0, 5)), max_size=12))
def test_a_gain_is_never_negative(rounds: list[tuple[int, int, float]]) -> None:
    gain: Gain | None = None
    for known, queries, usd in rounds:
        gain = measure_gain(known, queries, usd, gain)
        assert gain.new >= 0
        assert gain.smoothed_per_query >= 0
        assert gain.smoothed_per_usd is None or gain.smoothed_per_usd >= 0


TODAY = date(2025, 6, 1)

share = st.floats(0, 1)


def test_the_weights_are_the_agreed_ones_and_sum_to_one() -> None:
    assert WEIGHTS == {"coverage": 0.35, "diversity": 0.20, "quality": 0.30, "freshness": 0.15}
    assert sum(WEIGHTS.values()) == pytest.approx(1)


@given(share, share, share, share)
def test_the_overall_score_is_the_weighted_sum(c: float, d: float, q: float, f: float) -> None:
    assert score_overall(c, d, q, f) == pytest.approx(0.35 * c + 0.20 * d + 0.30 * q + 0.15 * f)
    assert 0 <= score_overall(c, d, q, f) <= 1 + 1e-9


def test_coverage_is_the_share_of_answered_sub_questions_and_weak_answers_count_half() -> None:
    asked = [question(n) for n in (1, 2, 3, 4)]
    known = [
        claim(name="a", question="Q1", relevance=0.5),
        claim(name="b", question="Q2", relevance=0.49),
        claim(name="c", question="Q2", relevance=0.1),
        claim(name="d", question="Q9", relevance=1.0),
    ]
    assert score_coverage(asked, known) == pytest.approx((1 + 0.5) / 4)
    assert score_coverage(asked, []) == score_coverage([], known) == 0


def test_one_source_has_no_diversity_and_many_have_much() -> None:
    same = [page("p1", "https://a.example/1"), page("p2", "https://a.example/2")]
    apart = [page("p1", "https://a.example/1"), page("p2", "https://b.example/2")]
    known = [claim(name="a", of="p1"), claim(name="b", of="p2")]
    assert score_diversity(known, same) == 0
    assert score_diversity(known, apart) == pytest.approx(0.5)
    assert score_diversity([*known, claim(name="c", of="p2")], apart) == pytest.approx(1 - (1 / 9 + 4 / 9))
    assert score_diversity([], apart) == 0


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        ("file:///notes/a.md", "file:///notes/b.md", 2),
        ("https://www.a.example/x", "https://www.a.example/y?z=1", 1),
        ("https://en.wikipedia.org/wiki/Tide", "https://ko.wikipedia.org/wiki/조석", 1),
        ("https://arxiv.org/abs/2501.00001", "https://arxiv.org/abs/2501.00002", 2),
    ],
)
def test_a_source_is_an_owner(one: str, other: str, count: int) -> None:
    assert len(set(map_pages_to_sources([page("p1", one), page("p2", other)]).values())) == count


def test_sources_are_the_pages_that_carry_claims() -> None:
    assert (
        count_sources([claim(name="a", of="p1"), claim(name="b", of="p1"), claim(name="c", of="p2")], []) == 2
    )


@pytest.mark.parametrize(
    ("marks", "score"), [((1, 1, 1, 1), 0.2), ((5, 5, 5, 5), 1.0), ((3, 3, 3, 3), 0.6), ((5, 4, 3, 2), 0.7)]
)
def test_quality_is_the_mean_mark_as_a_share_of_the_best(marks: tuple[int, ...], score: float) -> None:
    names = ("accuracy", "relevance", "completeness", "consistency")
    assert score_quality(RUBRIC.model_copy(update=dict(zip(names, marks, strict=True)))) == pytest.approx(
        score
    )


@pytest.mark.parametrize(
    ("published", "score"),
    [
        ("2025-06-01", 1.0),
        ("2031-01-01T08:00:00Z", 1.0),
        ("2023-06-02", 0.5),
        ("2021-06-02", 0.25),
        (None, 0.5),
        ("spring 2024", 0.5),
        ("", 0.5),
    ],
)
def test_freshness_halves_every_two_years(published: str | None, score: float) -> None:
    pages = [
        page("p1", published=published),
        page("never cited", "https://b.example", published="2025-06-01"),
    ]
    assert score_freshness([claim(of="p1")], pages, TODAY) == pytest.approx(score, abs=0.001)


def test_nothing_cited_is_not_fresh() -> None:
    assert score_freshness([], [page()], TODAY) == 0
    assert score_freshness([claim(of="a page that was not read")], [page()], TODAY) == 0


def test_copies_of_one_text_are_one_independent_source() -> None:
    words = " ".join(f"word{n} of the tide report" for n in range(80))
    texts = [words, f"{words} Menu", "quite another text about bread and how it is baked in the north"]
    pages = [
        page(text, f"https://host{n}.example/").model_copy(update={"sketch": make_sketch(text)})
        for n, text in enumerate(texts)
    ]
    claims = [claim(name=str(n), of=text) for n, text in enumerate(texts)]
    assert count_sources(claims, pages) == 2
    assert len(set(map_pages_to_sources(pages).values())) == 2
    assert score_diversity(claims, pages) == pytest.approx(1 - (2 / 3) ** 2 - (1 / 3) ** 2)
