"""Settle node: decide what happens to sentences that still fail."""

from collections.abc import Sequence

from fathom.report.drafting import order_drafts
from fathom.state import Chapter, RunConfig, Section, Sentence


async def settle(state: Chapter, *, run_config: RunConfig) -> Chapter:
    """Drop or mark unsupported sentences; drop a section without supported ones.

    Reads:  drafts, headings, rewritten
    Writes: sections
    """
    rewritten = set(state.get("rewritten", []))
    settled: list[Section] = []
    place = 0
    for draft in order_drafts(state["drafts"], state["headings"]):
        own = range(place, place + len(draft.sentences))
        place = own.stop
        mended = [n for n in own if n in rewritten and draft.sentences[n - own.start].status == "supported"]
        whole = draft.model_copy(update={"rewritten": len(mended)})
        settled.append(whole if run_config.unsupported == "mark" else _drop_failed(whole))
    return {"sections": settled}


def _drop_failed(draft: Section) -> Section:
    failed = [sentence for sentence in draft.sentences if sentence.status == "unsupported"]
    kept = _drop_empty_rows([s for s in draft.sentences if s.status != "unsupported"])
    if all(sentence.status == "connective" for sentence in kept):
        kept = []
    return draft.model_copy(update={"sentences": kept, "rejected": failed})


def _drop_empty_rows(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Drop table rows with nothing but their name."""
    supported = {(s.block, s.row) for s in sentences if s.row is not None and s.status == "supported"}
    return [s for s in sentences if s.row is None or (s.block, s.row) in supported]
