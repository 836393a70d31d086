"""The outline while a run looks: kept from round to round, so that search and structure shape each other.

Does not know models. Whoever judges a round offers an outline; here it becomes sound: known claims, titles
that say nothing of their own, ids that stay, and a place for every claim that answers something.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fathom.evidence.sufficiency import ANSWERED_FROM
from fathom.report.outlining import MOST_CLAIMS
from fathom.report.titles import is_sound_title
from fathom.state import Claim, EffortKind, Finding, Heading, Outline, SubQuestion
from fathom.text.tokens import has_paired_script

MOST_PARTS = 9
_CONCLUDED = 6  # claims that a conclusion rests on, when it names none


@dataclass(frozen=True)
class Material:
    """What an outline is made for and from."""

    question: str
    questions: Sequence[SubQuestion]
    claims: Sequence[Claim]
    findings: Sequence[Finding] = ()
    kind: EffortKind = "survey"

    @property
    def asked(self) -> dict[str, str]:
        """The sub-questions by their ids."""
        return {question.id: question.text for question in self.questions}


def kept_outline(offered: Outline, before: Outline | None, material: Material) -> Outline:
    """The outline that was offered, made sound; parts keep the ids they had, and their titles where their
    claims did not change. A part without a claim stays while it says what it lacks."""
    known = {claim.id: claim for claim in material.claims}
    earlier = {part.id: part for part in before.headings} if before else {}
    parts: list[Heading] = []
    for part in _in_shape(offered.headings, material.kind):
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
        parts.append(_titled(part.model_copy(update=changed), was, material))
    parts = _placed(_distinct(parts), material)
    title = _title(offered.title, before.title if before else "", material)
    return Outline(title=title, headings=parts, question=material.question, seen=list(known))


def without_empty_parts(outline: Outline) -> Outline:
    """The outline as a report is written from it: a part without a claim says nothing."""
    return outline.model_copy(update={"headings": [part for part in outline.headings if part.claims]})


def _distinct(parts: Sequence[Heading]) -> list[Heading]:
    """No title twice: parts of one title are one part; the conclusion is never part of another."""
    found: dict[tuple[str, bool], Heading] = {}
    for part in parts:
        key = (part.title.casefold(), part.is_conclusion)
        first = found.setdefault(key, part)
        if first is not part:
            claims = list(dict.fromkeys([*first.claims, *part.claims]))
            found[key] = first.model_copy(update={"claims": claims})
    return list(found.values())


def _in_shape(offered: Sequence[Heading], kind: EffortKind) -> list[Heading]:
    """At most so many parts, and one conclusion at the end; a fact has none."""
    body = [part for part in offered if not part.is_conclusion]
    ends = [part for part in offered if part.is_conclusion]
    if kind == "fact":
        return body[:MOST_PARTS] or [part.model_copy(update={"is_conclusion": False}) for part in ends[:1]]
    return [*body[: MOST_PARTS - 1], *ends[:1]]


def _placed(parts: list[Heading], material: Material) -> list[Heading]:
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
            parts = _with_part(
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
    return [_bounded(part, parts, known) for part in parts]


def _place_of(claim: Claim, twins: Sequence[str], parts: Sequence[Heading], material: Material) -> int | None:
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


def _with_part(parts: Sequence[Heading], new: Heading) -> list[Heading]:
    """The new part behind the others, but in front of the conclusion."""
    body = [part for part in parts if not part.is_conclusion]
    return [*body, new, *(part for part in parts if part.is_conclusion)]


def _bounded(part: Heading, parts: Sequence[Heading], known: Mapping[str, Claim]) -> Heading:
    """The part with the most relevant of its claims; a conclusion without any has the best of each part."""
    ids = part.claims
    if part.is_conclusion and not ids:
        firsts = [max(other.claims, key=lambda c: known[c].relevance) for other in parts if other.claims]
        ids = list(dict.fromkeys(firsts))[:_CONCLUDED]
    best = set(sorted(ids, key=lambda c: -known[c].relevance)[:MOST_CLAIMS])
    return part.model_copy(update={"claims": [c for c in ids if c in best]})


def _titled(part: Heading, was: Heading | None, material: Material) -> Heading:
    """The part under a sound title: the one it had while nothing in it changed, so that its text can stay."""
    if was and set(was.claims) == set(part.claims):
        return part.model_copy(update={"title": was.title})
    if is_sound_title(part.title, _said(material, part.claims)):
        return part.model_copy(update={"title": part.title.strip()})
    own = (claim.question for claim in material.claims if claim.id in set(part.claims))
    asked = material.asked
    fallback = asked.get(part.question) or asked.get(next(own, "")) or material.question
    if part.is_conclusion:
        fallback = "결론" if has_paired_script(material.question) else "Conclusion"
    return part.model_copy(update={"title": was.title if was else fallback})


def _title(offered: str, before: str, material: Material) -> str:
    """The title that was offered, if nothing in it is a model's own; else the one before it."""
    if is_sound_title(offered, _said(material, [claim.id for claim in material.claims])):
        return offered.strip()
    return before or material.question


def _said(material: Material, claims: Sequence[str]) -> list[str]:
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
