"""The judge's role: show the evidence, and read rubric, gaps, rulings and outline from the answer.

Unknown keys are ignored, and high marks without evidence are capped.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import get_args

from fathom.evidence.answer_kinds import SUSPECTED_CHECKS
from fathom.llm.prompt_budget import PromptLines, list_lines
from fathom.llm.roles import answer_forms
from fathom.planning.memory import choose_relevant_claims, confidence_by_claim
from fathom.state import (
    Check,
    CheckName,
    Claim,
    Difference,
    Finding,
    Gap,
    Heading,
    Hypothesis,
    Outline,
    Page,
    Priority,
    Rejected,
    Relation,
    Rubric,
    Ruling,
    SubQuestion,
)
from fathom.state.model_io import Assessment, HypothesisEvidence, JudgeInput
from fathom.text.normalization import one_line, shorten_line
from fathom.text.ranking import terms
from fathom.text.sentences import split_sentences
from fathom.text.token_count import fit_entries
from fathom.text.tokens import has_cjk

_ORDINARY = 3
_KEY = re.compile(r"\b[EC]\d+\b")
# Keys that slip into sentences for readers: "(E16, E51)", "E33~E38은"; a single "E10" may be a fuel.
_KEY_LIST = r"E\d{1,4}(?:\s?[,·~–-]\s?E\d{1,4})"
_SLIPPED_KEYS = re.compile(
    rf"\s?[(\[]{_KEY_LIST}{{0,50}}[)\]]|\b{_KEY_LIST}{{1,50}}(?:은|는|이|가|을|를|에|의|와|과)?\s?,?\s?"
)
_MOST_CLAIMS = 120
_CLAIM_TOKENS = 10_000
_SAME_WORDS = 0.5  # a quote that shares so many of its words with its claim adds nothing
_QUOTE_CHARS, _QUOTE_CHARS_PAIRED = 220, 100  # about the same number of tokens
_TITLE_CHARS = 100
_REFUSALS = 10
_NOTHING = {"", "nothing", "none", "n/a", "no", "없음", "없다", "해당 없음", "없습니다"}
_RELATIONS: dict[str, Relation] = {"same": "same", "contradicts": "contradicts", "contradict": "contradicts"}
_DIFFERENCES: dict[str, Difference] = {"number": "number", "date": "date", "negation": "negation"}
ClaimsByKey = Mapping[str, Claim]


def key_claims(judge_input: JudgeInput) -> dict[str, Claim]:
    """Return the most relevant claims, best first, under short keys; models never see an address or hash.

    A claim has the same key in every round: it is numbered as it was found.
    """
    best = choose_relevant_claims(
        judge_input.claims,
        [q.text for q in judge_input.questions],
        confidence_by_claim(judge_input.findings),
        _MOST_CLAIMS,
    )
    numbers = {claim.id: number for number, claim in enumerate(judge_input.claims, 1)}
    keyed = {f"E{numbers[claim.id]}": claim for claim in best}
    lines = {key: f"{claim.statement} {best_quote_sentence(claim)}" for key, claim in keyed.items()}
    return {key: keyed[key] for key in fit_entries(lines, _CLAIM_TOKENS)}


def claim_lines(keyed: ClaimsByKey, judge_input: JudgeInput) -> PromptLines:
    """Return each claim with its source's key and its best quote; lines of earlier rounds stay in front.

    A claim that repeats another only names it. If not all claims are shown, the judge is informed, so that it
    takes none of them for missing.
    """
    places, firsts = _page_keys(judge_input.pages), _first_keys(keyed, judge_input.findings)
    hidden = len(judge_input.claims) - len(keyed)

    def line(key: str, claim: Claim) -> str:
        source = places.get(claim.quotes[0].page, "")
        head = f"{key} (for {', '.join(filter(None, (claim.question, source)))}): "
        if (first := firsts[claim.id]) != key:
            return f"{head}the same as {first}"
        words = best_quote_sentence(claim)
        return f"{head}{claim.statement}" + (f" “{words}”" if words else "")

    note = (
        [f"({hidden} more claims are known and not shown; their keys in the outline hold.)"] if hidden else []
    )
    lines = list_lines([*note, *(line(key, claim) for key, claim in keyed.items())], weight=4)
    return replace(lines, places=[*(0 for _ in note), *(int(key.removeprefix("E")) for key in keyed)])


def _first_keys(keyed: ClaimsByKey, findings: Sequence[Finding]) -> dict[str, str]:
    """Return the representative key of each claim: the best claim of its finding, which is cut last."""
    finding_of = {claim: finding.id for finding in findings for claim in finding.claims}
    best: dict[str, str] = {}
    for key, claim in keyed.items():
        best.setdefault(finding_of.get(claim.id, claim.id), key)
    return {claim.id: best[finding_of.get(claim.id, claim.id)] for claim in keyed.values()}


def best_quote_sentence(claim: Claim) -> str:
    """Return the quoted sentence most like the claim, shortened; "" if it repeats the claim's words."""
    said = [one.text for quote in claim.quotes for one in split_sentences(quote.text)] or [
        claim.quotes[0].text
    ]
    wanted = terms(claim.statement)
    alike = [_share_in(wanted, terms(sentence)) for sentence in said]
    best = max(range(len(said)), key=lambda place: alike[place])
    if alike[best] >= _SAME_WORDS:
        return ""
    return shorten_line(said[best], _QUOTE_CHARS_PAIRED if has_cjk(said[best]) else _QUOTE_CHARS)


def _share_in(claim: Set[str], sentence: Set[str]) -> float:
    return len(claim & sentence) / len(sentence) if sentence else 1.0


def source_lines(keyed: ClaimsByKey, pages: Sequence[Page]) -> PromptLines:
    """Return the sources of the claims, once each: title, publisher and date."""
    used = {quote.page for claim in keyed.values() for quote in claim.quotes}
    known = {page.sha: page for page in reversed(pages) if page.sha in used}
    keys = _page_keys(pages)
    return list_lines(f"{keys[sha]}: {_describe_source(known[sha])}" for sha in keys if sha in known)


def _describe_source(page: Page) -> str:
    by = [page.publisher or page.author or "", page.published[:10] if page.published else "no date"]
    return "; ".join(filter(None, [shorten_line(page.title, _TITLE_CHARS), *by]))


def _page_keys(pages: Sequence[Page]) -> dict[str, str]:
    """Return stable keys of pages, numbered in the order they were read."""
    return {page.sha: f"P{number}" for number, page in reversed(list(enumerate(pages, 1)))}


def rejected_lines(rejected: Sequence[Rejected], pages: Sequence[Page]) -> PromptLines:
    """Return refused claims by reason and page, the most frequent first."""
    keys = _page_keys(pages)
    counts: Counter[tuple[str, str]] = Counter()
    for entry in rejected:
        if not entry.section:
            counts[keys.get(entry.page, ""), entry.why] += entry.count
    frequent = counts.most_common(_REFUSALS)
    return list_lines(
        f"{count} of {page or 'a page'}: {shorten_line(why)}" for (page, why), count in frequent
    )


def check_lines(checks: Sequence[Check]) -> list[str]:
    """Return one line per check that failed by counting words."""
    return [f"{check.name}: {check.why}" for check in checks if not check.is_passed]


def hypothesis_lines(hypotheses: Sequence[Hypothesis]) -> list[str]:
    """Return one line per hypothesis, under its id, which stays from round to round."""
    return [f"{h.id}: {h.statement} (confidence {h.confidence:.2f})" for h in hypotheses]


def outline_lines(outline: Outline | None, keyed: ClaimsByKey) -> PromptLines:
    """Return the current title and parts with their ids and the shown claims."""
    if outline is None or not outline.headings:
        return list_lines([])
    keys = {claim.id: key for key, claim in keyed.items()}

    def line(part: Heading) -> str:
        rests = ", ".join(keys[claim] for claim in part.claims if claim in keys) or "no claim"
        lacks = f"; lacks: {part.lacks}" if part.lacks else ""
        kind = "; the conclusion" if part.is_conclusion else ""
        return f"{part.id} ({part.priority}{kind}) {part.title}: {part.aim}; rests on {rests}{lacks}"

    return list_lines([f"Title: {outline.title}", *map(line, outline.headings)], weight=2)


def gap_lines(gaps: Sequence[Gap]) -> list[str]:
    """Return one line per gap of the round before."""
    return [f"({gap.importance}, for {gap.question or 'all'}) {gap.description}" for gap in gaps]


def read_assessment(
    answer: answer_forms.JudgeAnswer, judge_input: JudgeInput, keyed: ClaimsByKey
) -> Assessment:
    """Return the judge's answer as records."""
    return Assessment(
        read_rubric(answer, keyed),
        read_gaps(answer.gaps, judge_input),
        rulings_of(answer.rulings, keyed),
        answer.confidence,
        read_hypothesis_evidence(answer.hypotheses, judge_input.hypotheses, keyed),
        outline=read_outline(answer, judge_input, keyed),
        failed=read_failed_checks(answer.failed_checks, judge_input.checks),
    )


def read_rubric(answer: answer_forms.JudgeAnswer, keyed: ClaimsByKey) -> Rubric:
    """Return marks from 1 to 5; above 3 only if the evidence names existing claims or quotes one."""
    marks = {n: min(5, max(1, getattr(answer, n))) for n in Rubric.model_fields if n != "evidence"}
    said = " ".join(answer.evidence.split())
    names = any(key in keyed for key in _KEY.findall(said))
    if not names and not any(claim.statement in said for claim in keyed.values()):
        marks = {name: min(_ORDINARY, mark) for name, mark in marks.items()}
    return Rubric(evidence=answer.evidence, **marks)


def read_gaps(forms: Sequence[answer_forms.GapForm], judge_input: JudgeInput) -> list[Gap]:
    """Return the gaps; "rejected" is accepted as a reason only where something was rejected."""
    known = {question.id for question in judge_input.questions}
    has_refused = any(not entry.section for entry in judge_input.rejected)
    return [
        Gap(
            description=_for_readers(form.description, judge_input.questions),
            priority=read_priority(form.priority),
            suggested_query=form.suggested_query,
            question=form.question if form.question in known else "",
            is_rejected=has_refused and form.reason.strip().lower().startswith("reject"),
        )
        for form in forms
    ]


def read_hypothesis_evidence(
    forms: Sequence[answer_forms.BearingForm], hypotheses: Sequence[Hypothesis], keyed: ClaimsByKey
) -> list[HypothesisEvidence]:
    """Return the claims for and against each hypothesis, by id."""
    known = {h.id for h in hypotheses}
    return [
        HypothesisEvidence(name, _claim_ids(form.supporting, keyed), _claim_ids(form.contradicting, keyed))
        for form in forms
        if (name := form.hypothesis.strip().strip("[]:")) in known
    ]


def rulings_of(forms: Sequence[answer_forms.RulingForm], keyed: ClaimsByKey) -> list[Ruling]:
    """Return which claims say the same or contradict each other, pair by pair; the first ruling counts."""
    found: dict[str, Ruling] = {}
    for form in forms:
        relation = _RELATIONS.get(form.relation.strip().lower())
        ids = list(dict.fromkeys(_claim_ids(form.claims, keyed)))
        for other in ids[1:] if relation else []:
            ruling = Ruling(
                claims=sorted([ids[0], other]),
                relation=relation,
                kind=_DIFFERENCES.get(form.kind.strip().lower(), "other"),
                why=one_line(form.why),
                by="model",
            )
            found.setdefault(ruling.key, ruling)
    return list(found.values())


def read_failed_checks(names: Sequence[str], checks: Sequence[Check]) -> list[CheckName]:
    """Return the suspected checks that the model confirms as failed."""
    said = {name.strip().lower() for name in names}
    return [c.name for c in checks if c.name in SUSPECTED_CHECKS and not c.is_passed and c.name in said]


def read_outline(
    answer: answer_forms.JudgeAnswer, judge_input: JudgeInput, keyed: ClaimsByKey
) -> Outline | None:
    """Return the outline of the answer, or None if it has no part.

    A part keeps its claims that the model was not shown, since it could not judge them.
    """
    shown = {claim.id for claim in keyed.values()}
    before = {part.id: part for part in judge_input.outline.headings} if judge_input.outline else {}
    headings = []
    for form in answer.parts:
        known = before.get(form.id.strip().strip("[]:"))
        unseen = [claim for claim in known.claims if claim not in shown] if known else []
        headings.append(
            Heading(
                id=known.id if known else "",
                title=form.title.strip(),
                question=form.question.strip(),
                claims=[*_claim_ids(form.claims, keyed), *unseen],
                aim=_for_readers(form.aim, judge_input.questions),
                lacks=_for_readers(_read_lack(form.lacks), judge_input.questions),
                priority=read_priority(form.priority),
                is_conclusion=form.is_conclusion,
            )
        )
    return Outline(title=answer.title.strip(), headings=headings) if headings else None


def read_priority(word: str) -> Priority:
    """Return the priority a model names, or medium if it is unknown."""
    said = word.strip().lower()
    return next((priority for priority in get_args(Priority) if priority == said), "medium")


def _read_lack(words: str) -> str:
    """Return what is missing; models say "nothing" in several ways."""
    said = words.strip()
    return "" if said.strip(" .-()").casefold() in _NOTHING else said


def _for_readers(words: str, questions: Sequence[SubQuestion]) -> str:
    """Return a sentence without keys of claims, and with sub-questions in place of their ids."""
    said = _SLIPPED_KEYS.sub("", words.strip())
    for question in questions:
        said = re.sub(
            rf"\b{question.id}(?![0-9A-Za-z-])", f"“{shorten_line(question.text, _TITLE_CHARS)}”", said
        )
    return said.strip(" ,;")


def _claim_ids(keys: Sequence[str], keyed: ClaimsByKey) -> list[str]:
    return [keyed[k].id for key in keys if (k := key.strip().strip("[]")) in keyed]
