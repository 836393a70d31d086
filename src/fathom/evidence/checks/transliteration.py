"""Match Korean spellings of foreign names, and find a figure or a denial given to another name.

Names are compared by their consonants: 토르비크 and Torvik are both t-r-b-k. A Korean statement about an
English quote shares no words with it, but names and figures.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from fathom.evidence.checks.derivation import Passage, find_figures_outside_dates, is_same_figure
from fathom.evidence.checks.lexicon import load_exonyms
from fathom.evidence.checks.words import parse_text, particle_role
from fathom.text.mentions import find_name_words
from fathom.text.tokens import has_cjk

_ONSETS = "k k n t t r m b b s s - c c c k t p h".split()  # noqa: SIM905
_CODAS = "- k k k n n n t r k m r r r p r m p p s s n c c k t p h".split()  # noqa: SIM905
_LATIN = {
    "ng": "n",
    "ph": "p", "sh": "s", "ch": "c", "th": "t", "ck": "k", "g": "k", "q": "k", "x": "ks", "d": "t", "l": "r",
    "v": "b", "f": "p", "j": "c", "z": "c", "w": "", "y": "", "h": "", "c": "k",
}  # fmt: skip
_SOUND = re.compile("|".join([*sorted(_LATIN, key=len, reverse=True), "[a-z]"]))
_LEAST_SOUNDS = 2
_FIRST_WORDS = 3
_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")
_CLAUSE = re.compile(r"[,;]\s|\s(?:and|while|but|whereas)\s|(?<=[고며])\s|(?<=지만),?\s")
_AGENT = re.compile(
    r"\b(?:is|are|was|were|been|being|be) (?:\w+ ){0,2}?\w+ by (?:the )?([A-Z][\w-]*(?: [A-Z][\w-]*){0,4})"
)
_LEADS = re.compile(r"(?:(?:in|on|by|after|since|during) [^,]{0,30},? )?(?:the )?$", re.IGNORECASE)


@lru_cache(maxsize=4096)
def sounds_of(word: str) -> str:
    """Return the consonants of a word in either script, equal neighbours once."""
    found: list[str] = []
    for letter in word.lower():
        code = ord(letter) - 0xAC00
        if 0 <= code < 11172:
            found += [_ONSETS[code // 588], _CODAS[code % 28]]
    if not found:
        found = [
            _LATIN.get(part, part if part not in "aeiou" else "") for part in _SOUND.findall(word.lower())
        ]
    return re.sub(r"(.)\1+", r"\1", "".join(found).replace("-", "").replace("h", "").replace("c", "s"))


def find_names_given_to_others(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Yield figures and denials that the quote gives to another name, as (kind, note)."""
    if not has_cjk(statement) or has_cjk(passage.quoted):
        return
    names = {name: sounds_of(name) for name in dict.fromkeys(find_name_words(f"– {passage.quoted}"))}
    names = {name: sounds for name, sounds in names.items() if len(sounds) >= _LEAST_SOUNDS}
    sentences = [part for part in _SENTENCE.split(passage.quoted) if part.strip()]
    yield from _figures_of_others(statement, sentences, names)
    yield from _agents_as_objects(statement, passage.quoted)
    yield from _subjects_as_objects(statement, sentences, names)


def _figures_of_others(
    statement: str, sentences: list[str], names: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    clauses = [clause for sentence in sentences for clause in _CLAUSE.split(sentence)]
    for said in _CLAUSE.split(statement):
        mine = _named_in_korean(said, names)
        for figure in find_figures_outside_dates(said) if mine else ():
            holders = [
                c for c in clauses if any(is_same_figure(figure, f) for f in find_figures_outside_dates(c))
            ]
            theirs = {name for clause in holders for name in names if name in clause}
            if len(holders) == 1 and theirs and not theirs & mine:
                yield "figure", f"in the quote '{figure.text}' is said of '{min(theirs)}', not '{min(mine)}'"


def _agents_as_objects(statement: str, quoted: str) -> Iterator[tuple[str, str]]:
    """Find "A bought B" where the quote says "A was bought by B"."""
    objects = [sounds_of(word.key) for word in parse_text(statement).words if word.particle in {"을", "를"}]
    for match in _AGENT.finditer(quoted):
        if any(
            sounds_of(name) in objects for name in match[1].split() if len(sounds_of(name)) >= _LEAST_SOUNDS
        ):
            yield (
                "who and what",
                f"in the quote '{match[1].strip()}' does it, in the statement it is done to it",
            )


def _subjects_as_objects(
    statement: str, sentences: list[str], names: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Find "B sold to A" where the quote says "A sold to B"."""
    roles = {
        sounds_of(word.key): particle_role(word) for word in parse_text(statement).words if word.particle
    }
    for sentence in sentences:
        placed = sorted((sentence.index(name), name) for name in names if name in sentence)
        stated = [(name, roles[names[name]]) for _, name in placed if names[name] in roles]
        if len(stated) < 2 or " by " in sentence or not _LEADS.match(sentence[: placed[0][0]]):
            continue
        (subject, role), others = stated[0], stated[1:]
        doer = next((name for name, other in others if other == "이"), "")
        if subject == placed[0][1] and role in {"을", "에", "에게"} and doer:
            yield "who and what", f"in the quote it is '{subject}' who does it, not '{doer}'"


def sounds_like_any(name: str, text: str) -> bool:
    """Tell whether a Korean text has a word that sounds like a name, or names it in its own letters."""
    sounds = sounds_of(name)
    return (
        len(sounds) < _LEAST_SOUNDS
        or name.lower() in load_exonyms()
        or any(
            sounds_of(word.text).startswith(sounds) for word in parse_text(text).words if has_cjk(word.text)
        )
    )


def _named_in_korean(text: str, names: Mapping[str, str]) -> set[str]:
    """Return the names that a Korean text spells; short ones only in its first words."""
    words = [word for word in parse_text(text).words if has_cjk(word.text)]
    heard = [sounds_of(word.key if word.particle else word.text) for word in words]
    return {
        name
        for name, sounds in names.items()
        if sounds in (heard if len(sounds) > _LEAST_SOUNDS else heard[:_FIRST_WORDS])
    }
