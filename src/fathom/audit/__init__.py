"""What an audit finds: statements, sources, verdicts, the result, events; and the result for people.

People get a summary, a table, and the report in colours with the quotes below each sentence.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from html import escape
from importlib.resources import files
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from fathom.report.formats import make_page
from fathom.state import ControlTally, Cost, Failure, Quote
from fathom.text.messages import Messages
from fathom.text.normalization import one_line, shorten_line

StatementKind = Literal["fact", "opinion", "transition", "question", "label"]
BlockKind = Literal["heading", "paragraph", "item", "row", "code", "source"]
# How a statement came to its sources: by marks of its own; by the next mark in its paragraph; by those of
# its table's caption or column, of the words that lead to its list, or of its heading; by a line below it.
CitationRule = Literal["own", "next", "caption", "column", "lead-in", "heading", "line below"]
# What a statement claims: that sources say it, that it follows from them, or that it was worked out.
StatementNature = Literal["stated", "inference", "calculation"]
VerdictName = Literal[
    "supported",
    "partly",
    "contradicted",
    "not in the source",
    "source unreachable",
    "source invented",
    "uncited",
]
VERDICTS: tuple[VerdictName, ...] = get_args(VerdictName)
ALARMS: frozenset[VerdictName] = frozenset({"contradicted", "source invented"})
SourceStatus = Literal["read", "archived", "unreachable", "invented", "another topic"]
AuditEventKind = Literal["started", "split", "source read", "checked", "searched", "completed"]


@cache
def audit_phrases(language: str) -> Messages:
    """Return an audit's own words; they are no words of a report (`report.verify` knows those)."""
    return Messages(language, "audit")


class ResultRecord(BaseModel):
    """What audits and evaluations hand out: frozen and strict, and never in a checkpoint."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class CitedSource(ResultRecord):
    """A source that the report names: by a number, a footnote or an address."""

    id: str
    label: str = ""  # as the report names it
    address: str = ""  # empty: the report gives none


class ReportStatement(ResultRecord):
    """One sentence, list item or table row of the report, without its citation marks."""

    id: str
    text: str
    kind: StatementKind
    heading: str = ""
    cites: list[str] = Field(default_factory=list)  # ids of sources
    cited_by: CitationRule = "own"
    nature: StatementNature = "stated"
    calculation: str = ""  # "FORMULA = RESULT", where the report writes it out
    context: str = ""  # what stands before it, where it cannot be understood alone

    @property
    def is_checked(self) -> bool:
        """Whether there is anything to check."""
        return self.kind == "fact"


class ReportBlock(ResultRecord):
    """A block of the report with the statements in it, for showing it again."""

    kind: BlockKind
    text: str = ""  # of headings, code and source lists
    level: int = 0
    statements: list[str] = Field(default_factory=list)


class ReadSource(ResultRecord):
    """A cited source, and what became of reading it."""

    source: CitedSource
    status: SourceStatus
    why: str = ""
    title: str = ""
    published: str = ""
    page: str = ""  # the hash of its text
    read_at: str = ""  # the address it was read at, if it was read
    cited_by: int = 0


class Correction(ResultRecord):
    """What was found elsewhere about a statement that its own sources do not carry."""

    verdict: Literal["supported", "contradicted"]
    title: str
    address: str
    quote: Quote


class AuditVerdict(ResultRecord):
    """The verdict on one statement."""

    statement: str
    verdict: VerdictName
    reason: str = ""  # what is missing, or which words speak against it
    source: str = ""  # id of the source that the quote is from
    quote: Quote | None = None  # the words that carry or contradict it
    nearest: Quote | None = None  # the nearest passage, where nothing carries it
    by: str = "strict rules"
    notes: list[str] = Field(default_factory=list)  # what code found odd
    correction: Correction | None = None


class AuditResult(ResultRecord):
    """A report, audited."""

    id: str
    title: str
    place: str
    language: str
    statements: list[ReportStatement]
    blocks: list[ReportBlock]
    sources: list[ReadSource]
    verdicts: list[AuditVerdict]
    decided_by: str  # the model and its prompt, or "strict rules"
    controls: list[ControlTally] = Field(default_factory=list)
    failures: list[Failure] = Field(default_factory=list)
    costs: list[Cost] = Field(default_factory=list)

    @property
    def counts(self) -> dict[VerdictName, int]:
        """How many statements have each verdict."""
        found = Counter(verdict.verdict for verdict in self.verdicts)
        return {name: found[name] for name in VERDICTS}

    @property
    def has_alarms(self) -> bool:
        """Whether something is contradicted or invented."""
        return any(verdict.verdict in ALARMS for verdict in self.verdicts)

    @property
    def usd(self) -> float:
        """What it cost."""
        return sum(cost.usd for cost in self.costs)

    @property
    def citation_accuracy(self) -> float | None:
        """The share of cited statements that a source supports (FACT); None if nothing is cited.

        What cannot be reached now says nothing about the report, and does not count.
        """
        cited = [one for one in self.verdicts if one.verdict not in {"uncited", "source unreachable"}]
        return self.effective_citations / len(cited) if cited else None

    @property
    def effective_citations(self) -> int:
        """How many statements a cited source supports."""
        return sum(verdict.verdict == "supported" for verdict in self.verdicts)


class AuditEvent(ResultRecord):
    """What an audit tells while it works: `done` of `total`, and what it has cost."""

    kind: AuditEventKind
    audit_id: str
    what: str = ""
    done: int = 0
    total: int = 0
    usd: float = 0.0
    budget_usd: float = 0.0
    result: AuditResult | None = Field(None, description="With the last event.")


_STYLE = files("fathom.audit").joinpath("audit.css").read_text("utf-8").strip()
_CELL_CHARS = 140
_WEB = re.compile(r"https?://[^\s()<>\"']{1,2000}+")
_MOST_FAILURES = 3


def words_for(result: AuditResult) -> Messages:
    """Return the phrases in the report's language."""
    return audit_phrases(result.language)


def summarize(result: AuditResult) -> str:
    """Return what a manager reads: how much holds, what does not, what was not done, and who decided."""
    say, counts = words_for(result), result.counts
    total = len(result.verdicts)
    lines = [say("holds", count=counts["supported"], checked=say("checked", count=total))]
    lines += [say(f"count.{name}", count=counts[name]) for name in VERDICTS[1:] if counts[name]]
    elsewhere = Counter(one.correction.verdict for one in result.verdicts if one.correction)
    lines += [say(f"elsewhere.{name}", count=count) for name, count in sorted(elsewhere.items())]
    natures = Counter(one.nature for one in result.statements if one.is_checked and one.nature != "stated")
    lines += [say(f"natures.{name}", count=count) for name, count in sorted(natures.items())]
    invented = sum(one.status in {"invented", "another topic"} for one in result.sources)
    lines += [say("invented", count=invented)] if invented else []
    apart = len(result.statements) - total
    lines += [say("apart", count=apart)] if apart else []
    whys = dict.fromkeys(one.why for one in result.failures)
    lines += [say("not_done", why=why) for why in list(whys)[:_MOST_FAILURES]]
    by_rules = sum(one.by == "strict rules" for one in result.verdicts)
    if result.decided_by == "strict rules":
        is_asked = any(one.where == "audit" for one in result.failures)
        lines.append(say("by_rules") if is_asked else f"{say('by_rules')} {say('name_a_model')}")
    else:
        shown = sum(tally.shown for tally in result.controls)
        missed = sum(tally.missed for tally in result.controls)
        lines.append(say("by_model", model=result.decided_by, shown=shown, missed=missed))
        lines += [say("rest_by_rules", count=by_rules)] if by_rules else []
    return "\n".join(lines)


def render_table(result: AuditResult) -> str:
    """Return all findings as a Markdown table, then the sources."""
    say, by_id = words_for(result), {one.id: one for one in result.statements}
    head = [say(f"column.{name}") for name in ("number", "verdict", "statement", "reason", "words")]
    rows = [head, ["---"] * len(head)]
    for number, one in enumerate(result.verdicts, 1):
        quote = one.quote or one.nearest
        words = f"“{shorten_line(quote.text, _CELL_CHARS)}”" if quote else ""
        if found := one.correction:
            other = f"“{shorten_line(found.quote.text, _CELL_CHARS)}”"
            words = f"{words} {say(f'found.{found.verdict}')} {other} ({found.address})".lstrip()
        rows.append(
            [str(number), say(f"verdict.{one.verdict}"), by_id[one.statement].text, one.reason, words]
        )
    table = "\n".join(f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows)
    sources = "\n".join(f"- {line}" for line in _source_lines(result, say))
    return f"{table}\n\n## {say('sources')}\n\n{sources}\n" if sources else f"{table}\n"


def render_markdown(result: AuditResult) -> str:
    """Return summary and table."""
    say = words_for(result)
    title = say("title", title=one_line(result.title))
    summary = "\n".join(f"- {line}" for line in summarize(result).split("\n"))
    return f"# {title}\n\n{summary}\n\n{render_table(result)}"


def render_html(result: AuditResult) -> str:
    """Return the report with every statement in the colour of its verdict, as one page without script."""
    say = words_for(result)
    verdicts = {one.statement: one for one in result.verdicts}
    title = say("title", title=one_line(result.title))
    summary = "".join(f"<li>{escape(line)}</li>" for line in summarize(result).split("\n"))
    legend = " ".join(
        f'<span class="{_css(name)}">{escape(say(f"verdict.{name}"))}</span>' for name in VERDICTS
    )
    body = [f"<h1>{escape(title)}</h1><ul>{summary}</ul><p class=legend>{legend}</p><hr>"]
    body += [_block(block, result, verdicts, say) for block in result.blocks]
    sources = "".join(f"<li>{_linked(line)}</li>" for line in _source_lines(result, say))
    body += [f"<hr><h2>{escape(say('sources'))}</h2><ul>{sources}</ul>"] if sources else []
    return make_page(title, say.language, _STYLE, body)


def _block(block: ReportBlock, result: AuditResult, verdicts: dict[str, AuditVerdict], say: Messages) -> str:
    if block.kind == "heading":
        level = min(6, block.level + 1)
        return f"<h{level}>{escape(block.text)}</h{level}>"
    if not block.statements:
        tag = "pre" if block.kind == "code" else "div"
        return f"<{tag} class={block.kind}>{escape(block.text)}</{tag}>"
    by_id = {one.id: one for one in result.statements}
    parts = []
    for key in block.statements:
        verdict = verdicts.get(key)
        if verdict is None:
            parts.append(f'<span class="apart">{escape(by_id[key].text)}</span>')
            continue
        words, note = escape(by_id[key].text), _note(verdict, by_id[key], result, say)
        if verdict.verdict != "supported":
            words += f" <small>{escape(say(f'verdict.{verdict.verdict}'))}</small>"
        opens = f'<details class="{_css(verdict.verdict)}"><summary>{words}</summary>'
        parts.append(f"{opens}{note}</details>")
    tag = "li" if block.kind == "item" else "div"
    return f"<{tag} class={block.kind}>{' '.join(parts)}</{tag}>"


def _note(verdict: AuditVerdict, statement: ReportStatement, result: AuditResult, say: Messages) -> str:
    """Return what is shown when a statement is opened: verdict, reason, quote and where it stands."""
    sources = {one.source.id: one for one in result.sources}
    name = say(f"verdict.{verdict.verdict}")
    lines = [f"<b>{escape(name)}</b> {escape(verdict.reason)}"]
    about = sources.get(verdict.source)
    quoted = (("quote", verdict.quote), ("nearest", verdict.nearest))
    for key, quote in quoted:
        if quote and about:
            lines.append(_quote(say(key), quote, about.title or about.source.label, about.read_at, say))
    if verdict.correction:
        found = verdict.correction
        lines.append(_quote(say(f"found.{found.verdict}"), found.quote, found.title, found.address, say))
    told = [say("decided", by=say.name("by", verdict.by))]
    told += [say(f"cited_by.{statement.cited_by}")] if statement.cited_by != "own" else []
    told += [say(f"nature.{statement.nature}")] if statement.nature != "stated" else []
    lines.append(f"<small>{escape(' '.join(told))}</small>")
    return f'<div class="note">{"<br>".join(lines)}</div>'


def _quote(lead: str, quote: Quote, title: str, address: str, say: Messages) -> str:
    link = escape(title or address)
    if address.startswith(("http://", "https://")):
        link = f'<a href="{escape(address, quote=True)}" rel="noreferrer">{link}</a>'
    heading = quote.heading.removeprefix(title).removeprefix(" > ")
    place = f", {escape(heading)}" if heading else ""
    at = escape(say("position", start=quote.start, end=quote.end))
    return f"{escape(lead)} <q>{escape(quote.text)}</q> ({link}{place}, {at})"


def _source_lines(result: AuditResult, say: Messages) -> Iterable[str]:
    for one in result.sources:
        name = " ".join(filter(None, (one.title or one.source.label, one.source.address)))
        why = f" ({one.why})" if one.why else ""
        yield f"{say(f'source.{one.status}')}: {one_line(name) or one.source.id}{why}"


def _linked(line: str) -> str:
    """Return a line with its web addresses as links."""
    return _WEB.sub(r'<a href="\g<0>" rel="noreferrer">\g<0></a>', escape(line))


def _css(verdict: str) -> str:
    return verdict.replace(" ", "-")


def _cell(text: str) -> str:
    return one_line(text).replace("|", "\\|")
