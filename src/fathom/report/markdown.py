"""A report as Markdown.

Does not know where its parts come from. Words of sources are shown as words: no link, tag or address inside
them comes through, so that the only addresses in a report are those of pages that were read.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from urllib.parse import quote, unquote, urlsplit

from fathom.report.marks import ADDRESS, may_have_address
from fathom.report.stop_words import in_korean
from fathom.report.words import KOREAN, Words
from fathom.search.addresses import host
from fathom.state import Citation, Claim, Failure, Gap, Judgement, Query, Rejected, Section, Sentence
from fathom.text.normal import one_line

_BEGINS_A_BLOCK = re.compile(r"#{1,6}\s|>|`{3}|~{3}")
# What a terminal acts on, and what makes letters stand in another order than they are read in.
_ORDERS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
QUOTE_CHARS = 300


def plain(text: str) -> str:
    """Words of a source or a model, with nothing that a terminal or a reader of Markdown would act on."""
    bare = one_line(text)
    if not bare.isprintable():
        bare = _ORDERS.sub("", bare)
    if may_have_address(bare):
        bare = ADDRESS.sub(lambda found: host(found.group()), bare)
    if "<" in bare:
        # A backslash that stands before the bracket already would take the one put there for itself.
        bare = re.sub(r"(\\*)<(?=[A-Za-z/!?])", r"\1\1\\<", bare)
    if "]" in bare:
        bare = re.sub(r"\](?=[(\[:])", r"]\\", bare)
    return f"\\{bare}" if _BEGINS_A_BLOCK.match(bare) else bare


def body(
    sections: Sequence[Section],
    numbers: Mapping[str, Sequence[int]],
    words: Words,
    disputed: Mapping[str, str] | None = None,
) -> list[str]:
    """The sections, every sentence with its marks, and a word where sources dispute it."""
    blocks: list[str] = []
    for section in (s for s in sections if s.sentences):
        lines = [_sentence(s, numbers, words, disputed or {}) for s in section.sentences]
        text = "\n".join(f"- {line}" for line in lines) if section.is_list else " ".join(lines)
        blocks += [f"## {plain(section.title)}", text]
    return blocks


def _sentence(
    sentence: Sentence, numbers: Mapping[str, Sequence[int]], words: Words, disputed: Mapping[str, str]
) -> str:
    found = sorted({n for c in sentence.claims for n in numbers.get(c, [])})
    if sentence.status == "unsupported" or (sentence.status == "supported" and not found):
        return f"{plain(sentence.text)} {words.unsupported}"
    marks = "".join(f"[{n}]" for n in found)
    remark = next((disputed[c] for c in sentence.claims if c in disputed), "")
    return f"{plain(sentence.text)} {marks} {remark}".rstrip()


def open_points(gaps: Sequence[Gap], unanswered: Sequence[str], words: Words) -> list[str]:
    """What the reader will not find in the report."""
    told = [g.description for g in gaps if g.priority != "low"]
    told += [words.unanswered.format(q) for q in unanswered if not any(q in line for line in told)]
    lines = [f"- {plain(line)}" for line in dict.fromkeys(told)]
    return [f"## {words.open_points}", "\n".join(lines)] if lines else []


def failures(
    lost: Sequence[Failure], rejected: Sequence[Rejected], sections: Sequence[Section], words: Words
) -> list[str]:
    """What could not be done, and what was not believed."""
    lines = [
        f"{words.place(failure.where)}: `{named(failure.what)}`: {plain(failure.why)}"
        for failure in _gathered(lost)
    ]
    counts: Counter[str] = Counter()
    for entry in rejected:
        counts[entry.why] += 0 if entry.section else entry.count
    lines += [words.counted(words.rejected, n, words.reason(why)) for why, n in counts.items() if n]
    lines += _refused(sections, words)
    return [f"## {words.lost}", "\n".join(f"- {line}" for line in lines)] if lines else []


def _gathered(lost: Sequence[Failure]) -> list[Failure]:
    """The losses, with what did not fit into one window told in one line."""
    cut: dict[str, list[str]] = {}
    for failure in lost:
        if failure.where == "context":
            cut.setdefault(failure.why, []).append(failure.what)
    whole = [Failure(where="context", what=", ".join(whats), why=why) for why, whats in cut.items()]
    return [*(failure for failure in lost if failure.where != "context"), *whole]


def _refused(sections: Sequence[Section], words: Words) -> list[str]:
    """The sentences that did not hold, counted; never their words."""
    rejected = Counter(s.fault for section in sections for s in section.rejected)
    marked = Counter(s.fault for section in sections for s in section.sentences if s.status == "unsupported")
    lines = [words.counted(words.sentences_dropped, n, words.fault(f)) for f, n in rejected.items()]
    lines += [words.counted(words.sentences_marked, n, words.fault(f)) for f, n in marked.items()]
    if rewritten := sum(section.rewritten for section in sections):
        lines.append(words.counted(words.rewritten, rewritten))
    lines += [words.section_gone.format(title=plain(s.title)) for s in sections if not s.sentences]
    if any(section.is_quoted for section in sections):
        lines.append(words.quoted_instead)
    return lines


def named(what: str) -> str:
    """An address as a name: what was not read must not look like a source."""
    try:
        parts = urlsplit(what) if "://" in what else None
    except ValueError:
        parts = None
    if parts:
        what = unquote(parts.path) if parts.scheme == "file" else f"{parts.netloc}{parts.path}"
    return _ORDERS.sub("", one_line(what)).replace("`", "'")


def bracketed(address: str) -> str:
    """An address in brackets, which ends where they do."""
    kept = re.sub(r"[\s<>]", lambda found: quote(found.group()), address)
    return f"<{_ORDERS.sub('', kept)}>"


def sources(citations: Sequence[Citation], words: Words) -> list[str]:
    """The numbered list, with the words that were used."""
    return [f"## {words.sources}", "\n".join(_source(c, words) for c in citations)] if citations else []


def _source(citation: Citation, words: Words) -> str:
    dates = [words.read_on.format(date=citation.fetched[:10])]
    if citation.published:
        dates.insert(0, words.published_on.format(date=citation.published[:10]))
    if citation.gone:
        dates.append(words.gone_since)
    where = bracketed(citation.address)
    lines = [f"{citation.number}. {plain(citation.title)}. {where} ({', '.join(dates)})"]
    printed = citation.printed_pages or [0] * len(citation.quotes)
    for used, number in zip(citation.quotes, printed, strict=True):
        shown = shortened(plain(used.text))
        place = f" ({words.on_page.format(number=number)})" if number else ""
        lines.append(f"   > {shown}{place}\n")
    return "\n".join(lines).rstrip("\n")


def shortened(text: str) -> str:
    """A quote as the list of sources shows it."""
    return text if len(text) <= QUOTE_CHARS else text[:QUOTE_CHARS].rsplit(" ", 1)[0] + " …"


def summary(head: str, judgement: Judgement, claims: Sequence[Claim], read: int, words: Words) -> str:
    """One line under the title: how far to trust what follows."""
    cited = len({quote.page for claim in claims for quote in claim.quotes})
    parts = [
        head,
        words.basis.format(claims=len(claims), cited=cited, read=read, rounds=judgement.round),
        words.stopped.format(
            rule=words.rule(judgement.stop),
            because=in_korean(judgement.because) if words is KOREAN else judgement.because,
        )
        if judgement.stop
        else words.going_on,
    ]
    return f"*{'. '.join(parts)}.*"


def searched(queries: Sequence[Query], words: Words) -> list[str]:
    """What was looked for in vain."""
    lines = [f"- {plain(q.text)}" for q in queries]
    return [f"## {words.searched}", "\n".join(lines)] if lines else []
