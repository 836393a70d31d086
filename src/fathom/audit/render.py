"""An audit for people: a summary, a table, and the report in colours with the quotes below each sentence."""

import re
from collections import Counter
from collections.abc import Iterable
from html import escape
from importlib.resources import files

from fathom.audit.records import (
    VERDICTS,
    AuditResult,
    AuditVerdict,
    ReportBlock,
    ReportStatement,
    audit_phrases,
)
from fathom.report.formats import make_page
from fathom.state import Quote
from fathom.text.messages import Messages
from fathom.text.normalization import one_line, shorten_line

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
