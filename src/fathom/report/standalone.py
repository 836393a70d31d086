"""A report as one page of HTML that needs nothing else: no script, no picture, nothing from the net.

Does not know Markdown: it is made from the ledger, and every word in it is escaped. The only links are to
sources that were read.
"""

from collections.abc import Mapping, Sequence
from html import escape
from urllib.parse import urlsplit

from fathom.report.ledger import Ledger
from fathom.report.listings import words_of
from fathom.report.markdown import named, shortened
from fathom.report.words import KOREAN, Words
from fathom.state import Citation, Section, Sentence

_STYLE = """
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; color: #1b1b1b; background: #fdfdfb;
       font: 1rem/1.6 Georgia, "Noto Serif KR", serif; }
h1, h2 { line-height: 1.3; } a { color: #0b4f8a; } a:target, li:target { background: #fff3bf; }
sup a { text-decoration: none; } blockquote { margin: .3rem 0 .3rem 1rem; color: #555; }
.status { color: #555; } .open { color: #a33; }
""".strip()
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def standalone(ledger: Ledger) -> str:
    """The whole page."""
    words = words_of({"question": ledger.question, "run_config": ledger.settings})
    numbers = _numbers(ledger)
    title = ledger.outline.title if ledger.outline else ledger.question
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="status">{escape(_status(ledger, words))}</p>',
        *(_section(section, numbers, words) for section in ledger.sections if section.sentences),
        *_missing(ledger, words),
        *_sources(ledger.citations, words),
    ]
    if not ledger.sections:
        parts.insert(2, f"<p>{escape(words.nothing)}</p>")
    language = "ko" if words is KOREAN else "en"
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style>"
    )
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="{language}"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def _numbers(ledger: Ledger) -> dict[str, list[int]]:
    """The numbers of the sources each claim is quoted from."""
    by_quote = {(q.page, q.start, q.end): c.number for c in ledger.citations for q in c.quotes}
    return {
        claim.id: sorted(
            {by_quote[key] for q in claim.quotes if (key := (q.page, q.start, q.end)) in by_quote}
        )
        for claim in ledger.claims
    }


def _status(ledger: Ledger, words: Words) -> str:
    last = ledger.judgements[-1] if ledger.judgements else None
    used = {claim for section in ledger.sections for one in section.sentences for claim in one.claims}
    told = [str(getattr(words, ledger.status, ledger.status))]
    if last:
        told.append(
            words.basis.format(
                claims=sum(claim.id in used for claim in ledger.claims),
                cited=len(ledger.citations),
                read=len(ledger.sources),
                rounds=last.round,
            )
        )
    return ". ".join(told)


def _section(section: Section, numbers: Mapping[str, Sequence[int]], words: Words) -> str:
    told = [_sentence(sentence, numbers, words) for sentence in section.sentences]
    text = (
        f"<ul>{''.join(f'<li>{one}</li>' for one in told)}</ul>"
        if section.is_list
        else f"<p>{' '.join(told)}</p>"
    )
    return f"<h2>{escape(section.title)}</h2>\n{text}"


def _sentence(sentence: Sentence, numbers: Mapping[str, Sequence[int]], words: Words) -> str:
    found = sorted({n for claim in sentence.claims for n in numbers.get(claim, [])})
    if sentence.status == "unsupported" or (sentence.status == "supported" and not found):
        return f'{escape(sentence.text)} <span class="open">{escape(words.unsupported)}</span>'
    marks = "".join(f'<sup><a href="#s{n}">[{n}]</a></sup>' for n in found)
    return f"{escape(sentence.text)}{marks}"


def _missing(ledger: Ledger, words: Words) -> list[str]:
    gaps = ledger.judgements[-1].gaps if ledger.judgements else []
    lines = [f"<li>{escape(gap.description)}</li>" for gap in gaps if gap.priority != "low"]
    return [f"<h2>{escape(words.open_points)}</h2>", f"<ul>{''.join(lines)}</ul>"] if lines else []


def _sources(citations: Sequence[Citation], words: Words) -> list[str]:
    if not citations:
        return []
    entries = [_source(citation, words) for citation in citations]
    return [f"<h2>{escape(words.sources)}</h2>", f"<ol>{''.join(entries)}</ol>"]


def _source(citation: Citation, words: Words) -> str:
    quotes = "".join(f"<blockquote>{escape(shortened(q.text))}</blockquote>" for q in citation.quotes)
    read = escape(words.read_on.format(date=citation.fetched[:10]))
    return (
        f'<li id="s{citation.number}" value="{citation.number}">{escape(citation.title)}.'
        f" {_link(citation.address)} ({read}){quotes}</li>"
    )


def _link(address: str) -> str:
    """A link to a page of the web; any other address as words, since a browser may do anything with it."""
    try:
        is_web = urlsplit(address).scheme in ("http", "https")
    except ValueError:
        is_web = False
    if not is_web:
        return f"<code>{escape(named(address))}</code>"
    return f'<a href="{escape(address)}" rel="noreferrer noopener">{escape(address)}</a>'
