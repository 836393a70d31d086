"""Claims weighed against each other: what they find together, and where they disagree.

Does not know minds: it hands out the pairs that rules cannot decide, and takes rulings back. A rule beats a
ruling: statements with different numbers are never the same, and what rules prove equal never contradicts.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fathom.evidence.contradictions import contradictions_of
from fathom.evidence.corroboration import by_strength, findings_of
from fathom.evidence.nearness import Nearness
from fathom.evidence.pairs import is_comparable, is_one_number, is_other_fact, ruled, shares_something
from fathom.llm.port import Case, Point
from fathom.state import Claim, Contradiction, Finding, Page, Ruling

_NEIGHBOURS = 5
_MOST_PAIRS = 12  # a mind rules on at most so many a round
_MOST_CLAIMS = 1000  # the strongest are compared, the rest stand alone
_COMPARED = 8  # a claim is compared with so many of the nearest findings for saying the same
_COULD_BE_SAME = 0.6  # if they are at least so near


@dataclass(frozen=True)
class Weighed:
    """What weighing found: the findings, the contradictions, and the rulings that are new."""

    findings: list[Finding]
    contradictions: list[Contradiction]
    rulings: list[Ruling]


class Scales:
    """The claims of a run side by side; nothing depends on the order they came in."""

    def __init__(self, claims: Sequence[Claim], pages: Sequence[Page], rulings: Sequence[Ruling]) -> None:
        self._claims = by_strength(claims)[:_MOST_CLAIMS]
        self._all = {claim.id: claim for claim in claims}
        self._pages = pages
        self._known = {ruling.key: ruling for ruling in rulings}
        self._places = {claim.id: place for place, claim in enumerate(self._claims)}

    @cached_property
    def _nearness(self) -> Nearness:
        return Nearness([claim.statement for claim in self._claims])

    @cached_property
    def _neighbours(self) -> list[tuple[float, Claim, Claim]]:
        """Each claim with its nearest few, if of another page and sharing something; nearest pairs first."""
        found: dict[str, tuple[float, Claim, Claim]] = {}
        for place, claim in enumerate(self._claims):
            row = self._nearness.row(place)
            for other in (self._claims[n] for n in self._nearness.nearest(place, _NEIGHBOURS)):
                if _are_of_one_page(claim, other) or not shares_something(claim.statement, other.statement):
                    continue
                left, right = sorted((claim, other), key=lambda c: c.id)
                found[_key(left, right)] = (float(row[self._places[other.id]]), left, right)
        return [found[key] for key in sorted(found, key=lambda k: (-found[k][0], k))]

    @cached_property
    def _by_rules(self) -> dict[str, Ruling]:
        """What rules say of the neighbours; what they cannot tell is not here."""
        rulings = {}
        for _, left, right in self._neighbours:
            if word := ruled(left.statement, right.statement):
                relation, kind, why = word
                ids = [left.id, right.id]
                ruling = Ruling(claims=ids, relation=relation, kind=kind, why=why, by="rules")
                rulings[ruling.key] = ruling
        return rulings

    @cached_property
    def pairs(self) -> list[tuple[Claim, Claim]]:
        """What a model should rule on: comparable, not decided by rules or before, most alike first."""
        open_pairs = [
            (left, right)
            for _, left, right in self._neighbours
            if _key(left, right) not in self._by_rules
            and _key(left, right) not in self._known
            and is_comparable(left.statement, right.statement)
        ]
        return open_pairs[:_MOST_PAIRS]

    def put_to(self, case: Case) -> Case:
        """The case with what a judge should know of the weighing, and what it should rule on."""
        known = self._by_rules_alone
        return replace(case, pairs=self.pairs, findings=known.findings, contradictions=known.contradictions)

    def weighed(self, rulings: Sequence[Ruling] = ()) -> Weighed:
        """Findings and contradictions, with what a mind ruled on `pairs`; its other rulings mean nothing."""
        given = {ruling.key: ruling for ruling in rulings if self._is_acceptable(ruling)}
        return self._weighed_with(given) if given else self._by_rules_alone

    @cached_property
    def _by_rules_alone(self) -> Weighed:
        return self._weighed_with({})

    def _weighed_with(self, given: Mapping[str, Ruling]) -> Weighed:
        minds = {**{k: r for k, r in self._known.items() if r.by == "mind"}, **given}
        told = {**minds, **self._by_rules}
        findings = findings_of(self._grouped(minds.values()), self._pages)
        disagreeing = contradictions_of(list(told.values()), findings, self._all, self._pages)
        new = [*given.values(), *(r for r in self._by_rules.values() if r.relation == "contradicts")]
        fresh = [ruling for ruling in new if ruling != self._known.get(ruling.key)]
        against = {c for entry in disagreeing for c in _decided_against(entry)}
        findings.sort(key=lambda f: not against.isdisjoint(f.claims))  # what was corrected is told last
        return Weighed([_retagged(f, disagreeing) for f in findings], disagreeing, fresh)

    def _is_acceptable(self, ruling: Ruling) -> bool:
        """Whether it was asked for, and code has nothing against it."""
        pair = next((p for p in self.pairs if _key(*p) == ruling.key), None)
        if pair is None:
            return False
        statements = pair[0].statement, pair[1].statement
        if ruling.relation == "same":
            return not is_other_fact(*statements)
        return ruling.kind != "number" or ruling.relation == "neither" or not is_one_number(*statements)

    def _grouped(self, minds: Iterable[Ruling]) -> list[list[Claim]]:
        """The claims that say the same together; each joins the first group it may."""
        same: dict[str, set[str]] = defaultdict(set)
        for ruling in minds:
            if ruling.relation == "same":
                left, right = ruling.claims
                same[left].add(right)
                same[right].add(left)
        groups: list[list[Claim]] = []
        group_of: dict[str, int] = {}
        firsts: list[int] = []
        for place, claim in enumerate(self._claims):
            row = self._nearness.row(place)[firsts]
            nearest = np.argsort(-row, kind="stable")[:_COMPARED].tolist()
            near = {n for n in nearest if row[n] >= _COULD_BE_SAME}
            ruled_same = {group_of[other] for other in same[claim.id] if other in group_of}
            candidates = (groups[n] for n in sorted(near | ruled_same))
            joined = next((g for g in candidates if _joins(claim, g, same)), None)
            if joined is None:
                joined = []
                groups.append(joined)
                firsts.append(place)
            joined.append(claim)
            group_of[claim.id] = group_of.get(joined[0].id, len(groups) - 1)
        return groups + [[claim] for claim in self._all.values() if claim.id not in self._places]


def _joins(claim: Claim, group: Sequence[Claim], same: Mapping[str, set[str]]) -> bool:
    """Whether rules say that it equals the strongest claim, or a mind that it equals one that does."""
    first = group[0].statement
    if word := ruled(claim.statement, first):
        return word[0] == "same"
    if same[claim.id].isdisjoint(other.id for other in group):
        return False
    return not any(is_other_fact(claim.statement, other.statement) for other in group)


def points_of(claims: Sequence[Claim], findings: Sequence[Finding]) -> list[Point]:
    """The claims gathered under their findings, in the findings' order; a claim of none stands alone."""
    given = {claim.id: claim for claim in claims}
    points = []
    for finding in findings:
        own = [given.pop(claim_id) for claim_id in finding.claims if claim_id in given]
        if own:
            points.append(Point(finding, own))
    return points + [Point(_alone(claim), [claim]) for claim in given.values()]


def _alone(claim: Claim) -> Finding:
    return findings_of([[claim]], [])[0]


def _retagged(finding: Finding, contradictions: Sequence[Contradiction]) -> Finding:
    """CONTRADICTED while it is disputed; what a rule decided against is UNCERTAIN, however many say it."""
    own = [(c, n) for c in contradictions for n, side in enumerate(c.sides) if side.claims == finding.claims]
    if any(c.settled_by is None for c, _ in own):
        return finding.model_copy(update={"tag": "CONTRADICTED"})
    if any(c.favoured != place for c, place in own):
        return finding.model_copy(update={"tag": "UNCERTAIN"})
    return finding


def _decided_against(entry: Contradiction) -> list[str]:
    """The claims of the sides that a rule did not favour."""
    if entry.settled_by is None:
        return []
    return [c for place, side in enumerate(entry.sides) if place != entry.favoured for c in side.claims]


def _are_of_one_page(left: Claim, right: Claim) -> bool:
    return bool({quote.page for quote in left.quotes} & {quote.page for quote in right.quotes})


def _key(left: Claim, right: Claim) -> str:
    return "|".join((left.id, right.id))
