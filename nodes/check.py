"""Check node: test whether the evidence supports each sentence and each title of a chapter."""

from collections.abc import Collection, Mapping, Sequence

from fathom.evidence.controls import TrustLog
from fathom.evidence.grounding import load_page_texts, load_passages
from fathom.llm.protocol import ResearchModel
from fathom.nodes.ports import PagesPort
from fathom.report.drafting import (
    call_stated,
    check_by_code,
    check_item,
    find_doubtful_titles,
    flatten_drafts,
    needs_no_check,
    order_drafts,
    refuse_sentence,
    replace_sentences,
    replace_titles,
    strict_fault,
)
from fathom.report.sentence_checks import CheckInput, SentenceChecks, check_with_controls
from fathom.state import Chapter, RunConfig, Section
from fathom.state.model_io import SentenceToCheck
from fathom.text.messages import messages_for


async def check(
    state: Chapter, *, model: ResearchModel, pages: PagesPort, run_config: RunConfig, trust: TrustLog
) -> Chapter:
    """Check every sentence in code, then the doubtful ones by the model in one call.

    After a rewrite only the rewritten sentences are checked. If the model fails its control questions, the
    strict rules decide instead. A sentence that repeats its quote word for word needs no model check, and of
    titles only one that may say what no claim says.

    Reads:  question, drafts, headings, rewritten, claims, pages
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
    titles = {} if "rewritten" in state else _doubtful_titles(drafts, state)
    items += titles.values()
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
    whole = replace_sentences(drafts, [sentence for _, sentence in sentences])
    refused = {
        title
        for n, title in enumerate(titles, len(doubtful))
        if n in checked.objections or not checked.is_trusted
    }
    return {
        "drafts": _without_titles(whole, refused, state["question"], run_config),
        "control_tallies": checked.tallies,
        "failures": checked.failures,
        "costs": checked.costs,
    }


def _doubtful_titles(drafts: Sequence[Section], state: Chapter) -> Mapping[str, SentenceToCheck]:
    """Return the titles of parts, blocks and tables that a checker has to look at, each once."""
    found: dict[str, SentenceToCheck] = {}
    for draft in drafts:
        own = list(dict.fromkeys(c for sentence in draft.sentences for c in sentence.claims))
        for title in find_doubtful_titles(draft, state["question"], state["claims"]):
            found.setdefault(title, SentenceToCheck(title, "title", own))
    return found


def _without_titles(
    drafts: Sequence[Section], refused: Collection[str], question: str, run_config: RunConfig
) -> list[Section]:
    stand_in = messages_for(question, run_config.language)("report.part")
    return [replace_titles(draft, refused, stand_in) if refused else draft for draft in drafts]
