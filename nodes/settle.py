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
    whole = draft.model_copy(update={"sentences": _tidy_tables(draft.sentences), "rejected": failed})
    whole = _drop_empty_columns(whole)
    if all(sentence.status == "connective" for sentence in whole.sentences):
        return whole.model_copy(update={"sentences": []})
    return whole


def _tidy_tables(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Drop failed sentences, and rows with nothing but their name; a failed cell becomes a dash."""
    rows = {(s.block, s.row) for s in sentences if s.row is not None and s.status == "supported"}
    kept = []
    for sentence in sentences:
        is_failed = sentence.status == "unsupported"
        if sentence.row is None:
            kept += [] if is_failed else [sentence]
        elif (sentence.block, sentence.row) in rows:
            kept.append(_NO_VALUE.model_copy(update=_place(sentence)) if is_failed else sentence)
    return kept


_NO_VALUE = Sentence(text="–", claims=[], status="connective", kind="link")


def _place(cell: Sentence) -> dict[str, int | None]:
    return {"block": cell.block, "row": cell.row, "column": cell.column}


def _drop_empty_columns(section: Section) -> Section:
    """Drop the columns of tables in which no cell is supported; the first names the rows."""
    blocks, sentences = list(section.blocks), section.sentences
    for number, block in enumerate(section.blocks):
        own = [s for s in sentences if s.block == number and s.row is not None]
        full = {s.column for s in own if s.status == "supported"} | {0}
        columns = sorted({s.column or 0 for s in own} & full)
        if not own or len(columns) == len({s.column for s in own}):
            continue
        places = {column: place for place, column in enumerate(columns)}
        names = [name for column, name in enumerate(block.columns) if column in places]
        blocks[number] = block.model_copy(update={"columns": names})
        sentences = [
            s if s not in own else s.model_copy(update={"column": places[s.column or 0]})
            for s in sentences
            if s not in own or (s.column or 0) in places
        ]
    return section.model_copy(update={"blocks": blocks, "sentences": sentences})
