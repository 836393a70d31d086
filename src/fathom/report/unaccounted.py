"""What stands in a report and comes from nothing in its ledger, whichever version wrote it.

Does not know how a report is made. A line is accounted for when nothing is left of it after the words of the
ledger that may stand there, and the fixed words of a report, are taken away.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, get_args

from fathom.report.ledger import Ledger
from fathom.report.markdown import QUOTE_CHARS, named, plain, shortened
from fathom.report.words import ENGLISH, KOREAN
from fathom.state import SCOUT, Report, Section, Status
from fathom.text.normal import one_line

_LETTER = r"[^\W\d_]"
_BETWEEN = re.compile(r"\{\w+\}|[.;:,()]")
_SHOWN_CHARS = 120


def misstated(ledger: Ledger) -> Iterator[str]:
    """What the ledger says of itself in two places, and not the same."""
    first = [query.text for query in ledger.asked if query.id == SCOUT]
    if first and ledger.question not in first:
        yield f"The question is not the one that was researched: {one_line(first[0])[:_SHOWN_CHARS]}"
    if ledger.is_partial not in (None, ledger.status == "partial"):
        yield "Whether the report is partial is not what its status says."
    if ledger.metadata is None or not ledger.judgements:
        return
    last = ledger.judgements[-1]
    known = {
        "rounds": last.round,
        "queries": len(ledger.asked),
        "sources": len(ledger.sources),
        "claims": len(ledger.claims),
        "score": last.overall,
        "stop": last.stop or "",
        "because": last.because,
    }
    for name, value in known.items():
        if (given := getattr(ledger.metadata, name)) != value:
            told = one_line(str(given))[:_SHOWN_CHARS]
            yield f"The metadata give {name} as {told}; the ledger has {one_line(str(value))}."


def unaccounted(ledger: Ledger, made: Report | None) -> Iterator[str]:
    """Lines of the report that neither a report made again has, nor the ledger accounts for."""
    expected = {line.strip() for line in made.markdown.splitlines()} if made else set()
    body = _matcher(_written(ledger.sections) | _fixed_marks())
    summaries = [section for section in ledger.sections if not section.title]
    rest = _matcher(_fixed() | set(_told(ledger)) | _written(summaries))
    headings = {plain(section.title) for section in ledger.sections}
    is_body = False
    for line in (line.strip() for line in ledger.report.splitlines()):
        if line.startswith("## "):
            is_body = line[3:] in headings
            is_known = is_body or _is_known(line, rest)
        else:
            is_known = _is_known(line, body) if is_body else line in expected or _is_known(line, rest)
        if not is_known:
            yield _told_of(line)
    if not _says_status(ledger, made):
        yield f"The report does not say that it is {one_line(ledger.status)[:40]}."


def _says_status(ledger: Ledger, made: Report | None) -> bool:
    """Whether the status is the one the ledger gives, or the one in the status line of earlier versions."""
    if ledger.status not in get_args(Status):
        return False
    place = get_args(Status).index(ledger.status)
    names = [words.earlier[place] for words in (ENGLISH, KOREAN)]
    if any(f"\n*{name}" in ledger.report for name in names):
        return True
    return made is not None and made.status == ledger.status and "\n*" not in ledger.report


def _written(sections: Iterable[Section]) -> set[str]:
    """Everything that may stand in sections: sentences, whole or cut into lines, sub-headings, columns."""
    said: set[str] = set()
    for section in sections:
        for sentence in section.sentences:
            said.add(plain(sentence.text))
            said.update(plain(line) for line in sentence.text.splitlines())
        for block in section.blocks:
            said.update(plain(words) for words in (block.title, *block.columns))
    return said


def _is_known(line: str, known: re.Pattern[str]) -> bool:
    """Whether only marks and numbers are left of a line after what is known."""
    return not re.search(_LETTER, known.sub(" ", line))


def _matcher(texts: Iterable[str]) -> re.Pattern[str]:
    """Any of the texts, the longest first, and never inside a word."""
    worded = sorted({text for text in texts if re.search(_LETTER, text)}, key=len, reverse=True)
    return re.compile(rf"(?<!{_LETTER})(?:{'|'.join(map(re.escape, worded)) or '(?!)'})(?!{_LETTER})")


def _told_of(line: str) -> str:
    shown = line if len(line) <= _SHOWN_CHARS else line[: _SHOWN_CHARS - 1] + "…"
    return f"The report says what the ledger does not: {shown}"


def _fixed() -> set[str]:
    """The fixed words of a report in every language, without what is filled into them."""
    spoken = [phrase for words in (ENGLISH, KOREAN) for phrase in (*words.phrases.values(), *words.earlier)]
    return {part.strip(" []“”") for words in spoken for part in _BETWEEN.split(words)}


def _fixed_marks() -> set[str]:
    keys = ("report.unsupported", "report.nothing", "report.disputed", "report.inference", "report.extracts")
    return {words(key) for words in (ENGLISH, KOREAN) for key in keys}


def _told(ledger: Ledger) -> Iterator[str]:
    """Whatever the ledger says outside its sentences, as a report would show it."""
    for text in _strings(ledger.model_dump(exclude={"report", "sections"})):
        yield from (plain(text), named(text), one_line(text), KOREAN.because(text))
        if len(text) > QUOTE_CHARS:
            yield shortened(plain(text))
            yield plain(shortened(text))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _strings(list(value.values()))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)
