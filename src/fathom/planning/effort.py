"""Check the question and estimate its effort: a fact, a comparison or a survey.

A model may advise another kind, which moves the estimate by one step.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from fathom.errors import BadInput
from fathom.evidence.checks import phrase_pattern
from fathom.state import (
    MAX_QUESTION_CHARS,
    ROUNDS,
    SETTING_NAMES,
    Cost,
    Depth,
    Effort,
    EffortKind,
    Reason,
    RunConfig,
)
from fathom.text.messages import ENGLISH, Messages


def refuse_settings(given: Iterable[str]) -> None:
    """Raise BadInput if run settings are among the keys of the input."""
    if found := ", ".join(sorted(SETTING_NAMES.intersection(given))):
        raise BadInput(f"Settings of a run belong into the context, not into the input: {found}.")


def refuse_state(given: Mapping[str, object]) -> None:
    """Raise BadInput for an input that is state: plans and settings, or a thread that was used already."""
    if given.get("run"):
        raise BadInput(
            "This thread has researched a question already; begin a new thread, or ask on in the graph chat."
        )
    if not given.get("earlier") and (found := [name for name in ("queries", "strategy") if name in given]):
        raise BadInput(f"Settings of a run belong into the context, not into the input: {', '.join(found)}.")


def check_question(question: object) -> str:
    """Return the question; raise BadInput if it is none."""
    if not isinstance(question, str) or not question.strip():
        raise BadInput("The question is empty.")
    if len(question) > MAX_QUESTION_CHARS:
        raise BadInput(f"The question is longer than {MAX_QUESTION_CHARS} characters.")
    return question


_NEXT_SIDE = re.compile(
    r"\bvs\b\.?|\bversus\b|,|\band\b|\bor\b|\bthan\b|와\s|과\s|\s대\s|보다|랑\s", re.IGNORECASE
)
_PARTS = re.compile(
    r"[?？](?=\s|$)|;\s|(?:,\s+|\b(?:and|or)\s+)(?=(?:how|what|why|when|where|which|who)\b)", re.IGNORECASE
)
_LONG_WORDS = 40
_KINDS: tuple[EffortKind, ...] = get_args(EffortKind)
_ROUNDS: dict[EffortKind, dict[Depth, int]] = {
    "fact": {"quick": 3, "standard": 3, "comprehensive": 5},
    "comparison": {"quick": 3, "standard": 4, "comprehensive": 7},
    "survey": ROUNDS,
}

_SOURCES: dict[EffortKind, dict[Depth, int]] = {
    "fact": {"quick": 8, "standard": 8, "comprehensive": 8},
    "comparison": {"quick": 10, "standard": 10, "comprehensive": 10},
    "survey": {"quick": 10, "standard": 10, "comprehensive": 15},
}
_SURVEY_QUESTIONS: dict[Depth, int] = {"quick": 4, "standard": 5, "comprehensive": 7}
_SURVEY_BRANCHES: dict[Depth, int] = {"quick": 3, "standard": 4, "comprehensive": 5}


def estimate_effort(question: str, depth: Depth, advised: str = "", chain: int = 1) -> Effort:
    """Estimate the effort of a question; `chain` is the number of dependent answers, one round each."""
    read, why = _classify(question)
    kind, reasons = _follow_advice(read, advised), [why]
    if kind != read:
        reasons.append(Reason(phrase="advised", values={"read": read, "kind": kind}))
    rounds = min(ROUNDS[depth], max(_ROUNDS[kind][depth], chain + 1 if chain > 1 else 1))
    if chain > 1:
        reasons.append(Reason(phrase="chain", values={"count": str(chain)}))
    return Effort(
        kind=kind,
        questions=_count_questions(kind, question, depth),
        rounds=rounds,
        sources=_SOURCES[kind][depth],
        branches=_count_branches(kind, question, depth),
        reason=ENGLISH.effort_reasons(reasons),
        reasons=reasons,
    )


def apply_effort(run_config: RunConfig, effort: Effort) -> RunConfig:
    """Return the configuration with unset limits taken from the effort.

    Never more rounds than the depth allows, except one for what a thread knows. With branches nothing
    changes: each branch has its own limits.
    """
    if run_config.strategy != "loop":
        return run_config
    given: dict[str, int] = {}
    # If another setting raised the limit, the effort does not lower it.
    if run_config.rounds is None and run_config.max_rounds == ROUNDS[run_config.depth]:
        given["rounds"] = min(effort.rounds, ROUNDS[run_config.depth]) + effort.recall_rounds
    if run_config.sources is None:
        given["sources"] = effort.sources
    return run_config.model_copy(update=given)


def describe_effort(effort: Effort, run_config: RunConfig, say: Messages = ENGLISH) -> str:
    """Describe the effort in one sentence for the plan, with the limits that the run has."""
    limits, is_loop = apply_effort(run_config, effort), run_config.strategy == "loop"
    return say(
        "plan.effort",
        kind=say.name("kind", effort.kind),
        questions=effort.questions,
        rounds=limits.max_rounds if is_loop else effort.rounds,
        sources=limits.max_sources if is_loop else effort.sources,
    )


def describe_kind(effort: Effort) -> str:
    """Describe the kind of effort for the planner, without limits, which depend on the run."""
    return f"It seems to want a {effort.kind} ({effort.reason}): about {effort.questions} sub-questions."


def _classify(question: str) -> tuple[EffortKind, Reason]:
    parts, words = _count_parts(question), len(question.split())
    if parts >= 3:
        return "survey", Reason(phrase="many", values={"count": str(parts)})
    signs: dict[EffortKind, str] = {"comparison": "asks_comparison", "survey": "asks_survey"}
    for kind, phrase in signs.items():
        if found := phrase_pattern(phrase).search(question.lower()):
            word = question[found.start() : found.end()].strip()
            return kind, Reason(phrase="says", values={"word": word})
    if words > _LONG_WORDS:
        return "survey", Reason(phrase="long", values={"count": str(words)})
    return "fact", Reason(phrase="one" if parts == 1 else "two")


def _follow_advice(read: EffortKind, advised: str) -> EffortKind:
    """Return the advised kind, or the one in between: advice moves by one step."""
    word = advised.strip().lower()
    wanted = next((kind for kind in _KINDS if kind == word), read)
    at, to = _KINDS.index(read), _KINDS.index(wanted)
    return _KINDS[at + (to > at) - (to < at)]


def _count_parts(question: str) -> int:
    return max(1, len([part for part in _PARTS.split(question) if part.strip()]))


def _count_sides(question: str) -> int:
    return max(2, min(4, len(_NEXT_SIDE.findall(question)) + 1))


def _count_questions(kind: EffortKind, question: str, depth: Depth) -> int:
    if kind == "fact":
        return max(1, _count_parts(question))
    return _count_sides(question) + 1 if kind == "comparison" else _SURVEY_QUESTIONS[depth]


def _count_branches(kind: EffortKind, question: str, depth: Depth) -> int:
    if kind == "fact":
        return 1
    return _count_sides(question) if kind == "comparison" else _SURVEY_BRANCHES[depth]


_LITTLE_LEFT, _HALF_LEFT = 0.25, 0.5


def describe_round_limits(run_config: RunConfig, number: int, costs: Sequence[Cost]) -> str:
    """Describe the round's queries and pages, the rounds left, and the budget left."""
    left = max(0, run_config.max_rounds - number)
    after = "this is the last round" if not left else f"{left} more may follow"
    return (
        f"{run_config.queries} queries and {run_config.max_sources} new pages in this round;"
        f" round {number} of at most {run_config.max_rounds}, {after}; {_describe_budget(run_config, costs)}."
    )


def _describe_budget(run_config: RunConfig, costs: Sequence[Cost]) -> str:
    looking_usd = run_config.budget_usd * (1.0 - run_config.reserve)
    left = 1.0 - sum(cost.usd for cost in costs) / looking_usd if looking_usd > 0 else 0.0
    if left < _LITTLE_LEFT:
        return "little of the budget is left"
    return "less than half of the budget is left" if left < _HALF_LEFT else "most of the budget is left"
