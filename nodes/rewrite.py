"""Rewrite node: one more try for the sentences that failed."""

from collections.abc import Sequence

from fathom.evidence.corroboration import make_points
from fathom.llm.protocol import ResearchModel
from fathom.nodes.ports import PagesPort
from fathom.report.drafting import (
    flatten_drafts,
    order_drafts,
    redraft_sentence,
    replace_sentences,
    source_texts,
)
from fathom.state import Chapter, Heading, Section, Sentence
from fathom.state.model_io import RewriteInput
from fathom.text.normalization import one_line


async def rewrite(state: Chapter, *, model: ResearchModel, pages: PagesPort) -> Chapter:
    """Rewrite all failed sentences of a chapter in one call. The new ones are checked afterwards.

    A sentence that comes back empty, or equal to another one of the chapter, stays failed.

    Reads:  question, headings, claims, findings, pages, limits, drafts
    Writes: drafts, rewritten, failures, costs
    """
    claims = {claim.id: claim for claim in state["claims"]}
    drafts = order_drafts(state["drafts"], state["headings"])
    sentences = [sentence for _, sentence in flatten_drafts(drafts)]
    failed = [place for place, sentence in enumerate(sentences) if sentence.status == "unsupported"]
    used = {c for place in failed for c in _claims_near(sentences, place)}
    cited = [claim for claim in state["claims"] if claim.id in used]
    written_from = {
        c for draft in drafts if _needs_other_claims(draft) for c in _claims_of(draft, state["headings"])
    }
    revision = RewriteInput(
        state["question"],
        [sentences[place] for place in failed],
        make_points(state["claims"], state.get("findings", [])),
        await source_texts(cited, state.get("pages", []), pages.get),
        state.get("limits", []),
        frozenset(used | written_from),
        [_neighbours(sentences, place) for place in failed],
    )
    result = await model.rewrite(revision)
    said = {one_line(sentence.text) for sentence in sentences if sentence.row is None}
    rewritten: list[int] = []
    for place, anew in zip(failed, result.value, strict=False):
        old = sentences[place]
        where = {"block": old.block, "row": old.row, "column": old.column}
        sentence = redraft_sentence(anew.model_copy(update=where), claims)
        is_cell = sentence.row is not None
        is_new = len(sentence.text) <= _cell_chars(old.text) if is_cell else sentence.text not in said
        if sentence.text and sentence.status != "connective" and is_new:
            said.add(sentence.text)
            sentences[place] = sentence
            rewritten.append(place)
    return {
        "drafts": replace_sentences(drafts, sentences),
        "rewritten": rewritten,
        "failures": result.failures,
        "costs": result.costs,
    }


def _claims_near(sentences: Sequence[Sentence], place: int) -> list[str]:
    """Return the claims of a sentence and of those beside it, of which one may say what it lacks."""
    return [c for sentence in sentences[max(0, place - 1) : place + 2] for c in sentence.claims]


def _neighbours(sentences: Sequence[Sentence], place: int) -> tuple[str, str]:
    """Return the texts before and after a sentence of running text in its block."""
    own = sentences[place]
    near = [sentences[n] if 0 <= n < len(sentences) else None for n in (place - 1, place + 1)]
    before, after = (
        one.text if one and own.row is None and one.row is None and one.block == own.block else ""
        for one in near
    )
    return before, after


def _needs_other_claims(draft: Section) -> bool:
    """Tell whether a failed sentence has no claims, or a figure that its own do not give."""
    return any(s.status == "unsupported" and (not s.claims or s.fault == "facts") for s in draft.sentences)


def _claims_of(draft: Section, headings: Sequence[Heading]) -> list[str]:
    return next((heading.claims for heading in headings if heading.id == draft.id), [])


def _cell_chars(text: str) -> int:
    """Return the most characters of a table cell: a whole sentence would break the table."""
    return 2 * len(text) + 20
