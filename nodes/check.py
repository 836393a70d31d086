"""The check: what each sentence of a section stands on, by code and then by the model."""

from fathom.llm.port import ResearchModel, Thought
from fathom.report.drafts import checked, faulted, is_settled
from fathom.state import Chapter


async def check(state: Chapter, *, model: ResearchModel) -> Chapter:
    """Check every sentence in code, then by the model in one thought; after a rewrite only what is new.

    A sentence that is its quote word for word needs no model, and no objection holds against it.

    Reads:  draft, rewritten, claims
    Writes: draft, failures, costs
    """
    draft, claims = state["draft"], {claim.id: claim for claim in state["claims"]}
    sentences = list(draft.sentences)
    places = state.get("rewritten", range(len(sentences)))
    for place in places:
        sentences[place] = checked(sentences[place], claims)
    doubtful = [place for place in places if not is_settled(sentences[place], claims)]
    shown = draft.model_copy(update={"sentences": [sentences[place] for place in doubtful]})
    used = dict.fromkeys(c for sentence in shown.sentences for c in sentence.claims)
    thought = await model.check(shown, [claims[c] for c in used]) if doubtful else Thought([])
    for objection in thought.value:
        if 0 <= objection.sentence < len(doubtful):
            place = doubtful[objection.sentence]
            sentences[place] = faulted(sentences[place], "meaning", objection.why)
    return {
        "draft": draft.model_copy(update={"sentences": sentences}),
        "failures": thought.failures,
        "costs": thought.costs,
    }
