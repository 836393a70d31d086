"""Confirm node: check what the edit changed and try to refute the main conclusions."""

import asyncio
from dataclasses import replace

from fathom.evidence.context import load_page_texts, load_passages
from fathom.evidence.controls import TrustLog
from fathom.llm.protocol import ResearchModel
from fathom.nodes.ports import PagesPort
from fathom.report.drafting import ClaimsById, check_item, refuse_sentence, strict_fault
from fathom.report.editing import (
    EditCandidate,
    apply_edit,
    choose_summary,
    choose_title,
    main_conclusions,
    make_candidates,
    make_summary,
    order_sections,
    without_refuted,
)
from fathom.report.sentence_checks import CheckInput, SentenceChecks, check_with_controls
from fathom.state import RunConfig, Section, Writing


async def confirm(
    state: Writing, *, model: ResearchModel, pages: PagesPort, run_config: RunConfig, trust: TrustLog
) -> Writing:
    """Check the edited sentences and try to refute the main conclusions, concurrently.

    A change that fails is reverted to the checked text. A summary sentence that fails is replaced by one it
    rests on. A refuted conclusion is treated as unsupported.

    Reads:  question, outline, sections, edit, claims, pages
    Writes: outline, sections, control_tallies, failures, costs
    """
    claims = {claim.id: claim for claim in state["claims"]}
    sections = order_sections(state["outline"], state.get("sections", []))
    cited = {c for section in sections for sentence in section.sentences for c in sentence.claims}
    used = [claim for claim in state["claims"] if claim.id in cited]
    evidence = await load_passages(used, state.get("pages", []), pages.get)
    candidates = make_candidates(state["edit"], sections, claims, evidence)
    doubtful = [one for one in candidates if one.needs_check(claims)]
    conclusions = main_conclusions(candidates, sections)
    texts = await load_page_texts(used, pages.get)
    new = CheckInput([one.item(evidence) for one in doubtful], used, evidence)
    bases = {one.sentence.text: [base.text for base in one.rests_on] for one in candidates}
    main = [
        replace(check_item(sentence, section, evidence), rests_on=bases.get(sentence.text, []))
        for section, sentence in conclusions
    ]
    checked, refuted = await asyncio.gather(
        check_with_controls(model.check, new, texts, trust),
        check_with_controls(model.refute, CheckInput(main, used, evidence), texts, trust, "refuter"),
    )
    against = {conclusions[n][1].text: why for n, why in refuted.objections.items()}
    failed = [one for n, one in enumerate(doubtful) if _is_refused(n, one, checked, claims)]
    failed += [one for one in candidates if one.sentence.status == "unsupported"]
    accepted = [one for one in without_refuted(candidates, against) if one not in failed]
    edited = [
        _remove_refuted(section, against, run_config)
        for section in apply_edit(state["edit"], sections, accepted)
    ]
    summed = [one for one in choose_summary(candidates, accepted) if one.text not in against]
    summary = make_summary(summed, edited, state["question"], run_config.language)
    title = choose_title(state["edit"], state["outline"], state["question"], used)
    return {
        "outline": state["outline"].model_copy(update={"title": title}),
        "sections": [*([summary] if summary else []), *edited],
        "control_tallies": [*checked.tallies, *refuted.tallies],
        "failures": [*checked.failures, *refuted.failures],
        "costs": [*checked.costs, *refuted.costs],
    }


def _is_refused(number: int, one: EditCandidate, checked: SentenceChecks, claims: ClaimsById) -> bool:
    """Tell whether the checker objects, or is not trusted and the strict rules object."""
    if number in checked.objections:
        return True
    return not checked.is_trusted and bool(strict_fault(one.sentence, claims))


def _remove_refuted(section: Section, against: dict[str, str], run_config: RunConfig) -> Section:
    """Remove refuted conclusions from the section, or mark them."""
    refused = {
        text: refuse_sentence(s, "meaning", against[text])
        for s in section.sentences
        if (text := s.text) in against and s.kind == "inference"
    }
    if not refused:
        return section
    if run_config.unsupported == "mark":
        marked = [refused.get(s.text, s) for s in section.sentences]
        return section.model_copy(update={"sentences": marked})
    kept = [s for s in section.sentences if s.text not in refused]
    if not any(s.status == "supported" for s in kept):
        kept = []
    gone = [*section.rejected, *refused.values()]
    return section.model_copy(update={"sentences": kept, "rejected": gone})
