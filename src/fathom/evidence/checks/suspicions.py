"""Suspicions about a statement and its evidence, shown to the verifier, who decides.

Code alone refuses only figures and dates that cannot be derived (`derivation`).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fathom.evidence.checks.derivation import Passage, find_figures_outside_dates, is_same_figure
from fathom.evidence.checks.figures import Figure, find_figures, normalize_letters
from fathom.evidence.checks.lexicon import (
    UNITS,
    Marker,
    find_markers,
    load_markers,
    load_opposites,
    load_phrase_pattern,
)
from fathom.evidence.checks.negation import find_negations
from fathom.evidence.checks.placement import find_misplaced
from fathom.evidence.checks.strict import find_flaws_by_kind
from fathom.evidence.checks.transliteration import find_names_given_to_others, sounds_like_any
from fathom.evidence.checks.words import ParsedText, measure_coverage, parse_text
from fathom.text.embedding import word_rarity
from fathom.text.mentions import find_missing_names, find_name_words
from fathom.text.tokens import STOP_WORDS, has_cjk

_IN_QUOTE = frozenset(
    {"cause", "proof", "superlative", "must"}
)  # strong words: finding one elsewhere on the page is not enough
_SURE = frozenset({"possible"})
_OF_SENTENCES = frozenset({"condition", "exception"})
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s|\n")
_CLOSE_WORDING = 0.5  # share of the statement's words from the quote that allows a word-by-word comparison
_COPIED = 0.6  # a denial or conclusion in such a copy is the statement's own
_SHORT = 12  # content words: longer statements re-order clauses without swapping roles
MOST_NOTES = 2  # more are skimmed, not checked
_LONG = 4000  # characters; longer text is cut to bound the time
_TURNING = frozenset({"first", "last", "earlier", "later"})  # as seen from elsewhere
_EVERYDAY = 12.5  # highest rarity of a word that is no name
_NAMED_WORD = re.compile(r"'([^']+)'")
_MONTH = re.compile(r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*$")
_SENTENCE_START = re.compile(r"(?:^|[.!?]\s+)((?:[A-Z][\w'’-]+\s+){1,4}[A-Z][\w'’-]+|[A-Z][a-z'’-]{3,})")
_CLAUSE_END = re.compile(
    r"[,;:]\s|\.\s|\n|\s(?:and|but|while|which|though)\s|(?<![라다]고)(?<=[고며]),?\s|(?<=지만),?\s"
)


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
    is_one_language = has_cjk(said) == has_cjk(passage.quoted)
    pairs = [*find_misplaced(said, passage), *find_names_given_to_others(said, passage)]
    found = [Suspicion(kind, note) for kind, note in pairs]
    found += [*_pole_suspicions(said, passage), *_name_suspicions(said, passage)]
    found += [*_marker_suspicions(said, passage, is_one_language), *_speaker_suspicions(said, passage)]
    if is_one_language:
        found += _wording_suspicions(said, passage)
    return list({_subject(suspicion): suspicion for suspicion in reversed(found)}.values())[::-1][:MOST_NOTES]


def _subject(suspicion: Suspicion) -> str:
    """Return the word a note is about: two notes on one word are one."""
    named = _NAMED_WORD.search(suspicion.note)
    return named[1].lower() if named else suspicion.note


def _marker_suspicions(statement: str, passage: Passage, is_one_language: bool) -> Iterator[Suspicion]:
    near = select_relevant_sentences(statement, passage)
    said, quoted = find_markers(statement), find_markers(near)
    # A cause that the quote denies is no source of one.
    sentences = [s for s in _SENTENCE_END.split(passage.quoted) if not find_negations(parse_text(s))]
    asserted = "\n".join([*sentences, passage.title, passage.headings])
    for marker in load_markers():
        # "will" does not replace "will probably": the quote's other markers count by themselves.
        answers = marker.answers - (quoted.keys() - {marker.kind} if marker.kind in _SURE else set())
        is_dropped = marker.is_kept and marker.kind in quoted and not answers & said.keys()
        if is_dropped and not _is_about_other_words(marker, statement, near, is_one_language):
            yield Suspicion(marker.kind, f"the quote says '{quoted[marker.kind]}', the statement does not")
        source = asserted if marker.kind in _IN_QUOTE else passage.everything
        is_said = marker.needs_source and marker.kind in said
        if (
            is_said
            and not _is_quoted(said[marker.kind], passage)
            and not find_markers(source, marker.answers)
        ):
            yield Suspicion(marker.kind, f"the statement says '{said[marker.kind]}', its source does not")


def _is_quoted(word: str, passage: Passage) -> bool:
    return word.lower() in passage.quoted.lower()


def _is_about_other_words(marker: Marker, statement: str, near: str, is_one_language: bool) -> bool:
    """Tell whether the clauses of the quote with this marker are about things the statement leaves out.

    A condition or an exception is about its whole sentence. Across languages only figures are compared.
    """
    clauses = _split_clauses(near, _SENTENCE_END if marker.kind in _OF_SENTENCES else _CLAUSE_END)
    marked = [clause for clause in clauses if marker.pattern.search(clause.lower())]
    others = [clause for clause in clauses if clause not in marked]
    values = find_figures_outside_dates(statement)
    shared = [_count_shared_figures(values, some) for some in (marked, others)]
    if not is_one_language:
        return bool(values) and not shared[0] and marker.kind not in _IN_QUOTE
    words = parse_text(statement)
    mine, rest = (max((_count_shared_words(words, c) for c in some), default=0) for some in (marked, others))
    return bool(others) and (not mine or (rest >= 2 * mine and not shared[0]))


def _split_clauses(text: str, cut: re.Pattern[str]) -> list[str]:
    ends = [*(match.start() for match in cut.finditer(text)), len(text)]
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _count_shared_figures(values: Sequence[Figure], clauses: Sequence[str]) -> int:
    return sum(
        any(is_same_figure(f, other) for clause in clauses for other in find_figures(clause)) for f in values
    )


def _count_shared_words(said: ParsedText, clause: str) -> int:
    return sum(said.has(key) for key in parse_text(clause).keys)


def select_relevant_sentences(statement: str, passage: Passage) -> str:
    """Return the quoted sentences that share figures or words with the statement."""
    parts = [part for part in re.split(r"(?<=[.!?。])\s+|\n+", passage.quoted) if part.strip()]
    if len(parts) <= 1:
        return passage.quoted
    said, values = parse_text(statement), find_figures(statement)
    scored = []
    for part in parts:
        shared = sum(any(is_same_figure(f, other) for other in find_figures(part)) for f in values)
        words = sum(said.has(word.key) for word in parse_text(part).content_words)
        scored.append((shared * 2 + words, part))
    best = max(score for score, _ in scored)
    if not best:
        return passage.quoted
    return "\n".join(part for score, part in scored if score >= max(1, best / 2))


def _pole_suspicions(statement: str, passage: Passage) -> Iterator[Suspicion]:
    """Find reversals: the statement says "rose" where the quote only says "fell"."""
    low, quoted = statement.lower(), select_relevant_sentences(statement, passage).lower()
    for one, other in load_opposites().values():
        mine, against = one.search(low), other.search(low)
        theirs, opposite = one.search(quoted), other.search(quoted)
        if mine and not against and opposite and not theirs:
            yield Suspicion("direction", f"it says '{mine.group()}', the quote says '{opposite.group()}'")
        if against and not mine and theirs and not opposite:
            yield Suspicion("direction", f"it says '{against.group()}', the quote says '{theirs.group()}'")


def _speaker_suspicions(statement: str, passage: Passage) -> Iterator[Suspicion]:
    low, quoted = statement.lower(), passage.quoted.lower()
    are_many = load_phrase_pattern("many_speakers").search(low) and not load_phrase_pattern(
        "many_speakers"
    ).search(quoted)
    if are_many and load_phrase_pattern("one_speaker").search(quoted):
        yield Suspicion("speaker", "one person says it in the quote, several in the statement")
    other = load_phrase_pattern("other_speaker").search(quoted)
    is_spoken = load_phrase_pattern("spoken").search(low) and not load_phrase_pattern("many_speakers").search(
        low
    )
    if other and is_spoken and other.group() not in low:
        yield Suspicion("speaker", f"in the quote it is '{other.group()}' who say so")
    if (limit := load_phrase_pattern("limited").search(quoted)) and limit.group().split()[-1] not in low:
        yield Suspicion("scope", f"the quote is about '{limit.group()}' only")


def _name_suspicions(statement: str, passage: Passage) -> Iterator[Suspicion]:
    wanted = [
        n.removesuffix("'s").removesuffix("’s")
        for n in (*find_name_words(statement), *_first_names(statement))
        if len(n) > 1 and n.lower() not in UNITS and not find_figures(n)
    ]
    missing = [
        n for n in find_missing_names(dict.fromkeys(wanted), [passage.everything]) if not _MONTH.match(n)
    ]
    low = passage.everything.lower()
    missing = [n for n in missing if n.lower() not in low and not _is_everyday(n)]
    missing = [n for n in missing if not (n[1:].islower() and re.search(rf"\b{n[:4].lower()}", low))]
    if has_cjk(passage.everything) and not has_cjk(statement):
        missing = [n for n in missing if n.isupper() or not sounds_like_any(n, passage.everything)]
    for name in missing:
        yield Suspicion("name", f"'{name}' is not in the source")


def _is_everyday(word: str) -> bool:
    """Tell whether a capitalized word is plain English, as in a heading or at the start of a cell."""
    return word[1:].replace("-", "").islower() and all(
        word_rarity(part) <= _EVERYDAY for part in word.lower().split("-")
    )


def _first_names(statement: str) -> list[str]:
    """Return capitalized words that start a sentence: any of them may be a name."""
    rows = [match[1].split() for match in _SENTENCE_START.finditer(statement)]
    return [
        word
        for words in rows
        for word in words
        if word.lower() not in STOP_WORDS and not word.endswith("ing")
    ]


def _is_telling(kind: str, why: str, said: ParsedText, passage: Passage) -> bool:
    """Tell whether a finding of the strict rules says enough for a verifier to check."""
    words = why.lower().split("'")
    if kind == "a negation":  # where both deny something, words alone do not tell what
        return not (find_negations(said) and find_negations(parse_text(passage.quoted)))
    if kind == "a direction":
        return not _TURNING & set(words) and words[1] not in passage.quoted.lower()
    if kind == "its scope":
        return why.startswith("it leaves out")
    if kind == "a hedge":  # who says so is no hedge
        return "reported" not in find_markers(words[1], {"reported"})
    if why.startswith("nothing in"):
        known = parse_text(passage.everything)
        is_known = any(known.has(key) for key in parse_text(words[1]).keys)
        return not is_known and not find_figures(why) and not has_cjk(why)
    return True


def _wording_suspicions(statement: str, passage: Passage) -> Iterator[Suspicion]:
    """Compare word by word if the statement keeps the quote's wording."""
    said = parse_text(statement)
    shared = measure_coverage(said, [parse_text(quote) for quote in passage.quotes])
    if shared >= _CLOSE_WORDING:
        found = find_flaws_by_kind(statement, [quote[:_LONG] for quote in passage.quotes])
        near_copy = ("a negation", "a conclusion", "a hedge") if shared >= _COPIED else ()
        kinds = ("a direction", "other words", "its scope", *near_copy)
        for kind in kinds if len(said.content_words) > _SHORT else ("who and what", *kinds):
            for why in found.get(kind, []):
                if _is_telling(kind, why, said, passage):
                    yield Suspicion(kind, why)
