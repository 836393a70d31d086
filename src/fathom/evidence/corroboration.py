"""Compare claims, group those that say the same into findings, and score these by independent sources.

| sources | confidence | tag |
|---|---|---|
| three or more | 0.95 | VERIFIED |
| two | 0.8 | HIGH |
| one | 0.6 | LIKELY when a claim of at least 0.3 relevance was verified with at least 0.8, else UNCERTAIN |

Contradictions may change a tag afterwards.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fathom.evidence.contradictions import find_contradictions, find_rival_figures
from fathom.evidence.sources import find_primary_pages, is_primary, list_independent_sources
from fathom.evidence.statement_pairs import (
    compare_statements,
    has_shared_terms,
    is_different_fact,
    is_same_number,
)
from fathom.evidence.statements import parse_statement
from fathom.state import Claim, Contradiction, Finding, Page, Ruling, Tag
from fathom.state.model_io import JudgeInput, ReportPoint
from fathom.text.ranking import terms
from fathom.text.similarity import embed, is_embeddable

_STRONG = 0.8
_RELEVANT = 0.3  # below it, a claim is hardly about its question
_CONFIDENCE = {1: 0.6, 2: 0.8}
_MOST_SURE = 0.95
_ABOUT = 0.15


def make_findings(groups: Sequence[Sequence[Claim]], pages: Sequence[Page]) -> list[Finding]:
    """Make one finding per group of claims that say the same; the strongest claim of a group comes first."""
    known, primary = {page.sha: page for page in pages}, find_primary_pages(pages)
    return [_make_finding(group, known, primary) for group in groups]


def _make_finding(given: Sequence[Claim], pages: dict[str, Page], primary: Set[str]) -> Finding:
    speaking = list_independent_sources([quote for claim in given for quote in claim.quotes], pages)
    sources = {
        claim.id: [quote.page for quote in claim.quotes if is_primary(quote, pages, primary)]
        for claim in given
    }
    best = given[0]
    # Of about equally strong claims, cite the primary source's first.
    group = sorted(given, key=lambda claim: not (sources[claim.id] and _is_as_strong(claim, best)))
    return Finding(
        id=group[0].id,
        statement=group[0].statement,
        question=group[0].question,
        claims=[claim.id for claim in group],
        independent_sources=speaking,
        confidence=_CONFIDENCE.get(len(speaking), _MOST_SURE),
        tag=_choose_tag(group, len(speaking)),
        primary=list(dict.fromkeys(sha for claim in group for sha in sources[claim.id])),
    )


def _is_as_strong(claim: Claim, other: Claim) -> bool:
    return claim.relevance >= other.relevance - _ABOUT and claim.verdict.score >= other.verdict.score - _ABOUT


def _choose_tag(group: Sequence[Claim], count: int) -> Tag:
    if count > 1:
        return "VERIFIED" if count > 2 else "HIGH"
    is_strong = any(c.verdict.score >= _STRONG and c.relevance >= _RELEVANT for c in group)
    return "LIKELY" if is_strong else "UNCERTAIN"


SimilarityMatrix = NDArray[np.float32]


def measure_similarity(texts: Sequence[str]) -> SimilarityMatrix:
    """Return the similarity of every two texts, 0 to 1, and 0 of each to itself."""
    found: SimilarityMatrix = np.zeros((len(texts), len(texts)), dtype=np.float32)
    embedded = [place for place, text in enumerate(texts) if is_embeddable(text)]
    vectors = embed([texts[place] for place in embedded])
    found[np.ix_(embedded, embedded)] = np.clip(vectors @ vectors.T, 0, 1)
    bags = {place: terms(text) for place, text in enumerate(texts) if not is_embeddable(text)}
    holders: dict[str, list[int]] = defaultdict(list)
    for place, words in bags.items():
        shared = Counter(other for word in words for other in holders[word])
        for other, count in shared.items():
            found[place, other] = found[other, place] = count / (len(words) + len(bags[other]) - count)
        for word in words:
            holders[word].append(place)
    np.fill_diagonal(found, 0)
    return found


def find_nearest(row: NDArray[np.float32], most: int) -> list[int]:
    """Return the places of the most similar few, most similar first."""
    return [int(n) for n in np.argsort(-row, kind="stable")[:most] if row[n] > 0]


_NEIGHBOURS = 5
_MOST_CLAIMS = 1000  # the strongest are compared, the rest stay single
BEARS_FROM = 0.3  # relevance from which a dispute about a claim matters for the question
_MOST_COMPARED = 8  # the most similar findings that a claim is compared with
_COULD_BE_SAME = 0.6  # the least similarity for that


@dataclass(frozen=True)
class ComparisonResult:
    """Result of a comparison: findings, contradictions and new rulings."""

    findings: list[Finding]
    contradictions: list[Contradiction]
    rulings: list[Ruling]


class ClaimComparison:
    """Compares the claims of a run; the result does not depend on their order."""

    def __init__(self, claims: Sequence[Claim], pages: Sequence[Page], rulings: Sequence[Ruling]) -> None:
        strongest = sorted(claims, key=lambda c: (-c.relevance, -c.verdict.score, c.id))
        self._claims = strongest[:_MOST_CLAIMS]
        self._all = {claim.id: claim for claim in claims}
        self._pages = pages
        self._known = {ruling.key: ruling for ruling in rulings}
        self._places = {claim.id: place for place, claim in enumerate(self._claims)}

    @cached_property
    def _nearness(self) -> SimilarityMatrix:
        return measure_similarity([claim.statement for claim in self._claims])

    @cached_property
    def _neighbours(self) -> list[tuple[float, Claim, Claim]]:
        """Return pairs of similar claims from different pages, most similar first."""
        found: dict[str, tuple[float, Claim, Claim]] = {}
        beside = self._same_measures
        for place, claim in enumerate(self._claims):
            row = self._nearness[place]
            for other in (self._claims[n] for n in [*find_nearest(row, _NEIGHBOURS), *beside[place]]):
                if _are_of_one_page(claim, other) or not has_shared_terms(claim.statement, other.statement):
                    continue
                left, right = sorted((claim, other), key=lambda c: c.id)
                found[f"{left.id}|{right.id}"] = (float(row[self._places[other.id]]), left, right)
        return [found[key] for key in sorted(found, key=lambda k: (-found[k][0], k))]

    @cached_property
    def _same_measures(self) -> dict[int, list[int]]:
        """Return for each claim the most similar ones with a figure of the same measure."""
        holders: dict[str, list[int]] = defaultdict(list)
        for place, claim in enumerate(self._claims):
            for slot in {slot for _, slot in parse_statement(claim.statement).amounts if slot}:
                holders[slot].append(place)
        found: dict[int, list[int]] = defaultdict(list)
        for places in (own for own in holders.values() if len(own) > 1):
            for place in places:
                row = self._nearness[place]
                found[place] += sorted(places, key=lambda n, row=row: -row[n])[:_NEIGHBOURS]  # type: ignore[misc]
        return found

    @cached_property
    def _by_rules(self) -> dict[str, Ruling]:
        """Return the rulings of rules on these pairs; undecided ones are left out."""
        rulings = {}
        for _, left, right in self._neighbours:
            if word := compare_statements(left.statement, right.statement):
                relation, kind, why = word
                ids = [left.id, right.id]
                ruling = Ruling(claims=ids, relation=relation, kind=kind, why=why, by="rules")
                rulings[ruling.key] = ruling
        return rulings

    @cached_property
    def _rivals(self) -> list[Ruling]:
        """Return the pairs of figures that may conflict although no rule is sure of it."""
        titles = {page.sha: page.title for page in self._pages}
        found = []
        for _, left, right in self._neighbours:
            ids = [left.id, right.id]
            named = [titles.get(claim.quotes[0].page, "") for claim in (left, right)]
            if figures := find_rival_figures(left.statement, right.statement, (named[0], named[1])):
                why = " / ".join(figures)
                found.append(Ruling(claims=ids, relation="contradicts", kind="number", why=why, by="rules"))
        return found

    def add_to_input(self, case: JudgeInput) -> JudgeInput:
        """Add to the judge's input what the comparison found."""
        known = self._by_rules_alone
        return replace(case, findings=known.findings, contradictions=known.contradictions)

    def compare(self, rulings: Sequence[Ruling] = ()) -> ComparisonResult:
        """Return findings and contradictions from rules and a model's rulings that code accepts."""
        given = {ruling.key: ruling for ruling in rulings if self._is_acceptable(ruling)}
        return self._compare_with(given) if given else self._by_rules_alone

    @cached_property
    def _by_rules_alone(self) -> ComparisonResult:
        return self._compare_with({})

    def _compare_with(self, given: Mapping[str, Ruling]) -> ComparisonResult:
        by_model = {**{k: r for k, r in self._known.items() if r.by == "model"}, **given}
        rulings_by_pair = {**by_model, **self._by_rules}
        findings = make_findings(self._group_claims(by_model.values()), self._pages)
        rulings = list(rulings_by_pair.values())
        ruled_same = {key for key, ruling in rulings_by_pair.items() if ruling.relation == "same"}
        rivals = [rival for rival in self._rivals if rival.key not in ruled_same]
        disagreeing = find_contradictions(rulings, rivals, findings, self._all, self._pages)
        new = [*given.values(), *(r for r in self._by_rules.values() if r.relation == "contradicts")]
        fresh = [ruling for ruling in new if ruling != self._known.get(ruling.key)]
        against = {c for entry in disagreeing for c in _list_overruled_claims(entry)}
        findings.sort(key=lambda f: not against.isdisjoint(f.claims))  # corrected findings come last
        return ComparisonResult([_update_tag(f, disagreeing) for f in findings], disagreeing, fresh)

    def _is_acceptable(self, ruling: Ruling) -> bool:
        """Tell whether a ruling is about two claims that no rule decides, and code does not object."""
        pair = [self._all[claim] for claim in ruling.claims if claim in self._all]
        if len(pair) != 2 or ruling.key in self._by_rules:
            return False
        statements = pair[0].statement, pair[1].statement
        if ruling.relation == "same":
            return not is_different_fact(*statements)
        is_foreign = _are_of_one_page(*pair) or not has_shared_terms(*statements)
        if ruling.relation == "contradicts" and is_foreign:
            return False
        return ruling.kind != "number" or ruling.relation == "neither" or not is_same_number(*statements)

    def _group_claims(self, rulings: Iterable[Ruling]) -> list[list[Claim]]:
        """Group claims that say the same; each joins the first group it fits."""
        same: dict[str, set[str]] = defaultdict(set)
        for ruling in rulings:
            if ruling.relation == "same":
                left, right = ruling.claims
                same[left].add(right)
                same[right].add(left)
        groups: list[list[Claim]] = []
        group_of: dict[str, int] = {}
        firsts: list[int] = []
        for place, claim in enumerate(self._claims):
            row = self._nearness[place][firsts]
            nearest = np.argsort(-row, kind="stable")[:_MOST_COMPARED].tolist()
            near = {n for n in nearest if row[n] >= _COULD_BE_SAME}
            ruled_same = {group_of[other] for other in same[claim.id] if other in group_of}
            candidates = (groups[n] for n in sorted(near | ruled_same))
            joined = next((g for g in candidates if _belongs_to(claim, g, same)), None)
            if joined is None:
                joined = []
                groups.append(joined)
                firsts.append(place)
            joined.append(claim)
            group_of[claim.id] = group_of.get(joined[0].id, len(groups) - 1)
        return groups + [[claim] for claim in self._all.values() if claim.id not in self._places]


def _belongs_to(claim: Claim, group: Sequence[Claim], same: Mapping[str, set[str]]) -> bool:
    """Tell whether rules equate it with the strongest claim, or a model with one that they equate."""
    first = group[0].statement
    if word := compare_statements(claim.statement, first):
        return word[0] == "same"
    if same[claim.id].isdisjoint(other.id for other in group):
        return False
    return not any(is_different_fact(claim.statement, other.statement) for other in group)


def make_points(claims: Sequence[Claim], findings: Sequence[Finding]) -> list[ReportPoint]:
    """Group claims under their findings, in the findings' order; a claim of no finding stays alone."""
    given = {claim.id: claim for claim in claims}
    points = []
    for finding in findings:
        own = [given.pop(claim_id) for claim_id in finding.claims if claim_id in given]
        if own:
            points.append(ReportPoint(finding, own))
    alone = make_findings([[claim] for claim in given.values()], [])
    return points + [
        ReportPoint(finding, [claim]) for finding, claim in zip(alone, given.values(), strict=True)
    ]


def _update_tag(finding: Finding, contradictions: Sequence[Contradiction]) -> Finding:
    """Tag a disputed finding CONTRADICTED, and one that a rule decided against UNCERTAIN."""
    own = [
        (entry, place)
        for entry in contradictions
        for place, side in enumerate(entry.sides)
        if entry.is_certain and set(finding.claims) <= set(side.claims)
    ]
    is_disputed = any(entry.is_open for entry, _ in own)
    if not is_disputed and all(entry.favoured == place for entry, place in own):
        return finding
    return finding.model_copy(update={"tag": "CONTRADICTED" if is_disputed else "UNCERTAIN"})


KnowledgeGroup = Literal["confirmed", "uncertain", "disproven"]


def group_knowledge(
    findings: Sequence[Finding], contradictions: Sequence[Contradiction]
) -> dict[KnowledgeGroup, list[Finding]]:
    """Group findings: confirmed by two sources, disproven by a rule that settled it, else uncertain."""
    overruled = {c for entry in contradictions for c in _list_overruled_claims(entry)}
    groups: dict[KnowledgeGroup, list[Finding]] = {"confirmed": [], "uncertain": [], "disproven": []}
    for finding in findings:
        is_overruled = not overruled.isdisjoint(finding.claims)
        is_confirmed = finding.tag in ("VERIFIED", "HIGH")
        groups["disproven" if is_overruled else "confirmed" if is_confirmed else "uncertain"].append(finding)
    return groups


def _list_overruled_claims(entry: Contradiction) -> list[str]:
    """Return the claims of the sides that a rule did not favour."""
    if entry.settled_by is None:
        return []
    return [c for place, side in enumerate(entry.sides) if place != entry.favoured for c in side.claims]


def _are_of_one_page(left: Claim, right: Claim) -> bool:
    return bool({quote.page for quote in left.quotes} & {quote.page for quote in right.quotes})
