"""The section: one part of the report, written from its claims only."""

from fathom.minds.port import Mind
from fathom.state import Chapter, Section, Sentence, Writing


async def section(state: Chapter, *, mind: Mind) -> Writing:
    """Write one section; keys the writer was not given are dropped.

    Reads:  question, heading, claims
    Writes: sections, losses, charges
    """
    heading, claims = state["heading"], state["claims"]
    thought = await mind.write(state["question"], heading, claims)
    known = {claim.id for claim in claims}
    sentences = [
        sentence.model_copy(update={"claims": [c for c in dict.fromkeys(sentence.claims) if c in known]})
        for sentence in thought.value.sentences
        if sentence.text.strip()
    ]
    written = Section(
        id=heading.id,
        title=heading.title,
        sentences=[_with_status(s) for s in sentences],
        is_list=thought.value.is_list,
    )
    return {"sections": [written], "losses": thought.losses, "charges": thought.charges}


def _with_status(sentence: Sentence) -> Sentence:
    return sentence.model_copy(update={"status": "supported" if sentence.claims else "connective"})
