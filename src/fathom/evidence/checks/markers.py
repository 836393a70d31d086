"""Find what a statement drops or adds around a claim: hedges, limits, conditions, causes, duties, speakers.

The small words are in `lexicon/markers.toml`, by kind, so that an English quote and a Korean statement can be
compared. A dropped word counts only where it stands in a clause of the quote that the statement uses; an
added one only if neither the quote nor, for most kinds, its context has one of that kind.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from fathom.evidence.checks import (
    ParsedText,
    has_phrase,
    is_same_word,
    load_table,
    parse_text,
    phrase_pattern,
)
from fathom.evidence.checks.dates import find_dates
from fathom.evidence.checks.derivation import Passage, find_figures_outside_dates, is_same_figure
from fathom.evidence.checks.figures import Figure, find_figures
from fathom.text.tokens import has_cjk

_NEVER = r"(?!)"
_ENGLISH = re.compile(r"[a-z]{2}")
_CODE = re.compile(r"`[^`]{1,80}`")  # a value called "draft" is no draft
_PURPOSE = re.compile(r"\bso that [^.;]{0,60}?\b(?:could|can|may|might)\b")
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+|\n+")
_CLAUSE_END = re.compile(
    r"[,;:]\s|\.\s|\n|\s(?:and|but|while|which|though)\s|(?<![라다]고)(?<=[고며]),?\s|(?<=지만),?\s|(?<=으나),?\s"
)
_OF_SENTENCES = frozenset({"condition", "exception", "unless", "reported"})  # about their whole sentence
_DENIED_BEFORE = re.compile(r"\b(?:not|no|never|without|nor)\b[^,.;]{0,20}$")
_DENIED_AFTER = re.compile(r"[^,.;]{0,25}(?:지 (?:않|못)|[수순] 없|어렵|아니|없[다었으는])")
_SURE = frozenset({"possible"})
_FRONTED = re.compile(
    r"^(?P<word>in|across|within|throughout|among|amongst|during|under|for|when|at|on|of)\s(?P<rest>[^,]{3,60}),\s",
    re.IGNORECASE,
)

_IN_A_PLACE = re.compile(r"\b(?:in|across|throughout|within) (?:the )?((?:[A-Z][\w-]+)(?: [A-Z][\w-]+)*)")
_KOREAN_SCOPE = re.compile(
    r"(?<!\w)(\w+)(?:에서는|에게는|에겐|에선|의 경우|에 한해|동안에?는?)(?=\s|,)|((?<!\d)\d+세 이(?:상"
    r"|하))(?:에서|의|에게|은|는)?|"
    r"^([가-힣]{2,})(?:에서|동안)(?=\s)"
)
_YEARLY = re.compile(r"\b(?:every|each) year\b|매년|해마다")


@dataclass(frozen=True)
class Marker:
    """One kind of marker, and which differences between statement and evidence are suspicious."""

    kind: str
    english: re.Pattern[str]
    korean: re.Pattern[str]
    is_kept: bool  # a marker of the quote must be in the statement
    needs_source: bool  # a marker of the statement must be in the evidence
    is_strong: bool  # and in the quote itself: elsewhere on the page is not enough
    answers: frozenset[str]  # kinds that can replace it

    def find_in(self, low: str, has_english: bool = True) -> re.Match[str] | None:
        """Return the first marker in a text in lower case, if any; in each language only where it is used."""
        found = self.english.search(low) if has_english else None
        return found or (None if low.isascii() else self.korean.search(low))


@cache
def load_markers() -> tuple[Marker, ...]:
    """Return every kind of marker in the lexicon."""
    table = load_table("markers")
    return tuple(
        Marker(
            kind,
            re.compile(entry.get("en", _NEVER)),
            re.compile(entry.get("ko", _NEVER)),
            entry.get("keep", False),
            entry.get("add", False),
            entry.get("strong", False),
            frozenset({kind, *entry.get("or", [])}),
        )
        for kind, entry in table.items()
    )


@lru_cache(maxsize=1024)
def find_markers(text: str, kinds: frozenset[str] | None = None) -> dict[str, str]:
    """Return the kinds of markers in a text, all or some of them, each with its first word."""
    low = _PURPOSE.sub(" ", _CODE.sub(" ", text.lower()).replace("_", " "))  # "_not_" is an emphasized "not"
    has_english = _ENGLISH.search(low) is not None
    markers = (marker for marker in load_markers() if kinds is None or marker.kind in kinds)
    found = ((marker.kind, marker.find_in(low, has_english)) for marker in markers)
    return {kind: match.group().strip() for kind, match in found if match}


def find_changed_markers(
    statement: str, passage: Passage, skip: Collection[str] = ()
) -> Iterator[tuple[str, str]]:
    """Yield the markers that the statement drops or adds, as (kind, note)."""
    is_one_language = has_cjk(statement) == has_cjk(passage.quoted)
    near = select_relevant_sentences(statement, passage.quoted)
    said, quoted = find_markers(statement), find_markers(near)
    asserted = "\n".join([passage.quoted, passage.title, passage.headings])
    for marker in (marker for marker in load_markers() if marker.kind not in skip):
        # "will" does not replace "will probably": the quote's other markers count by themselves.
        answers = marker.answers - (quoted.keys() - {marker.kind} if marker.kind in _SURE else set())
        is_dropped = marker.is_kept and marker.kind in quoted and not answers & said.keys()
        if is_dropped and not _is_about_other_words(marker, statement, near, is_one_language):
            yield marker.kind, f"the quote says '{quoted[marker.kind]}', the statement does not"
        source = asserted if marker.is_strong else passage.everything
        is_added = (
            marker.needs_source and marker.kind in said and not _is_denied(said[marker.kind], statement)
        )
        if "|" in passage.quoted and marker.kind == "superlative":
            continue  # a table need not say which of its figures is the largest
        if is_added and said[marker.kind] not in near.lower() and not find_markers(source, marker.answers):
            yield marker.kind, f"the statement says '{said[marker.kind]}', its source does not"


def _is_denied(word: str, statement: str) -> bool:
    """Tell whether the statement denies a word: "recommends, but does not require"."""
    before, _, after = statement.lower().partition(word)
    return bool(_DENIED_BEFORE.search(before) or _DENIED_AFTER.match(after))


def _is_about_other_words(marker: Marker, statement: str, near: str, is_one_language: bool) -> bool:
    """Tell whether the clauses of the quote with this marker are about things the statement leaves out."""
    clauses = _split_clauses(near, _SENTENCE_END if marker.kind in _OF_SENTENCES else _CLAUSE_END)
    marked = [clause for clause in clauses if marker.find_in(clause.lower())]
    others = [clause for clause in clauses if clause not in marked]
    values = find_figures_outside_dates(statement)
    shared = [_count_shared_figures(values, some) for some in (marked, others)]
    if not is_one_language:
        return bool(values) and not shared[0] and not marker.is_strong
    words = parse_text(statement)
    mine, rest = (max((count_shared_words(words, c) for c in some), default=0) for some in (marked, others))
    return bool(others) and (not mine or (rest >= 2 * mine and not shared[0]))


def _split_clauses(text: str, cut: re.Pattern[str]) -> list[str]:
    ends = [*(match.start() for match in cut.finditer(text)), len(text)]
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _count_shared_figures(values: Sequence[Figure], clauses: Sequence[str]) -> int:
    return sum(
        any(is_same_figure(f, other) for clause in clauses for other in find_figures(clause)) for f in values
    )


def count_shared_words(said: ParsedText, text: str) -> int:
    """Return how many content words of a text the statement has."""
    return sum(said.has(key) for key in parse_text(text).keys)


@lru_cache(maxsize=256)
def select_relevant_sentences(statement: str, quoted: str) -> str:
    """Return the quoted sentences that share figures or words with the statement."""
    parts = [part for part in _SENTENCE_END.split(quoted) if part.strip()]
    if len(parts) <= 1:
        return quoted
    said, values = parse_text(statement), find_figures_outside_dates(statement)
    shared = [_count_shared_figures(values, [part]) for part in parts]
    scores = [2 * known + count_shared_words(said, part) for known, part in zip(shared, parts, strict=True)]
    least = max(1, max(scores) / 2)
    chosen = [part for n, part in enumerate(parts) if shared[n] or scores[n] >= least]
    return "\n".join(chosen) or quoted


def find_dropped_scopes(said: ParsedText, quoted: Sequence[ParsedText]) -> list[str]:
    """Return which places, groups and times of the quotes the statement leaves out."""
    found = [
        why
        for text in quoted
        for why in (_find_korean_scopes if text.is_korean else _find_english_scopes)(said, text)
    ]
    return list(dict.fromkeys(found))


def _find_english_scopes(said: ParsedText, text: ParsedText) -> list[str]:
    """Return places, groups and times at the start of the quote or its figures that the statement drops."""
    found = []
    head = _FRONTED.match(text.text)
    is_left_out = head and not has_phrase("no_scope", head["rest"]) and not _is_kept(said, head["rest"])
    # A time may be left out, unless the statement is about every time.
    if head and is_left_out and (not find_dates(head.group()) or _YEARLY.search(said.low)):
        found.append(f"it leaves out '{head['word'].lower()} {head['rest']}'")
    if has_phrase("one_of_many", text.low) and has_phrase("one_of_many", said.low):
        places = [m.group(1) for m in _IN_A_PLACE.finditer(text.text)]
        groups = [m.group(1) for m in phrase_pattern("in_a_group").finditer(text.low)]
        kept = [phrase for phrase in [*places, *groups] if _is_kept(said, phrase)]
        if not kept:
            found += [f"it leaves out '{phrase}'" for phrase in [*places, *groups][:1]]
    return found


def _is_kept(said: ParsedText, phrase: str) -> bool:
    """Tell whether the statement has a word of the phrase."""
    part = parse_text(phrase)
    if any(figure.text in said.text for figure in find_figures(phrase)):
        return True
    return not part.content_words or any(said.has(word.key) for word in part.content_words)


def _find_korean_scopes(said: ParsedText, text: ParsedText) -> list[str]:
    found = []
    for match in _KOREAN_SCOPE.finditer(text.text):
        phrase = next(part for part in match.groups() if part)
        under = [w for w in text.content_words if w.start >= match.end()][:4]
        is_about_it = any(said.has(w.key) for w in under)
        if is_about_it and not _is_kept(said, phrase) and phrase not in said.text:
            found.append(f"it leaves out '{match.group().strip()}'")
    return found


_SPEECH_END = re.compile(r"(?<=[.!?。])[\"”']?\s+|\n+")
_ACCORDING = re.compile(r"\b(?:according to|in the view of)\s((?:[\w'’-]+\s?){1,5})", re.IGNORECASE)
_KOREAN_ACCORDING = re.compile(r"(?<![\w·])((?:[\w·]{1,30}\s){0,2}[\w·]{1,30})에 (?:따르면|의하면)")
_KOREAN_SUBJECT = re.compile(
    r"(?<![\w·])((?:[\w·]{1,30}\s){0,2}?[\w·]{1,30}?)(?:은|는|이|가|에선|에서는|측은)\s"
)
_PRONOUNS = frozenset("he she they it we i this that 그 이들 저 우리 필자 이 그들".split())  # noqa: SIM905
_PLURAL = re.compile(r"들(?:은|는|이|의|에)?$|(?<=[a-z])s$")


def find_other_speakers(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Yield a speaker of the quote who is another one in the statement, as (kind, note)."""
    if has_cjk(statement) != has_cjk(passage.quoted):
        return
    said, is_told = parse_text(statement), bool(_find_speakers(statement))
    for speaker in _find_speakers(passage.quoted):
        own = [word for word in parse_text(speaker).content_words if word.low not in _PRONOUNS]
        kept = [word for word in own if said.has(word.key)]
        if not own or (has_phrase("office", speaker) and not is_told):
            continue  # what an office publishes need not be told as its view
        if not kept:
            yield "speaker", f"in the quote it is '{speaker}' who says so"
        elif bool(_PLURAL.search(speaker)) != _is_plural(kept[-1].key, said):
            yield "speaker", f"in the quote it is '{speaker}', one or several, who says so"


def _is_plural(key: str, text: ParsedText) -> bool:
    return any(_PLURAL.search(word.low) for word in text.words if is_same_word(word.key, key))


def _find_speakers(text: str) -> list[str]:
    """Return the speakers that a text names, each a few words that end in their noun."""
    found, last = [], ""
    for sentence in filter(None, _SPEECH_END.split(text)):
        first = _KOREAN_SUBJECT.match(sentence)
        if named := _KOREAN_ACCORDING.search(sentence) or _ACCORDING.search(sentence):
            found.append(named[1].strip())
        elif has_cjk(sentence):
            verb = phrase_pattern("said_ko").search(sentence)
            subject = _KOREAN_SUBJECT.search(sentence, 0, verb.start() + 2) if verb else None
            found += [last if subject[1] in _PRONOUNS else subject[1]] if subject else []
        elif verb := phrase_pattern("said_en").search(sentence):
            parts = re.split(r"[,;:]\s", sentence[: verb.start()])
            clause = parts[-1] or parts[max(-3, -len(parts))]  # "Nordwind, a ship builder, said"
            found.append(" ".join(clause.split()[-4:]))
        last = first[1] if first else last
    return [speaker for speaker in found if speaker]
