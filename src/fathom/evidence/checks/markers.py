"""Find small words that a statement drops or adds: hedges, limits, conditions, exceptions, causes, duties.

The words are in `lexicon/markers.toml`, by kind, so that an English quote and a Korean statement can be
compared. A dropped word counts only where it stands in a clause of the quote that the statement uses; an
added one only if neither the quote nor, for most kinds, its context has one of that kind.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from fathom.evidence.checks.dates import find_dates
from fathom.evidence.checks.derivation import Passage, find_figures_outside_dates, is_same_figure
from fathom.evidence.checks.figures import Figure, find_figures
from fathom.evidence.checks.lexicon import Marker, find_markers, load_markers
from fathom.evidence.checks.words import ParsedText, parse_text
from fathom.text.tokens import has_cjk

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

_NO_SCOPE = re.compile(
    r"^(?:addition|fact|contrast|particular|general|short|other words|the end|example|instance|turn"
    r"|response|practice|total"
    r"|brief|summary|conclusion|theory|principle|his|her|their|its|this|that|these|all|both|a statement"
    r"|an interview"
    r"|the other hand|average|the whole|course|the same time|first|last|once|the time)\b",
    re.IGNORECASE,
)
_IN_A_PLACE = re.compile(r"\b(?:in|across|throughout|within) (?:the )?((?:[A-Z][\w-]+)(?: [A-Z][\w-]+)*)")
_IN_A_GROUP = re.compile(
    r"\b(?:among|amongst|in|for|of) ((?:\w+ ){0,2}?(?:adults?|children|women|men|patients|infants"
    r"|people|teenagers|students|elderly"
    r"|smokers|workers|drivers|households)(?: (?:over|under|aged|with|who|above|below) [\w-]+)?)"
)
_ONE_OF_MANY = re.compile(
    r"\b(?:most|many|majority|half|some|few|all|percent|per cent|average|typical|rate|share)\b|%"
)
_KOREAN_SCOPE = re.compile(
    r"(?<!\w)(\w+)(?:에서는|에게는|에겐|에선|의 경우|에 한해|동안에?는?)(?=\s|,)|((?<!\d)\d+세 이(?:상"
    r"|하))(?:에서|의|에게|은|는)?|"
    r"^([가-힣]{2,})(?:에서|동안)(?=\s)"
)
_YEARLY = re.compile(r"\b(?:every|each) year\b|매년|해마다")


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
    is_left_out = head and not _NO_SCOPE.match(head["rest"]) and not _is_kept(said, head["rest"])
    # A time may be left out, unless the statement is about every time.
    if head and is_left_out and (not find_dates(head.group()) or _YEARLY.search(said.low)):
        found.append(f"it leaves out '{head['word'].lower()} {head['rest']}'")
    if _ONE_OF_MANY.search(text.low) and _ONE_OF_MANY.search(said.low):
        places = [m.group(1) for m in _IN_A_PLACE.finditer(text.text)]
        groups = [m.group(1) for m in _IN_A_GROUP.finditer(text.low)]
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
