"""Where findings disagree: about what, and both sides with their values, sources and dates.

Does not know how it is found out that two claims contradict each other, nor how a contradiction is settled.
"""

from collections.abc import Mapping, Sequence

from fathom.evidence.amounts import amounts, is_same_amount
from fathom.evidence.favouring import favoured
from fathom.evidence.pairs import differing
from fathom.state import Claim, Contradiction, Difference, Finding, Page, Ruling, Side, short_hash
from fathom.text.normal import one_line

_LONGEST = 160


def contradictions_of(
    rulings: Sequence[Ruling], findings: Sequence[Finding], claims: Mapping[str, Claim], pages: Sequence[Page]
) -> list[Contradiction]:
    """One entry for all findings that contradict each other in the same way, strongest findings first."""
    place = {claim_id: n for n, finding in enumerate(findings) for claim_id in finding.claims}
    edges: dict[tuple[int, int], Ruling] = {}
    for ruling in sorted(rulings, key=lambda r: r.key):
        ends = sorted({place[c] for c in ruling.claims if c in place})
        if ruling.relation == "contradicts" and len(ends) == 2:
            edges.setdefault((ends[0], ends[1]), ruling)
    known = {page.sha: page for page in pages}
    return [
        _contradiction([findings[n] for n in group], edges[group[0], group[1]], claims, known)
        for group in _groups(edges)
    ]


def _groups(edges: Mapping[tuple[int, int], Ruling]) -> list[list[int]]:
    """Groups of findings of which each contradicts every other in one kind: three figures are one dispute."""
    kinds = {pair: ruling.kind for pair, ruling in edges.items()}
    groups: list[tuple[Difference, list[int]]] = []
    for (left, right), kind in sorted(kinds.items()):
        own = [group for of, group in groups if of == kind and left in group]
        if any(right in group for group in own):
            continue
        joined = next(
            (g for g in own if all(kinds.get((min(n, right), max(n, right))) == kind for n in g)), None
        )
        if joined:
            joined.append(right)
        else:
            groups.append((kind, [left, right]))
    return [group for _, group in groups]


def _contradiction(
    group: Sequence[Finding], ruling: Ruling, claims: Mapping[str, Claim], pages: Mapping[str, Page]
) -> Contradiction:
    speakers = [_speaker(finding, ruling, claims) for finding in group]
    values = _values(speakers, ruling.kind)
    sides = [_side(finding, value, claims, pages) for finding, value in zip(group, values, strict=True)]
    rule, winner = favoured(ruling.kind, sides, claims, pages)
    return Contradiction(
        id=short_hash(ruling.kind, *sorted(finding.id for finding in group)),
        kind=ruling.kind,
        question=group[0].question,
        about=_about(speakers),
        sides=sides,
        settled_by=rule,
        favoured=winner,
    )


def _speaker(finding: Finding, ruling: Ruling, claims: Mapping[str, Claim]) -> Claim:
    """The claim of a finding that was ruled on, or else its strongest."""
    return claims[next((c for c in ruling.claims if c in finding.claims), finding.claims[0])]


def _side(finding: Finding, value: str, claims: Mapping[str, Claim], pages: Mapping[str, Page]) -> Side:
    shas = list(dict.fromkeys(quote.page for c in finding.claims for quote in claims[c].quotes))
    dates = [pages[sha].published if sha in pages else None for sha in shas]
    return Side(claims=finding.claims, value=value, pages=shas, published=dates)


def _values(speakers: Sequence[Claim], kind: Difference) -> list[str]:
    """What each says, in the words of its quote: the number or date that differs, or else the quote."""
    values = []
    for claim in speakers:
        other = next(c for c in speakers if c is not claim)
        found = differing(claim.statement, other.statement) if kind in {"number", "date"} else None
        values.append(_in_quote(found, claim) if found else _shortened(claim.quotes[0].text))
    return values


def _in_quote(value: str, claim: Claim) -> str:
    """The value as the quote writes it; the whole quote when it is not found there."""
    for quote in claim.quotes:
        if value in quote.text:
            return value
        for amount in amounts(quote.text):
            if any(is_same_amount(wanted, amount) for wanted in amounts(value)):
                return amount.text
    return _shortened(claim.quotes[0].text)


def _shortened(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _LONGEST else line[:_LONGEST].rsplit(" ", 1)[0] + " …"


def _about(speakers: Sequence[Claim]) -> str:
    """The first statement, with a gap where the value stands that the others do not share."""
    statement = speakers[0].statement
    found = differing(statement, speakers[1].statement)
    return _shortened(statement.replace(found, "…", 1).replace("….", "…") if found else statement)
