"""The rewrite: one more try for the sentences that failed."""

from fathom.evidence.weighing import points_of
from fathom.llm.port import ResearchModel, Revision
from fathom.report.drafts import redrafted
from fathom.state import Chapter
from fathom.text.normal import one_line


async def rewrite(state: Chapter, *, model: ResearchModel) -> Chapter:
    """Have all failed sentences of a section written again in one thought; what is new is checked after this.

    A sentence that comes back empty, or as another one of the section, stays as it failed.

    Reads:  question, heading, claims, findings, draft
    Writes: draft, rewritten, failures, costs
    """
    claims = {claim.id: claim for claim in state["claims"]}
    sentences = list(state["draft"].sentences)
    failed = [place for place, sentence in enumerate(sentences) if sentence.status == "unsupported"]
    points = points_of(state["claims"], state.get("findings", []))
    wanted = Revision(state["question"], state["heading"], [sentences[place] for place in failed], points)
    thought = await model.rewrite(wanted)
    said = {one_line(sentence.text) for sentence in sentences}
    rewritten: list[int] = []
    for place, anew in zip(failed, thought.value, strict=False):
        sentence = redrafted(anew, claims)
        if sentence.text and sentence.status != "connective" and sentence.text not in said:
            said.add(sentence.text)
            sentences[place] = sentence
            rewritten.append(place)
    return {
        "draft": state["draft"].model_copy(update={"sentences": sentences}),
        "rewritten": rewritten,
        "failures": thought.failures,
        "costs": thought.costs,
    }
