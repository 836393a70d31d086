"""The check: what each sentence of a chapter stands on, by code and then by the model."""

from fathom.evidence.context import page_texts, passages_of
from fathom.llm.checking import Checked, check_with_controls
from fathom.llm.port import CheckBrief, ResearchModel
from fathom.nodes.ports import Pages
from fathom.report.drafts import check_by_code, check_item, is_settled, refuse_sentence, strict_fault
from fathom.report.placing import flatten_drafts, order_drafts, put_back
from fathom.state import Chapter


async def check(state: Chapter, *, model: ResearchModel, pages: Pages) -> Chapter:
    """Check every sentence in code, then all of them by the model in one call; after a rewrite what is new.

    Where the checker fails its controls, the strict rules decide. A sentence that is its quote word for word
    needs no model, and no objection holds against it.

    Reads:  drafts, headings, rewritten, claims, pages
    Writes: drafts, control_tallies, failures, costs
    """
    claims = {claim.id: claim for claim in state["claims"]}
    drafts = order_drafts(state["drafts"], state["headings"])
    evidence = await passages_of(state["claims"], state.get("pages", []), pages.get)
    sentences = flatten_drafts(drafts)
    places = state.get("rewritten", range(len(sentences)))
    for place in places:
        draft, sentence = sentences[place]
        sentences[place] = draft, check_by_code(sentence, claims, evidence)
    doubtful = [p for p in places if not is_settled(sentences[p][1], sentences[p][0], claims)]
    items = [check_item(sentences[p][1], sentences[p][0], claims, evidence) for p in doubtful]
    brief = CheckBrief(items, state["claims"], evidence)
    texts = await page_texts(state["claims"], pages.get)
    checked = await check_with_controls(model.check, brief, texts) if items else Checked({})
    for number, place in enumerate(doubtful):
        draft, sentence = sentences[place]
        why = checked.objections.get(number, "")
        if not why and not checked.is_trusted:
            why = strict_fault(sentence, claims)
        if why:
            sentences[place] = draft, refuse_sentence(sentence, "meaning", why)
    return {
        "drafts": put_back(drafts, [sentence for _, sentence in sentences]),
        "control_tallies": checked.tallies,
        "failures": checked.failures,
        "costs": checked.costs,
    }
