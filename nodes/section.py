"""The section: one part of the report, written from its claims only."""

from fathom.evidence.weighing import points_of
from fathom.minds.port import Mind
from fathom.state import Chapter, Section, Sentence, Writing


async def section(state: Chapter, *, mind: Mind) -> Writing:
    """Write one section; keys the writer was not given are dropped.

    Reads:  question, heading, claims, findings
    Writes: sections, losses, charges
    """
    heading, claims = state["heading"], state["claims"]
    points = points_of(claims, state.get("findings", []))
    thought = await mind.write(state["question"], heading, points)
    known = {claim.id for claim in claims}
    written = Section(
        id=heading.id,
        title=heading.title,
        sentences=[_with_status(s, known) for s in thought.value.sentences if s.text.strip()],
        is_list=thought.value.is_list,
    )
    return {"sections": [written], "losses": thought.losses, "charges": thought.charges}


def _with_status(sentence: Sentence, known: set[str]) -> Sentence:
    """Supported by what is known; a sentence that names only unknown claims connects nothing."""
    claims = [c for c in dict.fromkeys(sentence.claims) if c in known]
    if claims:
        return sentence.model_copy(update={"claims": claims, "status": "supported"})
    if sentence.claims or sentence.status == "unsupported":
        why = sentence.why or "its claims are unknown"
        return sentence.model_copy(update={"claims": [], "status": "unsupported", "why": why})
    return sentence.model_copy(update={"status": "connective"})
