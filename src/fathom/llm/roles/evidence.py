"""The roles of reader, verifier, checker and refuter: show pages and statements, read claims and verdicts."""

from collections.abc import Sequence
from dataclasses import replace

from fathom.evidence.checks.derivation import Passage
from fathom.llm.prompt_budget import PromptBudget, PromptLines
from fathom.llm.roles import answer_forms
from fathom.llm.roles.writer import MAX_CLAIM_QUOTES, QUOTE_CHARS, show_surroundings
from fathom.report.sentence_checks import CheckInput
from fathom.state import Claim, Verdict
from fathom.state.model_io import (
    ExtractedStatement,
    Objection,
    PageFacts,
    RefusedClaim,
    SentenceToCheck,
    VerificationItem,
)
from fathom.text.normalization import one_line, shorten_line
from fathom.text.tokens import has_cjk

_TITLE_CHARS = 300
_MOST_CLAIMS = 25
_MAX_SENTENCE_CLAIMS = 16  # per sentence; one of a summary rests on several others


def describe_page(title: str, facts: PageFacts) -> str:
    """Return what a reader sees of a page besides its text."""
    about = {
        "Title": shorten_line(title, _TITLE_CHARS),
        "Publisher": facts.publisher,
        "Author": shorten_line(facts.author, _TITLE_CHARS),
        "Published": facts.published or ("not known" if facts.today else ""),
        "Today": facts.today,
    }
    return "\n".join(f"{name}: {value}" for name, value in about.items() if value)


def describe_refusals(items: Sequence[RefusedClaim]) -> list[str]:
    """Return refused claims, numbered, each with its passage; equal passages are shown once."""
    shown: dict[str, int] = {}
    parts = []
    for number, item in enumerate(items, 1):
        passage = item.context
        if passage in shown:
            passage = f"as for item {shown[passage]}"
        else:
            shown[passage] = number
        quotes = [f"Quote: {quote}" for quote in item.quote.split("\n") if quote]
        lines = [f"Item {number}", f"Statement: {item.statement}", *quotes, f"Refused: {item.reason}"]
        parts.append("\n".join([*lines, f"Passage: {passage}"]))
    return parts


def read_statements(form: answer_forms.ReadAnswer) -> list[ExtractedStatement]:
    """Return a reader's claims, then its paraphrases and falsehoods; unknown numbers are ignored."""
    claims = [_statement(claim, claim.question, claim.relevance) for claim in form.claims[:_MOST_CLAIMS]]
    known = dict(enumerate((replace(claim, resolved="") for claim in claims), 1))
    true = [
        replace(known[one.claim], statement=one.statement, kind="paraphrase")
        for one in form.paraphrases
        if one.claim in known
    ]
    false = [
        replace(
            known[one.claim],
            statement=one.statement,
            kind="falsehood",
            original=one.original,
            changed=one.changed,
        )
        for one in form.falsehoods
        if one.claim in known
    ]
    return [*claims, *true, *false]


def read_restatement(form: answer_forms.RestatedForm) -> ExtractedStatement:
    """Return a restated claim under the sub-question of the refused one."""
    return _statement(form, "", 0.0)


def _statement(
    form: answer_forms.ClaimForm | answer_forms.RestatedForm, question: str, relevance: float
) -> ExtractedStatement:
    first, *others = form.quotes or [""]
    return ExtractedStatement(form.statement, first, question, relevance, tuple(others), form.resolved)


def checker_prompt(
    name: str, brief: CheckInput, items: Sequence[SentenceToCheck], **fixed: str
) -> PromptBudget:
    """Build a prompt of sentences with their evidence; each quote is shown where it is first needed."""
    known = {claim.id: claim for claim in brief.claims}
    keys: dict[str, str] = {}
    shown = _ShownSources(brief.claims)
    bases: dict[tuple[str, ...], int] = {}
    parts = []
    for number, item in enumerate(items, 1):
        own = [c for c in dict.fromkeys(item.claims) if c in known][:_MAX_SENTENCE_CLAIMS]
        new = [c for c in own if c not in keys]
        keys |= {c: f"E{len(keys) + n}" for n, c in enumerate(new, 1)}
        lines = [f"Sentence {number} ({item.kind}): {item.statement}"]
        first = bases.setdefault(tuple(item.rests_on), number)
        lines += [f"  rests on: {shorten_line(text)}" for text in item.rests_on if first == number]
        lines += [f"  rests on: the same as sentence {first}"] if item.rests_on and first != number else []
        lines += [f"  calculation: {item.calculation}"] if item.calculation else []
        lines += [f"  known to be missing: {limit}" for limit in item.limits]
        lines += (
            [f"  nowhere in the full text of its sources: {', '.join(item.nowhere)}"] if item.nowhere else []
        )
        if before := [keys[c] for c in own if c not in new]:
            lines.append(f"  evidence above: {', '.join(before)}")
        for claim in new:
            source = shown.name(known[claim], brief.passages.get(claim))
            quotes = " / ".join(
                shorten_line(q.text, QUOTE_CHARS) for q in known[claim].quotes[:MAX_CLAIM_QUOTES]
            )
            lines.append(f"  {keys[claim]}{source}: {quotes}")
            if _is_read_otherwise(known[claim]):
                lines.append(f"    read as: {known[claim].statement}")
            if passage := brief.passages.get(claim):
                lines += shown.around(known[claim], passage)
        parts.append("\n".join(lines))
    return PromptBudget(name, fixed, {"sentences": PromptLines(parts, between="\n\n")}, batched="sentences")


def read_objections(form: answer_forms.CheckAnswer) -> list[Objection]:
    """Return the sentences that fail, and the inferences that are facts, by number."""
    failed = [Objection(one.sentence, one.why) for one in form.objections]
    return [*failed, *(Objection(number, "", is_stated=True) for number in form.stated)]


def read_refutations(form: answer_forms.RefuteAnswer) -> list[Objection]:
    """Return the conclusions that fail, by number, with what can be said in their place."""
    return [Objection(one.sentence, one.why, instead=one_line(one.instead)) for one in form.objections]


def _is_read_otherwise(claim: Claim) -> bool:
    """Tell whether a claim adds to its quotes: a resolved date or name, or another language."""
    quoted = " ".join(quote.text for quote in claim.quotes)
    return bool(claim.resolved) or has_cjk(claim.statement) != has_cjk(quoted)


class _ShownSources:
    """What a checker was already shown of each source: its name once, no passage twice."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        self._keys: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._quotes = sorted({one_line(q.text) for c in claims for q in c.quotes}, key=len, reverse=True)

    def name(self, claim: Claim, passage: Passage | None) -> str:
        """Return the source of a quote, with title and date at its first use."""
        page = claim.quotes[0].page
        is_new = page not in self._keys
        key = self._keys.setdefault(page, f"S{len(self._keys) + 1}")
        if passage is None or not is_new:
            return f" [{key}]"
        about = "; ".join(w for w in (passage.title, passage.date) if w)
        return f" [{key}: {shorten_line(about)}]" if about else f" [{key}]"

    def around(self, claim: Claim, passage: Passage) -> list[str]:
        """Return the text right before and after a claim's quotes, unless shown before.

        Quotes of other claims are left out: they stand with these.
        """
        page = claim.quotes[0].page
        known = self._texts.get(page, "")
        fresh = [cut for cut in show_surroundings(claim, passage, self._quotes) if cut not in known]
        self._texts[page] = "\n".join([known, *fresh])
        return [f"    around it: {cut}" for cut in fresh if any(map(str.isalnum, cut))]


def describe_evidence(items: Sequence[VerificationItem]) -> list[str]:
    """Return the items, numbered; each source is shown above its first item."""
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
    """Return the verdict on one item; an item the model left out is not verified."""
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
