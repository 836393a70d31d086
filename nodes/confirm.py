"""Confirm node: check what the edit changed and try to refute the main conclusions."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fathom.evidence.controls import TrustLog
from fathom.evidence.grounding import load_page_texts, load_passages
from fathom.llm.protocol import ResearchModel
from fathom.nodes.ports import PagesPort
from fathom.report.drafting import (
    ClaimsById,
    PassagesByClaim,
    check_by_code,
    check_item,
    redraft_sentence,
    refuse_sentence,
    strict_fault,
)
from fathom.report.editing import (
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
from fathom.state import Claim, RunConfig, Section, Sentence, Writing
from fathom.state.model_io import SentenceToCheck


async def confirm(
    state: Writing, *, model: ResearchModel, pages: PagesPort, run_config: RunConfig, trust: TrustLog
) -> Writing:
    """Check the edited sentences and try to refute the main conclusions, concurrently.

    A change that fails is reverted to the checked text. A summary sentence that fails is replaced by one it
    rests on. A refuted conclusion gives way to what the refuter says can be said instead, if that holds when
    it is checked; else it is treated as unsupported.

    Reads:  question, outline, sections, edit, claims, pages
    Writes: outline, sections, control_tallies, failures, costs
    """
    claims = {claim.id: claim for claim in state["claims"]}
    sections = order_sections(state["outline"], state.get("sections", []))
    cited = {c for section in sections for sentence in section.sentences for c in sentence.claims}
    used = [claim for claim in state["claims"] if claim.id in cited]
    evidence = await load_passages(used, state.get("pages", []), pages.get)
    check = _Checker(model, trust, used, evidence, await load_page_texts(used, pages.get))
    candidates = make_candidates(state["edit"], sections, claims, evidence)
    doubtful = [one for one in candidates if one.needs_check(claims)]
    conclusions = main_conclusions(candidates, sections)
    bases = {one.sentence.text: one.grounds for one in candidates}
    main = [
        replace(check_item(sentence, section, evidence), rests_on=bases.get(sentence.text, []))
        for section, sentence in conclusions
    ]
    title, is_doubtful = choose_title(state["edit"], state["outline"], state["question"], used)
    items = [one.item(evidence) for one in doubtful]
    items += [SentenceToCheck(title, "title", [claim.id for claim in used])] if is_doubtful else []
    checked, refuted = await asyncio.gather(check.check(items), check.refute(main))
    if is_doubtful and (len(doubtful) in checked.objections or not checked.is_trusted):
        title = state["outline"].title
    against = {conclusions[n][1].text: why for n, why in refuted.objections.items()}
    failed = [one for n, one in enumerate(doubtful) if _is_refused(n, one.sentence, checked, claims)] + [
        one for one in candidates if one.sentence.status == "unsupported"
    ]
    weaker, rechecked = await _weaken(conclusions, refuted, check, bases)
    accepted = [one for one in without_refuted(candidates, against, failed) if one not in failed]
    accepted += [replace(one, sentence=weaker[t]) for one in candidates if (t := one.sentence.text) in weaker]
    edited = [
        _replace_refuted(section, against, weaker, run_config)
        for section in apply_edit(state["edit"], sections, accepted)
    ]
    summed = [one for one in choose_summary(candidates, accepted) if one.text not in against]
    summary = make_summary(summed, edited, state["question"], run_config.language)
    calls = [checked, refuted, rechecked]
    return {
        "outline": state["outline"].model_copy(update={"title": title}),
        "sections": [*([summary] if summary else []), *edited],
        "control_tallies": [tally for call in calls for tally in call.tallies],
        "failures": [failure for call in calls for failure in call.failures],
        "costs": [cost for call in calls for cost in call.costs],
    }


@dataclass(frozen=True)
class _Checker:
    """Asks the model about sentences, with control items among them."""

    model: ResearchModel
    trust: TrustLog
    claims: Sequence[Claim]
    evidence: PassagesByClaim
    texts: Mapping[str, str]

    async def check(self, items: Sequence[SentenceToCheck]) -> SentenceChecks:
        brief = CheckInput(items, self.claims, self.evidence)
        return await check_with_controls(self.model.check, brief, self.texts, self.trust)

    async def refute(self, items: Sequence[SentenceToCheck]) -> SentenceChecks:
        brief = CheckInput(items, self.claims, self.evidence)
        return await check_with_controls(self.model.refute, brief, self.texts, self.trust, "refuter")


async def _weaken(
    conclusions: Sequence[tuple[Section, Sentence]],
    refuted: SentenceChecks,
    check: _Checker,
    bases: Mapping[str, Sequence[str]],
) -> tuple[dict[str, Sentence], SentenceChecks]:
    """Return what can be said in place of refuted conclusions, by their text, as far as it holds."""
    claims = {claim.id: claim for claim in check.claims}
    offered: list[tuple[str, Section, Sentence]] = []
    for number in sorted(refuted.instead.keys() & refuted.objections.keys()):
        section, old = conclusions[number]
        text = {"text": refuted.instead[number]}
        anew = check_by_code(redraft_sentence(old.model_copy(update=text), claims), claims, check.evidence)
        if anew.status == "supported" and anew.text != old.text:
            offered.append((old.text, section, anew))
    items = [
        replace(check_item(anew, section, check.evidence), rests_on=bases.get(old, []))
        for old, section, anew in offered
    ]
    checked = await check.check(items)
    return {
        old: anew for n, (old, _, anew) in enumerate(offered) if not _is_refused(n, anew, checked, claims)
    }, checked


def _is_refused(number: int, sentence: Sentence, checked: SentenceChecks, claims: ClaimsById) -> bool:
    """Tell whether the checker objects, or is not trusted and the strict rules object."""
    if number in checked.objections:
        return True
    return not checked.is_trusted and bool(strict_fault(sentence, claims))


def _replace_refuted(
    section: Section, against: Mapping[str, str], weaker: Mapping[str, Sentence], run_config: RunConfig
) -> Section:
    """Replace refuted conclusions of the section by what holds; remove or mark the others."""
    hit = {id(s): s for s in section.sentences if s.text in against and s.kind == "inference"}
    if not hit:
        return section
    is_marked = run_config.unsupported == "mark"
    gone = {t: refuse_sentence(s, "meaning", against[t]) for s in hit.values() if (t := s.text) not in weaker}
    stand_ins = {**weaker, **(gone if is_marked else {})}
    kept = [stand_ins.get(s.text) if id(s) in hit else s for s in section.sentences]
    told = [s for s in kept if s is not None]
    rejected = section.rejected if is_marked else [*section.rejected, *gone.values()]
    is_whole = any(s.status == "supported" for s in told)
    return section.model_copy(update={"sentences": told if is_whole else [], "rejected": rejected})
