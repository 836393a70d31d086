"""The check: no sentence leaves without support, or without a mark."""

import asyncio

from fathom.evidence.facts import is_quotation, missing_facts
from fathom.minds.port import Mind, Objection
from fathom.state import Claim, Section, Sentence, Writing


async def check(state: Writing, *, mind: Mind) -> Writing:
    """Check every sentence in code, then by the mind, one thought a section; what fails is marked.

    Reads:  sections, claims
    Writes: sections, losses, charges
    """
    claims = {claim.id: claim for claim in state["claims"]}
    sections = [_checked_in_code(section, claims) for section in state["sections"]]
    used = [_used(section, claims) for section in sections]
    thoughts = await asyncio.gather(
        *(mind.check(section, own) for section, own in zip(sections, used, strict=True))
    )
    return {
        "sections": [_marked(s, t.value, claims) for s, t in zip(sections, thoughts, strict=True)],
        "losses": [loss for thought in thoughts for loss in thought.losses],
        "charges": [charge for thought in thoughts for charge in thought.charges],
    }


def _used(section: Section, claims: dict[str, Claim]) -> list[Claim]:
    ids = dict.fromkeys(c for s in section.sentences if s.status == "supported" for c in s.claims)
    return [claims[c] for c in ids]


def _checked_in_code(section: Section, claims: dict[str, Claim]) -> Section:
    return section.model_copy(update={"sentences": [_checked(s, claims) for s in section.sentences]})


def _checked(sentence: Sentence, claims: dict[str, Claim]) -> Sentence:
    missing = missing_facts(sentence.text, _quotes(sentence, claims))
    if not missing:
        return sentence
    why = f"not in its quotes: {', '.join(missing)}"
    return sentence.model_copy(update={"status": "unsupported", "why": why})


def _quotes(sentence: Sentence, claims: dict[str, Claim]) -> list[str]:
    return [quote.text for c in sentence.claims for quote in claims[c].quotes]


def _marked(section: Section, objections: list[Objection], claims: dict[str, Claim]) -> Section:
    """The objections carried out, but for those to a sentence that is its quote word for word."""
    why = {o.sentence: o.why for o in objections}
    sentences = [
        s.model_copy(update={"status": "unsupported", "why": why[place]})
        if place in why and s.status != "unsupported" and not is_quotation(s.text, _quotes(s, claims))
        else s
        for place, s in enumerate(section.sentences)
    ]
    return section.model_copy(update={"sentences": sentences})
