"""How a follow-up is planned: from its thread, and only for what the evidence at hand leaves open.

Does not know minds or engines. Its first round looks at nothing new; it is judged like any other.
"""

from collections.abc import Sequence
from dataclasses import replace

from fathom.evidence.sufficiency import ANSWERED_FROM
from fathom.llm.port import Brief
from fathom.state import Effort, Gap, Known, Query


def is_at_hand(known: Known | None) -> bool:
    """Whether the first round is spent on what the thread knows: then nothing is scouted or searched."""
    return known is not None and known.is_at_hand


def in_thread(brief: Brief, known: Known | None) -> Brief:
    """The brief with what was asked and answered before; then with the gaps that matter, and no other.

    Claims of the thread stand under no sub-question: those they were drawn for are not this run's.
    """
    if known is None:
        return brief
    brief = replace(brief, thread=known.turns)
    if known.is_at_hand:
        return replace(brief, findings=[claim.model_copy(update={"question": ""}) for claim in known.claims])
    if not known.is_recalled:
        return brief
    leads = [] if brief.round == 2 else brief.leads  # first what is missing, then where that leads
    return replace(brief, gaps=_missing(brief), leads=leads)


def only_missing(queries: Sequence[Query], brief: Brief, known: Known | None) -> list[Query]:
    """The queries of a follow-up that serve what is open; all of them when it is not known what is."""
    if known is None or not known.is_recalled:
        return list(queries)
    missing = {gap.question for gap in brief.gaps}
    return [query for query in queries if query.question in missing] or list(queries)


def with_a_round_for_recall(effort: Effort) -> Effort:
    """Return the effort with a round more, since one is spent on what is at hand."""
    return effort.model_copy(update={"recall_rounds": 1})


def _missing(brief: Brief) -> list[Gap]:
    """What has no answer yet; when all has one, what matters; when nothing does, what is left.

    A failing check of the whole question stands under the sub-question that most is known of, which need not
    be the one that lacks it.
    """
    answered = {claim.question for claim in brief.findings if claim.relevance >= ANSWERED_FROM}
    mattering = [gap for gap in brief.gaps if gap.priority != "low"]
    return [gap for gap in mattering if gap.question not in answered] or mattering or list(brief.gaps)
