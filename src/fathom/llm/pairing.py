"""Pairs of claims as a model sees them, and its rulings on them as records.

Does not know rules: whether a ruling is believed is decided elsewhere.
"""

from collections.abc import Sequence

from fathom.llm.answers import RulingForm
from fathom.llm.sheets import Lines
from fathom.state import Claim, Difference, Relation, Ruling
from fathom.text.normal import one_line

Pairs = Sequence[tuple[Claim, Claim]]

_RELATIONS: dict[str, Relation] = {
    "same": "same", "contradicts": "contradicts", "contradict": "contradicts", "neither": "neither",
}  # fmt: skip
_KINDS: dict[str, Difference] = {"number": "number", "date": "date", "negation": "negation"}


def shown(pairs: Pairs) -> Lines:
    """Every pair under its number."""
    parts = [
        f"Pair {number}\nA: {one_line(left.statement)}\nB: {one_line(right.statement)}"
        for number, (left, right) in enumerate(pairs, 1)
    ]
    return Lines(parts, between="\n\n")


def rulings_of(answers: Sequence[RulingForm], pairs: Pairs) -> list[Ruling]:
    """The rulings on pairs that were shown, the first on each; a relation nobody knows is none."""
    found: dict[int, Ruling] = {}
    for answer in answers:
        relation = _RELATIONS.get(answer.relation.strip().lower())
        if relation is None or not 1 <= answer.pair <= len(pairs) or answer.pair in found:
            continue
        found[answer.pair] = Ruling(
            claims=sorted(claim.id for claim in pairs[answer.pair - 1]),
            relation=relation,
            kind=_KINDS.get(answer.kind.strip().lower(), "other"),
            why=one_line(answer.why),
            by="mind",
        )
    return list(found.values())
