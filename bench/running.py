"""Whole runs of the product against a stand-in world, and what they had to wait for.

Does not know what is measured.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from world import Told, World

from fathom import DeepResearcher, ResearchRequest, ResearchResult
from fathom.settings import Settings, load_settings

# One after another: each of these waits for the one before it.
_ROUND = ("PlanAnswer", "search", "ReadAnswer", "VerifyAnswer", "RetryAnswer", "VerifyAnswer", "JudgeAnswer")
_WRITING = (
    "OutlineAnswer", "WriteAnswer", "CheckAnswer", "RewriteAnswer", "CheckAnswer", "EditAnswer",
    "CheckAnswer",
)  # fmt: skip


def settings_for(world: World, home: Path, who: str) -> Settings:
    """The product with nothing changed but where it asks."""
    return load_settings(
        home=home,
        base_url=f"{world.url}/v1",
        openai_api_key=who,
        model="gpt-4.1",
        small_model="gpt-4.1-mini",
        searxng_url=world.url,
        allow_private=True,
    )


async def ran(settings: Settings, question: str, **wishes: object) -> ResearchResult:
    """One run through the facade, as a caller would have it."""
    request = ResearchRequest.model_validate({"query": question, "providers": ["searxng"], **wishes})
    return await DeepResearcher(settings).research(request)


def chain(told: Sequence[Told]) -> list[str]:
    """The longest chain of calls of one run of which each needs the one before it.

    By what needs what, and not by when it happened: a call that only waited for a place is not in it.
    """
    # Refuting the conclusions is one more way of checking; both happen at once.
    told = [replace(row, kind=row.kind.replace("Refute", "Check")) for row in told]
    judged = sorted(row.ended for row in told if row.kind == "JudgeAnswer")
    steps = ["search"]
    began = float("-inf")
    for ended in judged:
        steps += _steps(_ROUND, [row for row in told if began <= row.began <= ended])
        began = ended
    rest = [row for row in told if row.began >= began]
    # A plan that brought no new query: what is known was judged before.
    steps += ["PlanAnswer" for row in rest if row.kind == "PlanAnswer"]
    return steps + _steps(_WRITING, rest)


def _steps(order: Sequence[str], told: Sequence[Told]) -> list[str]:
    """Those of the steps that were taken: each by a call that began when one of the step before had ended.

    A step comes again only because of the one right before it.
    """
    taken: list[str] = []
    after = float("-inf")
    for place, kind in enumerate(order):
        is_again = kind in order[:place]
        own = [row for row in told if row.kind == kind and row.began >= after]
        if kind == "search":
            taken.append(kind)
        elif own and not (is_again and taken[-1:] != [order[place - 1]]):
            taken.append(kind)
            after = min(row.ended for row in own)
    return taken


def seconds(steps: Sequence[str], model_s: float, search_s: float) -> float:
    """How long a chain takes if nothing but its calls takes time."""
    return sum(search_s if step == "search" else model_s for step in steps)
