"""How much is known, as numbers between 0 and 1."""

from datetime import date

import pytest
from fakes import RUBRIC, claim, page, question
from hypothesis import given
from hypothesis import strategies as st

from fathom.evidence.sufficiency import (
    WEIGHTS,
    coverage,
    diversity,
    freshness,
    overall,
    quality,
    sources,
    voices_of,
)
from fathom.text.shingles import sketch

TODAY = date(2025, 6, 1)
share = st.floats(0, 1)


def test_the_weights_are_the_agreed_ones_and_sum_to_one() -> None:
    assert WEIGHTS == {"coverage": 0.35, "diversity": 0.20, "quality": 0.30, "freshness": 0.15}
    assert sum(WEIGHTS.values()) == pytest.approx(1)


@given(share, share, share, share)
def test_the_overall_score_is_the_weighted_sum(c: float, d: float, q: float, f: float) -> None:
    assert overall(c, d, q, f) == pytest.approx(0.35 * c + 0.20 * d + 0.30 * q + 0.15 * f)
    assert 0 <= overall(c, d, q, f) <= 1 + 1e-9


def test_coverage_is_the_share_of_answered_sub_questions_and_weak_answers_count_half() -> None:
    asked = [question(n) for n in (1, 2, 3, 4)]
    known = [
        claim(name="a", question="Q1", relevance=0.5),
        claim(name="b", question="Q2", relevance=0.49),
        claim(name="c", question="Q2", relevance=0.1),
        claim(name="d", question="Q9", relevance=1.0),
    ]
    assert coverage(asked, known) == pytest.approx((1 + 0.5) / 4)
    assert coverage(asked, []) == coverage([], known) == 0


def test_one_voice_has_no_diversity_and_many_have_much() -> None:
    same = [page("p1", "https://a.example/1"), page("p2", "https://a.example/2")]
    apart = [page("p1", "https://a.example/1"), page("p2", "https://b.example/2")]
    known = [claim(name="a", of="p1"), claim(name="b", of="p2")]
    assert diversity(known, same) == 0
    assert diversity(known, apart) == pytest.approx(0.5)
    assert diversity([*known, claim(name="c", of="p2")], apart) == pytest.approx(1 - (1 / 9 + 4 / 9))
    assert diversity([], apart) == 0


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        ("file:///notes/a.md", "file:///notes/b.md", 2),
        ("https://www.a.example/x", "https://www.a.example/y?z=1", 1),
        ("https://en.wikipedia.org/wiki/Tide", "https://ko.wikipedia.org/wiki/조석", 1),
        ("https://arxiv.org/abs/2501.00001", "https://arxiv.org/abs/2501.00002", 2),
    ],
)
def test_a_voice_is_an_owner(one: str, other: str, count: int) -> None:
    assert len(set(voices_of([page("p1", one), page("p2", other)]).values())) == count


def test_voices_are_the_pages_that_carry_claims() -> None:
    assert sources([claim(name="a", of="p1"), claim(name="b", of="p1"), claim(name="c", of="p2")], []) == 2


@pytest.mark.parametrize(
    ("marks", "score"), [((1, 1, 1, 1), 0.0), ((5, 5, 5, 5), 1.0), ((3, 3, 3, 3), 0.5), ((5, 4, 3, 2), 0.625)]
)
def test_quality_is_the_mean_mark_from_0_to_1(marks: tuple[int, ...], score: float) -> None:
    names = ("accuracy", "relevance", "completeness", "consistency")
    assert quality(RUBRIC.model_copy(update=dict(zip(names, marks, strict=True)))) == pytest.approx(score)


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
    assert freshness([claim(of="p1")], pages, TODAY) == pytest.approx(score, abs=0.001)


def test_nothing_cited_is_not_fresh() -> None:
    assert freshness([], [page()], TODAY) == 0
    assert freshness([claim(of="a page that was not read")], [page()], TODAY) == 0


def test_copies_of_one_text_are_one_source_and_one_voice() -> None:
    words = " ".join(f"word{n} of the tide report" for n in range(80))
    texts = [words, f"{words} Menu", "quite another text about bread and how it is baked in the north"]
    pages = [
        page(text, f"https://host{n}.example/").model_copy(update={"sketch": sketch(text)})
        for n, text in enumerate(texts)
    ]
    claims = [claim(name=str(n), of=text) for n, text in enumerate(texts)]
    assert sources(claims, pages) == 2
    assert len(set(voices_of(pages).values())) == 2
    assert diversity(claims, pages) == pytest.approx(1 - (2 / 3) ** 2 - (1 / 3) ** 2)
