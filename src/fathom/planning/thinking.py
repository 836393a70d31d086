"""The way of thinking a round is planned with, by its situation.

Does not know what a mind makes of it; the prompt says what each tool asks for.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fathom.state import Hypothesis, Tool

_SURE_FROM = 0.7
_COMPETING = 3
_CLOSE = 0.15


@dataclass(frozen=True)
class Situation:
    """Where a run stands before a round."""

    round: int
    claims: int = 0
    barren_rounds: int = 0
    contradictions: int = 0
    hypotheses: Sequence[Hypothesis] = ()
    overall: float = 0.0


def tool_for(at: Situation) -> Tool:
    """The tool that helps now, and why; the scientific method when nothing speaks for another."""
    if at.round > 1 and not at.claims:
        return Tool(name="first principles", because="nothing was found yet")
    if at.barren_rounds >= 2:
        return Tool(name="first principles", because=f"{at.barren_rounds} rounds brought nothing new")
    if at.contradictions >= 2:
        return Tool(name="Occam's razor", because=f"sources contradict each other {at.contradictions} times")
    if competing := _competing(at.hypotheses):
        return Tool(name="Occam's razor", because=f"{competing} explanations compete")
    if leading := [h for h in at.hypotheses if h.status == "active" and h.confidence >= _SURE_FROM]:
        best = max(leading, key=lambda h: h.confidence)
        return Tool(name="falsification", because=f"one answer leads with confidence {best.confidence:.2f}")
    if at.round > 1 and at.overall >= _SURE_FROM:
        return Tool(name="falsification", because=f"the evidence scores {at.overall:.2f} already")
    return Tool(name="scientific method", because="nothing asks for another way")


def _competing(hypotheses: Sequence[Hypothesis]) -> int:
    """How many active hypotheses are about as likely as the best one; 0 when too few to compete."""
    active = [h for h in hypotheses if h.status == "active" and (h.supporting or h.contradicting)]
    best = max((h.confidence for h in active), default=0.0)
    close = [h for h in active if best - h.confidence <= _CLOSE]
    return len(close) if len(close) >= _COMPETING else 0
