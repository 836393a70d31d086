"""Verifier."""

from collections.abc import Sequence

from fathom.evidence.checks.derivation import Passage
from fathom.llm.prompt_budget import PromptBudget, PromptLines
from fathom.llm.roles import answer_forms
from fathom.llm.roles.writer import MAX_CLAIM_QUOTES, QUOTE_CHARS
from fathom.report.sentence_checks import CheckInput
from fathom.state import Claim, Verdict
from fathom.state.model_io import SentenceToCheck, VerificationItem
from fathom.text.token_count import shorten_line

_AROUND_CHARS = 1_200

_MAX_SENTENCE_CLAIMS = 6  # of a sentence: what a hundred sources say needs no hundred quotes to be checked


def checker_prompt(name: str, brief: CheckInput, items: Sequence[SentenceToCheck]) -> PromptBudget:
    """Sentences with their evidence for whoever checks them; a quote stands where it is needed first."""
    known = {claim.id: claim for claim in brief.claims}
    keys: dict[str, str] = {}
    shown = _ShownSources()
    parts = []
    for number, item in enumerate(items, 1):
        own = [c for c in dict.fromkeys(item.claims) if c in known][:_MAX_SENTENCE_CLAIMS]
        new = [c for c in own if c not in keys]
        keys |= {c: f"E{len(keys) + n}" for n, c in enumerate(new, 1)}
        lines = [f"Sentence {number} ({item.kind}): {item.statement}"]
        lines += [f"  rests on: {shorten_line(text)}" for text in item.rests_on]
        lines += [f"  calculation: {item.calculation}"] if item.calculation else []
        lines += [f"  look at: {note}" for note in item.suspicions]
        if before := [keys[c] for c in own if c not in new]:
            lines.append(f"  evidence above: {', '.join(before)}")
        for claim in new:
            source = shown.name(known[claim], brief.passages.get(claim))
            lines += [
                f"  {keys[claim]}{source}: {_shorten_quote(q.text)}"
                for q in known[claim].quotes[:MAX_CLAIM_QUOTES]
            ]
        if _needs_context(item):
            passages = [(known[c], brief.passages[c]) for c in own if c in brief.passages]
            lines += [line for claim, passage in passages for line in shown.around(claim, passage)]
        parts.append("\n".join(lines))
    return PromptBudget(name, {}, {"sentences": PromptLines(parts, between="\n\n")}, batched="sentences")


def _needs_context(item: SentenceToCheck) -> bool:
    return bool(item.suspicions) or item.kind == "inference"


class _ShownSources:
    """What a checker was shown of each source already: its name once, and no passage twice."""

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}
        self._texts: dict[str, str] = {}

    def name(self, claim: Claim, passage: Passage | None) -> str:
        """Return where a quote is from, with title, date and headings when the source comes first."""
        page = claim.quotes[0].page
        is_new = page not in self._keys
        key = self._keys.setdefault(page, f"S{len(self._keys) + 1}")
        if passage is None or not is_new:
            return f" [{key}]"
        about = "; ".join(w for w in (passage.title, passage.date, *passage.headings.splitlines()) if w)
        return f" [{key}: {shorten_line(about)}]" if about else f" [{key}]"

    def around(self, claim: Claim, passage: Passage) -> list[str]:
        """Return the paragraphs around a claim's quotes that were not shown yet."""
        page = claim.quotes[0].page
        known = self._texts.get(page, "")
        fresh = [line for line in passage.around.splitlines() if line.strip() and line.strip() not in known]
        text = shorten_line(" ".join(fresh), _AROUND_CHARS)
        if not text:
            return []
        self._texts[page] = f"{known}\n{passage.around}"
        return [f"  around it in {self._keys.get(page, 'its source')}: {text}"]


def _shorten_quote(text: str) -> str:
    return shorten_line(text, QUOTE_CHARS)


def describe_evidence(items: Sequence[VerificationItem]) -> list[str]:
    """Return the items, numbered; the first of each source with the source above it."""
    sources: dict[str, int] = {}
    parts = []
    for number, item in enumerate(items, 1):
        head = ""
        if item.context not in sources:
            sources[item.context] = len(sources) + 1
            head = f"Source {sources[item.context]}:\n{item.context}\n\n"
        lines = [f"Item {number} (source {sources[item.context]})", f"Statement: {item.statement}"]
        lines += [f"Quote: {quote}" for quote in item.quote.split("\n")]
        lines += [f"Resolved: {item.resolved}"] if item.resolved else []
        lines += [f"Check: {note}" for note in item.notes]
        parts.append(head + "\n".join(lines))
    return parts


def read_verdict(form: answer_forms.VerdictForm | None) -> Verdict:
    """The verdict on one item; an item the model left out is not verified."""
    if form is None:
        return Verdict(
            is_explicit=False, is_same_scope=False, is_not_overstated=False, score=0.0, reason="not verified"
        )
    is_sound = form.is_explicit and form.is_same_scope and form.is_not_overstated
    score = min(1.0, max(0.0, form.score))
    return Verdict(
        is_explicit=form.is_explicit,
        is_same_scope=form.is_same_scope,
        is_not_overstated=form.is_not_overstated,
        score=score if is_sound else min(score, 0.6),
        reason=form.reason,
    )
