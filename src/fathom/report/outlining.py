"""The outline as code keeps it: sound titles, claims that exist, the same headings when claims come and go.

Does not know minds. What was written under a heading can be kept while `basis_of` it stays the same; that is
what makes an update, or a report after every round, cost only what changed.
"""

from collections.abc import Mapping, Sequence

from fathom.report.titles import is_sound_title
from fathom.state import Claim, Heading, Outline, Section, SubQuestion, short_hash

MOST_CLAIMS = 24  # a heading has at most so many, the most relevant


def basis_of(heading: Heading, claims: Mapping[str, Claim]) -> str:
    """A short name for all that a section is written from; the order of its claims does not matter."""
    own = sorted(c for c in heading.claims if c in claims)
    quotes = [q.text for c in own for q in claims[c].quotes]  # wherever they stand in their pages today
    return short_hash(heading.id, heading.title, *own, *quotes)


def is_current(section: Section, heading: Heading, claims: Mapping[str, Claim]) -> bool:
    """Whether the section is what would be written now."""
    return section.id == heading.id and section.basis == basis_of(heading, claims)


def sound_outline(
    offered: Outline, question: str, questions: Sequence[SubQuestion], claims: Sequence[Claim]
) -> Outline:
    """What a model offered, with the claims there are, no fact in a title that is not in its claims."""
    known = {claim.id: claim for claim in claims}
    asked = {q.id: q.text for q in questions}
    by_title: dict[str, Heading] = {}
    for heading in offered.headings:
        own = {c: known[c] for c in dict.fromkeys(heading.claims) if c in known}
        if not own:
            continue
        title = _title(heading, list(own.values()), asked, question)
        earlier = by_title.get(title)
        place = earlier.id if earlier else f"S{len(by_title) + 1}"
        together = list(dict.fromkeys([*(earlier.claims if earlier else []), *own]))
        about = heading.question if heading.question in asked else ""
        kept = {"id": place, "title": title, "question": about, "claims": together}
        by_title[title] = heading.model_copy(update=kept)
    headings = list(by_title.values())
    if not headings:  # a mind that forgot the claims still leaves a report to write
        headings = [Heading(id="S1", title=question, question="", claims=[c.id for c in claims])]
    quotes = [quote.text for claim in claims for quote in claim.quotes]
    sound = is_sound_title(offered.title, [*quotes, question, *asked.values()])
    title = offered.title.strip() if sound else question
    return Outline(title=title, headings=headings, question=question, seen=[c.id for c in claims])


def revised_outline(earlier: Outline, claims: Sequence[Claim], questions: Sequence[SubQuestion]) -> Outline:
    """The earlier outline for the claims there are now, without asking anybody.

    Headings keep their order, id and title, and those of their claims that are still there; one without any
    is gone. A claim that is new joins the heading of its sub-question, or makes one.
    """
    known = {claim.id: claim for claim in claims}
    seen = set(earlier.seen) | {c for heading in earlier.headings for c in heading.claims}
    headings = [
        h.model_copy(update={"claims": [c for c in h.claims if c in known]}) for h in earlier.headings
    ]
    places = {h.question: place for place, h in reversed(list(enumerate(headings))) if h.question}
    asked = {q.id: q.text for q in questions}
    for claim in (claim for claim in claims if claim.id not in seen):
        if claim.question not in places:
            places[claim.question] = len(headings)
            title = asked.get(claim.question) or earlier.question or earlier.title
            headings.append(Heading(id=_next_id(headings), title=title, question=claim.question, claims=[]))
        place = places[claim.question]
        joined = _strongest([*headings[place].claims, claim.id], known)
        headings[place] = headings[place].model_copy(update={"claims": joined})
    kept = [heading for heading in headings if heading.claims]
    return earlier.model_copy(update={"headings": kept, "seen": sorted(seen & set(known) | set(known))})


def _title(heading: Heading, own: Sequence[Claim], asked: Mapping[str, str], question: str) -> str:
    """The title offered, or the sub-question when it has in it what its claims do not have."""
    quotes = [quote.text for claim in own for quote in claim.quotes]
    if is_sound_title(heading.title, [*quotes, question, *asked.values()]):
        return heading.title.strip()
    return asked.get(heading.question) or asked.get(own[0].question) or question


def _next_id(headings: Sequence[Heading]) -> str:
    numbers = [int(h.id[1:]) for h in headings if h.id[1:].isdigit()]
    return f"S{max(numbers, default=0) + 1}"


def _strongest(ids: list[str], claims: Mapping[str, Claim]) -> list[str]:
    best = set(sorted(ids, key=lambda c: -claims[c].relevance)[:MOST_CLAIMS])
    return [c for c in ids if c in best]
