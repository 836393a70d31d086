"""The length of a report follows the question, the setting and the evidence."""

import pytest
from fakes import heading

from fathom.report.length import group_headings, word_shares, word_target
from fathom.state import EffortKind, RunConfig


@pytest.mark.parametrize(
    ("length", "kind", "claims", "words"),
    [
        (None, "fact", 40, 150),
        (None, "comparison", 40, 1100),
        ("long", "survey", 100, 3000),
        ("short", "survey", 100, 900),
        ("700", "fact", 1, 700),
        (None, "survey", 4, 220),  # four claims do not carry two thousand words
    ],
)
def test_the_length_is_as_set_or_as_the_question_and_the_evidence_say(
    length: str | None, kind: EffortKind, claims: int, words: int
) -> None:
    assert word_target(length, kind, claims) == words


def test_a_part_with_more_claims_and_more_weight_gets_more_words() -> None:
    thin = heading("a", name="S1")
    thick = heading(*"bcdefg", name="S2").model_copy(update={"priority": "high"})
    shares = word_shares(1000, [thin, thick])
    assert shares["S2"] > 2 * shares["S1"]
    assert sum(shares.values()) == pytest.approx(1000, abs=20)


def test_small_parts_are_checked_together_and_none_is_left_alone_with_little() -> None:
    parts = [heading("a", name=f"S{n}") for n in range(11)]
    groups = group_headings(parts, {part.id: 170 for part in parts})
    assert [len(group) for group in groups] == [2, 2, 2, 2, 3]
    assert [part.id for group in groups for part in group] == [part.id for part in parts]
    assert group_headings([], {}) == []


@pytest.mark.parametrize("length", ["short", "standard", "long", 800, "800"])
def test_a_length_is_a_word_or_a_number_of_words(length: str | int) -> None:
    assert RunConfig(length=length).length == str(length)


@pytest.mark.parametrize("length", ["huge", 10, "-5", 1_000_000])
def test_any_other_length_is_refused(length: str | int) -> None:
    with pytest.raises(ValueError, match="length"):
        RunConfig(length=length)
