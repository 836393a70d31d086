"""A fact, a comparison and a survey are worth different effort, in English and in Korean."""

import pytest

from fathom.planning.effort import apply_effort, describe_effort, estimate_effort
from fathom.state import ROUNDS, RunConfig

DEPTHS = list(ROUNDS)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How much does tidal power cost?", "fact"),
        ("Who built the lagoon at Swale?", "fact"),
        ("What is LangGraph, and what does a checkpointer do?", "fact"),
        ("조력 발전소는 언제 지어졌나?", "fact"),
        ("온돌은 어떻게 방을 따뜻하게 하나?", "fact"),
        ("PostgreSQL versus SQLite for checkpoints", "comparison"),
        ("Is a barrage cheaper than a lagoon?", "comparison"),
        ("What is the difference between a barrage and a lagoon?", "comparison"),
        ("Which is older, the barrage or the lagoon?", "comparison"),
        ("온돌과 라디에이터의 차이는?", "comparison"),
        ("기와 지붕과 초가 지붕을 비교해 줘", "comparison"),
        ("What are the effects of barrages on fish?", "survey"),
        ("An overview of tidal power", "survey"),
        ("Who owns it? What does it cost? When was it built?", "survey"),
        ("조력 발전의 최근 동향", "survey"),
        ("한옥의 종류와 역사를 정리해 줘", "survey"),
        ("word " * 41, "survey"),
        ("?", "fact"),
    ],
)
def test_the_kind_is_read_from_the_question(question: str, kind: str) -> None:
    found = estimate_effort(question, "standard")
    assert found.kind == kind
    assert found.reason


@pytest.mark.parametrize(
    ("advised", "kind"),
    [
        ("survey", "comparison"),
        (" Comparison ", "comparison"),
        ("fact", "fact"),
        ("everything", "fact"),
        ("", "fact"),
    ],
)
def test_advice_moves_the_kind_by_one_step_at_most(advised: str, kind: str) -> None:
    found = estimate_effort("Who built it?", "standard", advised)
    assert found.kind == kind
    assert ("the planner advises" in found.reason) == (kind != "fact")


@pytest.mark.parametrize("depth", DEPTHS)
def test_more_is_worth_more_and_never_more_than_the_depth_allows(depth: str) -> None:
    kinds = ("Who built it?", "Compare A and B", "An overview of tides")
    found = [estimate_effort(question, depth, chain=99) for question in kinds]  # type: ignore[arg-type]
    assert all(e.rounds == ROUNDS[depth] for e in found)  # type: ignore[index]
    found = [estimate_effort(question, depth) for question in kinds]  # type: ignore[arg-type]
    for name in ("questions", "rounds", "sources", "branches"):
        values = [getattr(e, name) for e in found]
        assert values == sorted(values)
    assert found[0].branches == 1


def test_a_chain_of_answers_gets_a_round_for_each() -> None:
    assert estimate_effort("Who built it?", "comprehensive", chain=6).rounds == 7
    assert (
        "6 answers must follow each other"
        in estimate_effort("Who built it?", "comprehensive", chain=6).reason
    )
    assert estimate_effort("Who built it?", "comprehensive", chain=1) == estimate_effort(
        "Who built it?", "comprehensive"
    )


def test_a_comparison_of_three_gets_three_branches() -> None:
    assert estimate_effort("Compare barrages, lagoons and fences", "quick").branches == 3


def test_what_the_user_set_always_wins() -> None:
    worth = estimate_effort("Who built it?", "comprehensive")
    open_knobs = apply_effort(RunConfig(depth="comprehensive"), worth)
    assert (open_knobs.max_rounds, open_knobs.max_sources) == (worth.rounds, worth.sources) == (5, 8)
    set_knobs = apply_effort(RunConfig(depth="quick", rounds=9, sources=33), worth)
    assert (set_knobs.max_rounds, set_knobs.max_sources) == (9, 33)


def test_rounds_are_never_above_the_limit_of_the_depth() -> None:
    worth = estimate_effort("An overview of tides", "comprehensive")
    assert apply_effort(RunConfig(depth="quick"), worth).max_rounds == 3


def test_the_effort_is_said_in_one_sentence() -> None:
    worth = estimate_effort("A vs B", "quick")
    said = describe_effort(worth, RunConfig(depth="quick"))
    assert said.startswith("Effort: comparison, about 3 sub-questions, at most 3 rounds of 10 sources")


def test_the_sentence_has_the_limits_that_a_person_set() -> None:
    worth = estimate_effort("An overview of tides", "standard")
    said = describe_effort(worth, RunConfig(depth="standard", rounds=2, sources=6))
    assert worth.rounds > 2
    assert said.endswith("at most 2 rounds of 6 sources.")
