"""A title names what a section is about; it adds no number, no name, no statement of its own."""

import pytest

from fathom.report.titles import is_sound_title

SOURCES = [
    "The lagoon at Swale delivers 320 megawatts of tidal power to the grid.",
    "온돌은 방바닥을 데우는 난방 방식이다.",
    "How much does tidal power cost?",
]


@pytest.mark.parametrize(
    "title",
    [
        "A report",
        "What is known",
        "Costs of tidal power",
        "Costs and Limits",
        "Tidal Power at Swale",
        "320 megawatts for the grid",
        "How much does tidal power cost?",
        "The lagoon at Swale delivers 320 megawatts of tidal power",
        "온돌의 난방 방식",
        "온돌의 한계",
        "온돌 난방의 규모와 양상",
        "결론과 시사점",
        "온돌은 얼마나 오래갈 것인가",
        "Application and Connection of Tidal Power",
        "Why tidal power is built",
        "Verdict: who gains, who pays, what to do",
        "Grid-Side Changes and Trade-offs",
        "Other changes and who must act",
        "Deprecation and Rollout",
    ],
)
def test_a_title_of_what_was_said_or_asked_is_kept(title: str) -> None:
    assert is_sound_title(title, SOURCES)


@pytest.mark.parametrize(
    "title",
    [
        "",
        "   ",
        "Zanzibar",
        "Zanzibar leads the world",
        "Tidal power in Zanzibar",
        "Costs in 2031",
        "Twelve lagoons",
        "Tidal power is dangerous",
        "The lagoon does not deliver tidal power",
        "Costs [E3]",
        "See https://evil.example/x",
        "Costs of tidal power " * 9,
        "온돌은 위험하다",
        "잔지바르의 난방",
    ],
)
def test_a_title_with_something_of_its_own_is_not(title: str) -> None:
    assert not is_sound_title(title, SOURCES)
