"""What code finds odd about a statement and its evidence, for the verifier to look at.

A suspicion never refuses anything: it is shown to the verifier beside the claim, and the verifier decides.
Only figures and dates that cannot be derived are refused by code (`derivation`).
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fathom.evidence.dates import dates
from fathom.evidence.derivation import Passage, is_same
from fathom.evidence.facts import names, unnamed
from fathom.evidence.figures import Figure, figures
from fathom.evidence.flaws import flaws_by_kind
from fathom.evidence.markers import find_markers, markers
from fathom.evidence.words import covered, parsed
from fathom.text.tokens import STOP_WORDS, has_paired_script

_IN_QUOTE = frozenset({"cause", "proof"})  # strong words: a word for them elsewhere on the page is not enough
_CLOSE_WORDING = 0.5  # of the statement's words are the quote's: then single words can be compared
_SHORT = 12  # telling words: in longer statements clauses are re-ordered, and nobody has changed places
_FAR = 0.25  # of its words are in quote and context together
_MONTH = re.compile(r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*$")
_SENTENCE_START = re.compile(r"(?:^|[.!?]\s+)((?:[A-Z][\w'’-]+\s+){1,4}[A-Z][\w'’-]+|[A-Z][a-z'’-]{3,})")


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """A pattern of `lexicon/phrases.toml`, over lower-case text."""
    table = tomllib.loads(files("fathom.evidence").joinpath("lexicon/phrases.toml").read_text("utf-8"))
    return re.compile(table[name])


@dataclass(frozen=True)
class Suspicion:
    """One odd thing: what it is about, and a short note for the verifier."""

    kind: str
    note: str


def find_suspicions(statement: str, passage: Passage) -> list[Suspicion]:
    """Return what is odd about a statement, given its quotes and their context; often nothing."""
    is_one_language = has_paired_script(statement) == has_paired_script(passage.quoted)
    found = [*_marker_suspicions(statement, passage), *_figure_suspicions(statement, passage)]
    found += [*_speaker_suspicions(statement, passage), *_name_suspicions(statement, passage)]
    if is_one_language:
        found += _wording_suspicions(statement, passage)
    return list({suspicion.note: suspicion for suspicion in found}.values())


def _marker_suspicions(statement: str, passage: Passage) -> Iterator[Suspicion]:
    near = bearing_text(statement, passage)
    said, quoted, told = find_markers(statement), find_markers(near), find_markers(passage.everything)
    for marker in markers():
        if marker.is_kept and marker.kind in quoted and not marker.answers & said.keys():
            yield Suspicion(marker.kind, f"the quote says '{quoted[marker.kind]}', the statement does not")
        source = quoted if marker.kind in _IN_QUOTE else told
        if marker.needs_source and marker.kind in said and not marker.answers & source.keys():
            yield Suspicion(marker.kind, f"the statement says '{said[marker.kind]}', its source does not")


def bearing_text(statement: str, passage: Passage) -> str:
    """Return the sentences of the quotes that the statement rests on: those that share figures or words."""
    parts = [part for quote in passage.quotes for part in _sentences(quote)]
    if len(parts) <= 1:
        return passage.quoted
    said, values = parsed(statement), figures(statement)
    scored = []
    for part in parts:
        shared = sum(any(is_same(f, other) for other in figures(part)) for f in values)
        words = sum(said.has(word.key) for word in parsed(part).telling)
        scored.append((shared * 2 + words, part))
    best = max(score for score, _ in scored)
    if not best:
        return passage.quoted
    return "\n".join(part for score, part in scored if score >= max(1, best / 2))


def _sentences(text: str) -> list[str]:
    parts = re.split(r"(?<=[.!?。])\s+|\n+", text)
    return [part for part in parts if part.strip()]


def _figure_suspicions(statement: str, passage: Passage) -> Iterator[Suspicion]:
    quoted = [(figure, quote) for quote in passage.quotes for figure in figures(quote)]
    for figure in _free_figures(statement):
        same = [(other, quote) for other, quote in quoted if is_same(figure, other)]
        if not same:
            continue
        if figure.dimension and all(_is_other_unit(figure, other) for other, _ in same):
            yield Suspicion("unit", f"'{figure.text}' has another unit in the quote: '{same[0][0].text}'")
        if _is_level(figure, statement) and all(_is_change(other, quote) for other, quote in same):
            yield Suspicion("figure", f"'{figure.text}' is a change in the quote, not a value")
    yield from _swapped_rows(statement, passage)


def _is_other_unit(figure: Figure, other: Figure) -> bool:
    return bool(other.dimension) and {figure.dimension, other.dimension} == {"percent", "points"}


def _is_change(figure: Figure, text: str) -> bool:
    return bool(
        _pattern("change_after").match(text[figure.end :])
        or _pattern("change_before").search(text[: figure.start].lower())
    )


def _is_level(figure: Figure, text: str) -> bool:
    after, before = text[figure.end :], text[: figure.start]
    is_change = _pattern("change_after").match(after) or _pattern("change_before").search(before.lower())
    if is_change or _pattern("change_named").search(before):
        return False
    return bool(_pattern("level_after").match(after) or _pattern("level_before").search(before.lower()))


def _swapped_rows(statement: str, passage: Passage) -> Iterator[Suspicion]:
    """Find two figures that have changed places: each stands with the other's words in the quote."""
    rows = [row for quote in passage.quotes for row in quote.splitlines() if row.strip()]
    if len(rows) < 2:
        rows = [row for quote in passage.quotes for row in _clauses(quote)]
    owners = [_labels(row) for row in rows]
    strangers: dict[tuple[int, int], str] = {}  # (the row its words are in, the row its figure is in)
    for clause in _clauses(statement):
        scores = [len(_labels(clause) & _unique(owners, place)) for place in range(len(rows))]
        if not any(scores) or scores.count(max(scores)) > 1:
            continue
        own = scores.index(max(scores))
        for figure in _free_figures(clause):
            places = [n for n, row in enumerate(rows) if any(is_same(figure, f) for f in figures(row))]
            if len(places) == 1 and places[0] != own:
                strangers[own, places[0]] = figure.text
    for (own, other), text in strangers.items():
        if (other, own) in strangers and own < other:
            yield Suspicion("figure", f"'{text}' and '{strangers[other, own]}' have changed places")


def _free_figures(text: str) -> list[Figure]:
    """The figures that are no dates and no parts of a range such as "30~34"."""
    taken = [(date.start, date.end) for date in dates(text)]
    taken += [match.span() for match in re.finditer(r"\d+\s?[~–-]\s?\d+\S*", text)]
    return [f for f in figures(text) if not any(f.start < end and start < f.end for start, end in taken)]


def _clauses(text: str) -> list[str]:
    parts = re.split(r"[,;.]\s|\s(?:and|while|but|whereas)\s|(?<=[고며])\s|(?<=지만)\s|,(?=\s)", text)
    return [part for part in parts if part and part.strip()]


def _labels(text: str) -> set[str]:
    """The words of a row, and ranges such as "30~34"."""
    words = {word.key for word in parsed(text).telling}
    return words | set(re.findall(r"\d+\s?[~–-]\s?\d+", text))


def _unique(owners: Sequence[set[str]], place: int) -> set[str]:
    others = set().union(*(own for n, own in enumerate(owners) if n != place))
    return owners[place] - others


def _speaker_suspicions(statement: str, passage: Passage) -> Iterator[Suspicion]:
    low, quoted = statement.lower(), passage.quoted.lower()
    are_many = _pattern("many_speakers").search(low) and not _pattern("many_speakers").search(quoted)
    if are_many and _pattern("one_speaker").search(quoted):
        yield Suspicion("speaker", "one person says it in the quote, several in the statement")
    other = _pattern("other_speaker").search(quoted)
    is_spoken = _pattern("spoken").search(low) and not _pattern("many_speakers").search(low)
    if other and is_spoken and other.group() not in low:
        yield Suspicion("speaker", f"in the quote it is '{other.group()}' who say so")
    if (limit := _pattern("limited").search(quoted)) and limit.group().split()[-1] not in low:
        yield Suspicion("scope", f"the quote is about '{limit.group()}' only")


def _name_suspicions(statement: str, passage: Passage) -> Iterator[Suspicion]:
    wanted = [*names(statement), *_first_names(statement)]
    missing = [n for n in unnamed(dict.fromkeys(wanted), [passage.everything]) if not _MONTH.match(n)]
    if has_paired_script(passage.everything) and not has_paired_script(statement):
        missing = [name for name in missing if name.isupper()]
    for name in missing:
        yield Suspicion("name", f"'{name}' is not in the source")


def _first_names(statement: str) -> list[str]:
    """The words that begin a sentence with a capital: any of them may be a name."""
    rows = [match[1].split() for match in _SENTENCE_START.finditer(statement)]
    return [word for words in rows for word in words if word.lower() not in STOP_WORDS]


def _wording_suspicions(statement: str, passage: Passage) -> Iterator[Suspicion]:
    """Compare word by word where the statement keeps the quote's wording; else ask whether it is near."""
    said = parsed(statement)
    if covered(said, [parsed(quote) for quote in passage.quotes]) >= _CLOSE_WORDING:
        found = flaws_by_kind(statement, passage.quotes)
        kinds = ("a direction", "other words", "a negation", "a hedge", "its scope", "a conclusion")
        for kind in kinds if len(said.telling) > _SHORT else ("who and what", *kinds):
            for why in found.get(kind, []):
                yield Suspicion(kind, why)
    elif len(said.keys) >= 4 and covered(said, [parsed(passage.everything)]) < _FAR:
        yield Suspicion("other words", "hardly any of its words are in the source")
