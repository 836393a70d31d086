"""How sources, and statements drawn from them, are shown to models; and what their answers mean.

Does not know servers or prompts' words.
"""

from collections.abc import Sequence

from fathom.llm.answers import ReadAnswer, RestatedForm
from fathom.llm.port import Draft, Evidence, PageFacts, Refusal
from fathom.text.fitting import shortened

_TITLE_CHARS = 300
_MOST_CLAIMS = 25


def describe_page(title: str, facts: PageFacts) -> str:
    """Return what a reader is told of a page beside its text."""
    about = {
        "Title": shortened(title, _TITLE_CHARS),
        "Publisher": facts.publisher,
        "Author": shortened(facts.author, _TITLE_CHARS),
        "Published": facts.published or ("not known" if facts.today else ""),
        "Today": facts.today,
    }
    return "\n".join(f"{name}: {value}" for name, value in about.items() if value)


def describe_evidence(items: Sequence[Evidence]) -> list[str]:
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


def describe_refusals(items: Sequence[Refusal]) -> list[str]:
    """Return refused claims, numbered, each with its passage; a passage is shown once."""
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


def drafts_of(form: ReadAnswer) -> list[Draft]:
    """Return the claims of a reader, then its paraphrases and falsehoods; unknown numbers mean nothing."""
    claims = [
        Draft(claim.statement, *_quoted(claim.quotes, claim.question, claim.relevance), claim.resolved)
        for claim in form.claims[:_MOST_CLAIMS]
    ]
    known = dict(enumerate(claims, 1))
    true = [_like(known[told.claim], told.statement) for told in form.paraphrases if told.claim in known]
    false = [
        _like(known[told.claim], told.statement, told.original, told.changed)
        for told in form.falsehoods
        if told.claim in known
    ]
    return [*claims, *true, *false]


def restated_of(form: RestatedForm) -> Draft:
    """Return a restated claim; its sub-question is that of the refused one."""
    return Draft(form.statement, *_quoted(form.quotes, "", 0.0), form.resolved)


def _quoted(quotes: Sequence[str], question: str, relevance: float) -> tuple[str, str, float, Sequence[str]]:
    return (quotes[0] if quotes else ""), question, relevance, tuple(quotes[1:])


def _like(base: Draft, statement: str, original: str | None = None, changed: str = "") -> Draft:
    return Draft(
        statement,
        base.quote,
        base.question,
        base.relevance,
        base.more_quotes,
        kind="paraphrase" if original is None else "falsehood",
        original=original or "",
        changed=changed,
    )
