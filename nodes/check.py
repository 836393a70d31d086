"""Check node: test whether the evidence supports each sentence of a chapter."""

from fathom.evidence.context import load_page_texts, load_passages
from fathom.evidence.controls import TrustLog
from fathom.llm.protocol import ResearchModel
from fathom.nodes.ports import PagesPort
from fathom.report.drafting import (
    call_stated,
    check_by_code,
    check_item,
    flatten_drafts,
    needs_no_check,
    order_drafts,
    refuse_sentence,
    replace_sentences,
    strict_fault,
)
from fathom.report.sentence_checks import CheckInput, SentenceChecks, check_with_controls
from fathom.state import Chapter


async def check(state: Chapter, *, model: ResearchModel, pages: PagesPort, trust: TrustLog) -> Chapter:
    """Check every sentence in code, then the doubtful ones by the model in one call.

    After a rewrite only the rewritten sentences are checked. If the model fails its control questions, the
    strict rules decide instead. A sentence that repeats its quote word for word needs no model check.

    Reads:  drafts, headings, rewritten, claims, pages
    Writes: drafts, control_tallies, failures, costs
    """
    claims = {claim.id: claim for claim in state["claims"]}
    drafts = order_drafts(state["drafts"], state["headings"])
    evidence = await load_passages(state["claims"], state.get("pages", []), pages.get)
    sentences = flatten_drafts(drafts)
    places = state.get("rewritten", range(len(sentences)))
    for place in places:
        draft, sentence = sentences[place]
        sentences[place] = draft, check_by_code(sentence, claims, evidence)
    doubtful = [p for p in places if not needs_no_check(sentences[p][1], sentences[p][0], claims)]
    items = [check_item(sentences[p][1], sentences[p][0], evidence) for p in doubtful]
    brief = CheckInput(items, state["claims"], evidence)
    texts = await load_page_texts(state["claims"], pages.get)
    checked = await check_with_controls(model.check, brief, texts, trust) if items else SentenceChecks({})
    for number, place in enumerate(doubtful):
        draft, sentence = sentences[place]
        why = checked.objections.get(number, "")
        if not why and not checked.is_trusted:
            why = strict_fault(sentence, claims)
        if why:
            sentences[place] = draft, refuse_sentence(sentence, "meaning", why)
        elif number in checked.stated and checked.is_trusted:
            sentences[place] = draft, call_stated(sentence, claims, evidence)
    return {
        "drafts": replace_sentences(drafts, [sentence for _, sentence in sentences]),
        "control_tallies": checked.tallies,
        "failures": checked.failures,
        "costs": checked.costs,
    }
