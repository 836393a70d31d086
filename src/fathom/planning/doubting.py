"""A round that doubts and goes on: one query against what leads, however sure it seems, and never no query.

Does not know minds or engines. It speaks only when there is a hypothesis, or a run that is to have no end.
"""

from collections.abc import Sequence

from fathom.llm.port import Brief
from fathom.memory.hypotheses import leading
from fathom.planning.counter import against, other_ways
from fathom.state import Family, Hypothesis, Query

_FEW = 3


def with_doubt(
    queries: Sequence[Query], brief: Brief, hypotheses: Sequence[Hypothesis], is_endless: bool
) -> list[Query]:
    """The queries with one that looks for counter-evidence; without an end, others when there are none."""
    leader = leading(hypotheses)
    is_needed = is_endless or (leader is not None and bool(queries))
    if brief.round == 1 or not brief.questions or not is_needed:
        return list(queries)
    asked = [*brief.asked, *queries]
    kept = list(queries)
    if not kept:
        kept = _as_queries(other_ways(brief.question, brief.findings, asked, _FEW), brief, "web")
    if not any(query.family == "counter" for query in kept):
        texts = against([leader] if leader else [], brief.findings, [*asked, *kept], 1)
        room = max(1, brief.limit - 1)
        kept = [*kept[:room], *_as_queries(texts, brief, "counter")][: brief.limit]
    return [query.model_copy(update={"id": f"r{brief.round}q{n}"}) for n, query in enumerate(kept, 1)]


def _as_queries(texts: Sequence[str], brief: Brief, family: Family) -> list[Query]:
    question = brief.gaps[0].question if brief.gaps and brief.gaps[0].question else brief.questions[0].id
    return [Query(id="", text=text, question=question, round=brief.round, family=family) for text in texts]
