"""The reader's role: show a page and refused claims, and read statements from the answer."""

from collections.abc import Sequence

from fathom.llm.roles.answer_forms import ReadAnswer, RestatedForm
from fathom.state.model_io import ExtractedStatement, PageFacts, RefusedClaim
from fathom.text.token_count import shorten_line

_TITLE_CHARS = 300

_MOST_CLAIMS = 25


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


def read_statements(form: ReadAnswer) -> list[ExtractedStatement]:
    """Return a reader's claims, then its paraphrases and falsehoods; unknown numbers are ignored."""
    claims = [
        ExtractedStatement(
            claim.statement, *_split_quotes(claim.quotes, claim.question, claim.relevance), claim.resolved
        )
        for claim in form.claims[:_MOST_CLAIMS]
    ]
    known = dict(enumerate(claims, 1))
    true = [
        _control_statement(known[control.claim], control.statement)
        for control in form.paraphrases
        if control.claim in known
    ]
    false = [
        _control_statement(known[control.claim], control.statement, control.original, control.changed)
        for control in form.falsehoods
        if control.claim in known
    ]
    return [*claims, *true, *false]


def read_restatement(form: RestatedForm) -> ExtractedStatement:
    """Return a restated claim under the sub-question of the refused one."""
    return ExtractedStatement(form.statement, *_split_quotes(form.quotes, "", 0.0), form.resolved)


def _split_quotes(
    quotes: Sequence[str], question: str, relevance: float
) -> tuple[str, str, float, Sequence[str]]:
    return (quotes[0] if quotes else ""), question, relevance, tuple(quotes[1:])


def _control_statement(
    base: ExtractedStatement, statement: str, original: str | None = None, changed: str = ""
) -> ExtractedStatement:
    return ExtractedStatement(
        statement,
        base.quote,
        base.question,
        base.relevance,
        base.more_quotes,
        kind="paraphrase" if original is None else "falsehood",
        original=original or "",
        changed=changed,
    )
