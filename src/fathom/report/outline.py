"""The outline while a run looks: kept from round to round, so that search and structure shape each other.

Does not know models. Whoever judges a round offers an outline; here it becomes sound: known claims, titles
that say nothing of their own, ids that stay, and a place for every claim that answers something.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from fathom.evidence.scoring import ANSWERED_FROM
from fathom.report.titles import is_sound_title, is_usable_title
from fathom.state import Claim, EffortKind, Finding, Heading, Outline, Section, SubQuestion, short_hash
from fathom.text.messages import messages_for

_WORD_TARGETS: Mapping[EffortKind, Mapping[str, int]] = {
    "fact": {"short": 80, "standard": 150, "long": 300},
    "comparison": {"short": 600, "standard": 1100, "long": 1500},
    "survey": {"short": 900, "standard": 2100, "long": 3000},
}

_KOREAN_WORDS = 0.62  # for one of English, counted by spaces: particles and endings are no words of their own

_WORDS_A_CLAIM = 55  # more than this about one claim is padding

_PRIORITY_WEIGHTS = {"high": 1.5, "medium": 1.0, "low": 0.6}

_CONCLUSION_SHARE = 0.12  # of the words: what people act on, however few claims it rests on

_EQUAL_CLAIMS = 10  # added to each part's claims, so that a part with few is not starved

_WORDS_A_CHAPTER = 1_900  # what one answer can hold, and one checker reads with care

_CLAIMS_A_CHAPTER = 90

_SUMMARY_SHARE = 0.1


def word_target(length: str | None, kind: EffortKind, claims: int, *, is_korean: bool = False) -> int:
    """Return the words a report aims at: as set, or by the kind of question and what the evidence carries."""
    if length and length.isdigit():
        return int(length)
    wanted = _WORD_TARGETS[kind][length or "standard"]
    words = min(wanted, max(_WORD_TARGETS["fact"]["standard"], _WORDS_A_CLAIM * claims))
    return round(words * _KOREAN_WORDS) if is_korean else words


def word_shares(words: int, headings: Sequence[Heading]) -> dict[str, int]:
    """Return the words of each part, by its claims and its priority; with the summary they make the whole."""
    room = (1 - _SUMMARY_SHARE) * words
    body = [h for h in headings if not h.is_conclusion]
    ends = [h for h in headings if h.is_conclusion] if body else []
    parts = body or headings
    end = _CONCLUSION_SHARE * words if ends else 0.0
    weights = {h.id: _PRIORITY_WEIGHTS[h.priority] * (_EQUAL_CLAIMS + min(len(h.claims), 24)) for h in parts}
    total = sum(weights.values()) or 1.0
    shares = {name: (room - end) * weight / total for name, weight in weights.items()}
    shares |= {h.id: end / len(ends) for h in ends}
    return {h.id: round(shares[h.id]) for h in headings}


def whole_length(shares: Mapping[str, int]) -> int:
    """Return the words of the report whose parts have these shares."""
    return round(sum(shares.values()) / (1 - _SUMMARY_SHARE))


def group_headings(headings: Sequence[Heading], words: Mapping[str, int]) -> list[list[Heading]]:
    """Return the parts in chapters that are written in one go: one, or a few of similar size."""
    sizes = {h.id: max(words[h.id] / _WORDS_A_CHAPTER, len(h.claims) / _CLAIMS_A_CHAPTER) for h in headings}
    total = sum(sizes.values())
    number = max(1, ceil(total - 0.1))
    chapters: dict[int, list[Heading]] = {}
    done = 0.0
    for heading in headings:
        place = min(number - 1, int((done + sizes[heading.id] / 2) * number / total)) if total else 0
        chapters.setdefault(place, []).append(heading)
        done += sizes[heading.id]
    return list(chapters.values())


MOST_CLAIMS = 24  # a heading has at most so many, the most relevant


def section_basis(heading: Heading, claims: Mapping[str, Claim]) -> str:
    """A short name for all that a section is written from; the order of its claims does not matter."""
    own = sorted(c for c in heading.claims if c in claims)
    quotes = [q.text for c in own for q in claims[c].quotes]  # wherever they stand in their pages today
    return short_hash(heading.id, heading.title, *own, *quotes)


def is_section_current(section: Section, heading: Heading, claims: Mapping[str, Claim]) -> bool:
    """Whether the section is what would be written now."""
    return section.id == heading.id and section.basis == section_basis(heading, claims)


def check_outline(
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
        title = _heading_title(heading, list(own.values()), asked, question)
        earlier = by_title.get(title)
        place = earlier.id if earlier else f"S{len(by_title) + 1}"
        together = list(dict.fromkeys([*(earlier.claims if earlier else []), *own]))
        about = heading.question if heading.question in asked else ""
        kept = {"id": place, "title": title, "question": about, "claims": together}
        by_title[title] = heading.model_copy(update=kept)
    headings = list(by_title.values())
    if not headings:  # a model that forgot the claims still leaves a report to write
        headings = [Heading(id="S1", title=question, question="", claims=[c.id for c in claims])]
    quotes = [quote.text for claim in claims for quote in claim.quotes]
    sound = is_sound_title(offered.title, [*quotes, question, *asked.values()])
    title = offered.title.strip() if sound else question
    return Outline(title=title, headings=headings, question=question, seen=[c.id for c in claims])


def revise_outline(earlier: Outline, claims: Sequence[Claim], questions: Sequence[SubQuestion]) -> Outline:
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
            headings.append(
                Heading(id=_next_heading_id(headings), title=title, question=claim.question, claims=[])
            )
        place = places[claim.question]
        joined = _most_relevant([*headings[place].claims, claim.id], known)
        headings[place] = headings[place].model_copy(update={"claims": joined})
    kept = [heading for heading in headings if heading.claims]
    return earlier.model_copy(update={"headings": kept, "seen": sorted(seen & set(known) | set(known))})


def _heading_title(heading: Heading, own: Sequence[Claim], asked: Mapping[str, str], question: str) -> str:
    """The title offered, or the sub-question when it has in it what its claims do not have."""
    quotes = [quote.text for claim in own for quote in claim.quotes]
    if is_usable_title(heading.title, [*quotes, question, *asked.values()]):
        return heading.title.strip()
    return asked.get(heading.question) or asked.get(own[0].question) or question


def _next_heading_id(headings: Sequence[Heading]) -> str:
    numbers = [int(h.id[1:]) for h in headings if h.id[1:].isdigit()]
    return f"S{max(numbers, default=0) + 1}"


def _most_relevant(ids: list[str], claims: Mapping[str, Claim]) -> list[str]:
    best = set(sorted(ids, key=lambda c: -claims[c].relevance)[:MOST_CLAIMS])
    return [c for c in ids if c in best]


MOST_PARTS = 9

_MOST_CONCLUSION_CLAIMS = 6  # that a conclusion rests on, when it names none


@dataclass(frozen=True)
class OutlineMaterial:
    """What an outline is made for and from."""

    question: str
    questions: Sequence[SubQuestion]
    claims: Sequence[Claim]
    findings: Sequence[Finding] = ()
    kind: EffortKind = "survey"
    language: str | None = None  # of the report; None: the question's

    @property
    def asked(self) -> dict[str, str]:
        """The sub-questions by their ids."""
        return {question.id: question.text for question in self.questions}


def update_outline(offered: Outline, before: Outline | None, material: OutlineMaterial) -> Outline:
    """The outline that was offered, made sound; parts keep the ids they had, and their titles where their
    claims did not change. A part without a claim stays while it says what it lacks."""
    known = {claim.id: claim for claim in material.claims}
    earlier = {part.id: part for part in before.headings} if before else {}
    parts: list[Heading] = []
    for part in _limit_parts(offered.headings, material.kind):
        if not part.title and not part.claims:
            continue
        own = [c for c in dict.fromkeys(part.claims) if c in known]
        was = earlier.pop(part.id, None)
        stayed_empty = was is not None and not was.claims
        if not own and not part.is_conclusion and (stayed_empty or not part.lacks):
            continue
        about = part.question if part.question in material.asked else ""
        name = was.id if was else _next_id([*(before.headings if before else []), *parts])
        changed = {"id": name, "claims": own, "question": about}
        parts.append(_set_title(part.model_copy(update=changed), was, material))
    parts = _place_claims(_merge_same_titles(parts), material)
    title = _outline_title(offered.title, before.title if before else "", material)
    return Outline(title=title, headings=parts, question=material.question, seen=list(known))


def drop_empty_parts(outline: Outline) -> Outline:
    """The outline as a report is written from it: a part without a claim says nothing."""
    return outline.model_copy(update={"headings": [part for part in outline.headings if part.claims]})


def _merge_same_titles(parts: Sequence[Heading]) -> list[Heading]:
    """No title twice: parts of one title are one part; the conclusion is never part of another."""
    found: dict[tuple[str, bool], Heading] = {}
    for part in parts:
        key = (part.title.casefold(), part.is_conclusion)
        first = found.setdefault(key, part)
        if first is not part:
            claims = list(dict.fromkeys([*first.claims, *part.claims]))
            found[key] = first.model_copy(update={"claims": claims})
    return list(found.values())


def _limit_parts(offered: Sequence[Heading], kind: EffortKind) -> list[Heading]:
    """At most so many parts, and one conclusion at the end; a fact has none."""
    body = [part for part in offered if not part.is_conclusion]
    ends = [part for part in offered if part.is_conclusion]
    if kind == "fact":
        return body[:MOST_PARTS] or [part.model_copy(update={"is_conclusion": False}) for part in ends[:1]]
    return [*body[: MOST_PARTS - 1], *ends[:1]]


def _place_claims(parts: list[Heading], material: OutlineMaterial) -> list[Heading]:
    """Every claim that answers a sub-question under some part: where its twin is, else with its like."""
    twins = {c: finding.claims for finding in material.findings for c in finding.claims}
    asked, placed = material.asked, {c for part in parts for c in part.claims}
    for claim in material.claims:
        is_strong = claim.question in asked and claim.relevance >= ANSWERED_FROM
        if claim.id in placed or not is_strong:
            continue
        place = _place_of(claim, twins.get(claim.id, []), parts, material)
        if place is None:
            title = asked[claim.question]
            parts = _add_part(
                parts, Heading(id=_next_id(parts), title=title, question=claim.question, claims=[])
            )
            place = next(
                n for n, part in enumerate(parts) if part.question == claim.question and not part.claims
            )
        parts[place] = parts[place].model_copy(update={"claims": [*parts[place].claims, claim.id]})
    if not any(part.claims for part in parts):  # nothing answers: what there is still makes a part
        ids = [claim.id for claim in material.claims]
        parts = [*parts, Heading(id=_next_id(parts), title=material.question, question="", claims=ids)]
    known = {claim.id: claim for claim in material.claims}
    return [_limit_claims(part, parts, known) for part in parts]


def _place_of(
    claim: Claim, twins: Sequence[str], parts: Sequence[Heading], material: OutlineMaterial
) -> int | None:
    """The part that a claim joins: where one stands that says the same, or of its sub-question."""
    body = [n for n, part in enumerate(parts) if not part.is_conclusion]
    answering = {other.id for other in material.claims if other.question == claim.question}
    for n in body:
        if not set(twins).isdisjoint(parts[n].claims):
            return n
    for n in body:
        if parts[n].question == claim.question:
            return n
    shared = {n: len(answering.intersection(parts[n].claims)) for n in body}
    best = max(body, key=lambda n: shared[n], default=None)
    if best is not None and shared[best]:
        return best
    return best if len(parts) >= MOST_PARTS else None


def _add_part(parts: Sequence[Heading], new: Heading) -> list[Heading]:
    """The new part behind the others, but in front of the conclusion."""
    body = [part for part in parts if not part.is_conclusion]
    return [*body, new, *(part for part in parts if part.is_conclusion)]


def _limit_claims(part: Heading, parts: Sequence[Heading], known: Mapping[str, Claim]) -> Heading:
    """The part with the most relevant of its claims; a conclusion without any has the best of each part."""
    ids = part.claims
    if part.is_conclusion and not ids:
        firsts = [max(other.claims, key=lambda c: known[c].relevance) for other in parts if other.claims]
        ids = list(dict.fromkeys(firsts))[:_MOST_CONCLUSION_CLAIMS]
    best = set(sorted(ids, key=lambda c: -known[c].relevance)[:MOST_CLAIMS])
    return part.model_copy(update={"claims": [c for c in ids if c in best]})


def _set_title(part: Heading, was: Heading | None, material: OutlineMaterial) -> Heading:
    """The part under a sound title: the one it had while nothing in it changed, so that its text can stay.

    A question that only stands in for a title gives way to a sound one.
    """
    is_stand_in = was is not None and was.title in {*material.asked.values(), material.question}
    if was and set(was.claims) == set(part.claims) and not is_stand_in:
        return part.model_copy(update={"title": was.title})
    if is_usable_title(part.title, _known_texts(material, part.claims)):
        return part.model_copy(update={"title": part.title.strip()})
    own = (claim.question for claim in material.claims if claim.id in set(part.claims))
    asked = material.asked
    fallback = asked.get(part.question) or asked.get(next(own, "")) or material.question
    if part.is_conclusion:
        fallback = messages_for(material.question, material.language)("report.conclusion")
    return part.model_copy(update={"title": was.title if was else fallback})


def _outline_title(offered: str, before: str, material: OutlineMaterial) -> str:
    """The title that was offered, if nothing in it is a model's own; else the one before it."""
    if is_sound_title(offered, _known_texts(material, [claim.id for claim in material.claims])):
        return offered.strip()
    return before or material.question


def _known_texts(material: OutlineMaterial, claims: Sequence[str]) -> list[str]:
    own = set(claims)
    said = [
        text
        for claim in material.claims
        if claim.id in own
        for text in (claim.statement, *(quote.text for quote in claim.quotes))
    ]
    return [*said, material.question, *material.asked.values()]


def _next_id(parts: Sequence[Heading]) -> str:
    numbers = [int(part.id[1:]) for part in parts if part.id[1:].isdigit()]
    return f"S{max(numbers, default=0) + 1}"
