"""Suspicions about a statement and its evidence, shown to the verifier, who decides.

Code alone refuses only figures and dates that cannot be derived (`derivation`). Each detector answers one
question: does a figure stand with other words (`placement`), was a small word dropped or added, or does
another one say it (`markers`), did two things change places (`roles`), is a name or date not there; and,
where a statement keeps the quote's wording, what do the strict rules find (`strict`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fathom.evidence.checks import UNITS, ParsedText, measure_coverage, parse_text
from fathom.evidence.checks.dates import Date, find_dates, resolve_years
from fathom.evidence.checks.derivation import Passage
from fathom.evidence.checks.figures import find_figures, normalize_letters
from fathom.evidence.checks.markers import (
    find_changed_markers,
    find_markers,
    find_other_speakers,
    select_relevant_sentences,
)
from fathom.evidence.checks.negation import find_contrasts, find_negations
from fathom.evidence.checks.placement import find_misplaced
from fathom.evidence.checks.roles import find_exchange
from fathom.evidence.checks.strict import find_flaws_by_kind
from fathom.text.mentions import find_missing_names, find_name_words
from fathom.text.similarity import word_rarity
from fathom.text.tokens import has_cjk

_CLOSE_WORDING = 0.5  # share of the statement's words from the quote that allows a word-by-word comparison
_COPIED = 0.6  # a denial or conclusion in such a copy is the statement's own
_NEARLY_ALL = 0.7  # a word that such a copy leaves out was left out on purpose
_DENYING = frozenset({"exception", "refusing"})
_SHORT = 12  # content words: longer statements re-order clauses without swapping roles
_FEW, _LONG_ENOUGH = 5, 8  # content words: in shorter statements one other or missing word is nothing odd
MOST_NOTES = 2  # more are skimmed, not checked
_LONG = 4000  # characters; longer text is cut to bound the time
_FIRST_NAME = re.compile(r"[A-Z][a-z]{3,}(?=[\s,])")
_EVERYDAY = 12.5  # highest rarity of a word that is no name
_VERBAL = re.compile(r"(?:[a-z](?:ed|ing|ly)|[다고며지는게기서]|지만|는데|[은을]지)$")
_QUOTED_WORD = re.compile(r"'([^']+)'")
_PUNCTUATION = re.compile(r"[\s:._-]")
_IDENTIFIER = re.compile(r"(?<![\w.-])[A-Za-z][A-Za-z_]+-?\d[\w-]*(?<!-)")


@dataclass(frozen=True)
class Suspicion:
    """A suspicion: its kind, and a short note for the verifier."""

    kind: str
    note: str


def find_suspicions(statement: str, passage: Passage) -> list[Suspicion]:
    """Return the one or two most specific suspicions about a statement; often none."""
    said = normalize_letters(statement)[:_LONG]
    if passage.quoted.strip(" .") == said.strip(" ."):
        return []
    found = [
        *find_misplaced(said, passage),
        *_find_missing_names(said, passage),
        *find_other_speakers(said, passage),
        *find_contrasts(said, passage),
        *find_changed_markers(said, passage),
        *_find_other_dates(said, passage),
    ]
    if has_cjk(said) == has_cjk(passage.quoted):
        found += _compare_wording(said, passage)
    notes = [Suspicion(kind, note) for kind, note in found]
    return list({_subject(one.note): one for one in reversed(notes)}.values())[::-1][:MOST_NOTES]


def _subject(note: str) -> str:
    """Return the word a note is about: two notes on one word are one."""
    named = _QUOTED_WORD.search(note)
    return named[1].lower() if named else note


def _find_missing_names(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find names that the source does not have, and numbered names that the quote does not have."""
    above = "\n".join([passage.quoted, passage.title, passage.headings]).lower()
    plain = _PUNCTUATION.sub("", above)  # "SEP: 1577"
    for name in dict.fromkeys(_IDENTIFIER.findall(statement)):
        bare = re.sub(r"-[A-Za-z]+$", "", name)  # "MD5-hashed"
        if _PUNCTUATION.sub("", bare.lower()) not in plain:
            yield "name", f"'{name}' is not in the quote"
    if has_cjk(passage.everything) and not has_cjk(statement):
        return  # Korean spells foreign names in its own letters
    first = _FIRST_NAME.match(statement)
    rare = [first[0]] if first and word_rarity(first[0].lower()) > _EVERYDAY else []
    names = [
        n for n in (*rare, *find_name_words(statement)) if n.lower() not in UNITS and not find_figures(n)
    ]
    low = passage.everything.lower()
    for name in find_missing_names(dict.fromkeys(names), [passage.everything]):
        is_month = any(date.month for date in find_dates(f"in {name} 2020"))
        if name.lower() not in low and not is_month and len(name) > 1:
            yield "name", f"'{name}' is not in the source"


def _find_other_dates(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find dates that the quote does not give, where it gives others that the statement leaves out."""
    mine, theirs = find_dates(statement), find_dates(passage.quoted)
    day = passage.calendar.day
    meant = resolve_years(passage.quoted, day.year) if day else set()
    named = meant | {other.year for other in find_dates(f"{passage.title}\n{passage.headings}")}
    named |= {
        other.year + sign * span for other in theirs for span in passage.calendar.spans for sign in (-1, 1)
    }
    own = {date.year for date in mine}
    for date in mine:
        if any(_is_within(date, other) or _is_within(other, date) for other in theirs):
            continue
        if date.year and meant and date.year not in named and not meant & own:
            yield "date", f"'{date.text}' is not in the quote, which is about {min(meant)}"
        if date.year in named or (day and (date.month, date.day) == (day.month, day.day)):
            continue
        rivals = [
            other.text
            for other in theirs
            if date.parts.keys() & other.parts.keys()
            and not any(_is_within(other, own) or _is_within(own, other) for own in mine)
        ]
        if rivals:
            yield "date", f"'{date.text}' is not in the quote, which has '{rivals[0]}'"


def _is_within(date: Date, other: Date) -> bool:
    """Tell whether all parts of a date are parts of another one."""
    return date.parts.items() <= other.parts.items()


def _compare_wording(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Compare word by word if the statement keeps the quote's wording."""
    said = parse_text(statement)
    shared = measure_coverage(said, [parse_text(quote) for quote in passage.quotes])
    if shared < _CLOSE_WORDING:
        return
    if pair := find_exchange(statement, passage.quoted):
        yield "who and what", f"'{pair[0]}' and '{pair[1]}' may have exchanged places"
    found = find_flaws_by_kind(statement, [quote[:_LONG] for quote in passage.quotes])
    near_copy = ("a negation", "a conclusion") if shared >= _COPIED else ()
    kinds = ("other words", "its scope", *near_copy)
    for kind in kinds if len(said.content_words) > _SHORT else ("who and what", *kinds):
        for why in found.get(kind, []):
            if _is_telling(kind, why, said, passage):
                yield kind, why
    known = parse_text(passage.everything)
    new = [w.text for w in said.content_words if not known.has(w.key) and not _VERBAL.search(w.low)]
    near = parse_text(select_relevant_sentences(statement, passage.quoted))
    dropped = [word.text for word in near.content_words if not said.has(word.key)]
    if len(new) == 1 and 1 <= len(dropped) <= MOST_NOTES and len(said.content_words) >= _FEW:
        yield "other words", f"it says '{new[0]}' where the quote has '{' … '.join(dropped)}'"


def _is_telling(kind: str, why: str, said: ParsedText, passage: Passage) -> bool:
    """Tell whether a finding of the strict rules says enough for a verifier to check."""
    words = why.lower().split("'")
    if kind == "a negation":  # where both deny something, words alone do not tell what
        denied = find_negations(parse_text(passage.quoted)) or find_markers(passage.quoted, _DENYING)
        return not (find_negations(said) and denied)
    if kind == "its scope":
        return why.startswith("it leaves out")
    if why.startswith("nothing in"):
        known = parse_text(passage.everything)
        is_known = any(known.has(key) for key in parse_text(words[1]).keys)
        return not is_known and not find_figures(why) and not has_cjk(why)
    return True
