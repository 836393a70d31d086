"""The end of a section: what becomes of the sentences that still fail."""

from fathom.state import Chapter, RunConfig


async def settle(state: Chapter, *, run_config: RunConfig) -> Chapter:
    """Drop what is not supported, or leave it to be marked; a section that supports nothing is gone.

    Reads:  draft, rewritten
    Writes: sections
    """
    draft = state["draft"]
    failed = [sentence for sentence in draft.sentences if sentence.status == "unsupported"]
    kept = [sentence for sentence in draft.sentences if sentence.status != "unsupported"]
    mended = [p for p in state.get("rewritten", []) if draft.sentences[p].status == "supported"]
    if run_config.unsupported == "mark":
        return {"sections": [draft.model_copy(update={"rewritten": len(mended)})]}
    if all(sentence.status == "connective" for sentence in kept):
        kept = []
    settled = {"sentences": kept, "rejected": failed, "rewritten": len(mended)}
    return {"sections": [draft.model_copy(update=settled)]}
