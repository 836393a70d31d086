"""Reading a question without a model: its parts, its names, and what it leads to.

Does not know search or pages.
"""

import re
from collections import Counter
from collections.abc import Sequence

from fathom.evidence.asking import sides_of
from fathom.evidence.facts import names
from fathom.text.normal import is_korean, one_line
from fathom.text.tokens import STOP_WORDS

_ASKING = (
    "how|what|why|when|where|which|who|whom|whose|does|do|did|is|are|was|were|can|could|should|has|have|will"
)
_NEXT_PART = re.compile(
    rf"[,;]?\s+(?:and|or|but)\s+(?=(?:{_ASKING})\b)|,\s+(?=(?:how|what|why|when|where|which|who)\b)|;\s+|\s+그리고\s+",
    re.IGNORECASE,
)
_PHRASE = re.compile(r"\b(?:[A-Z][\w.]*[A-Za-z0-9](?:\s+[A-Z][\w.]*[A-Za-z0-9])*)\b|\b\w+_\w+\b")
_IS_ASKING = re.compile(rf"(?:{_ASKING})\b", re.IGNORECASE)
_MOST_PARTS = 4


def parts_of(question: str) -> list[str]:
    """The questions inside a question, each able to stand alone; a comparison asks for both sides too."""
    whole = one_line(question)
    pieces = [p for sentence in re.split(r"(?<=[?？])\s+", whole) for p in _NEXT_PART.split(sentence)]
    parts = [_asked(piece) for piece in pieces if len(piece.split()) >= 2 or len(piece) >= 6]
    parts = [part for part in parts if part]
    parts = [_named(part, parts[0]) for part in parts]
    if not is_korean(whole) and (sides := sides_of(whole)):
        parts = [_asked(whole), *(f"What is {side}?" for side in sides)]
    return list(dict.fromkeys(parts))[:_MOST_PARTS] or [whole]


def _named(part: str, first: str) -> str:
    """A part that says "it" with the first name of the part before it, so that it can stand alone."""
    subject = next(iter(names(first)), "")
    if not subject or part == first or names(part):
        return part
    return re.sub(r"\b(?:it|they|he|she)\b", subject, part, count=1)


def _asked(piece: str) -> str:
    words = re.sub(r"^(?:and|or|but|그리고|또한|또)\s+", "", piece.strip(), flags=re.IGNORECASE)
    words = words.rstrip("?？.;,").strip()
    mark = "?" if "?" in piece or "？" in piece or _IS_ASKING.match(words) else ""
    return f"{words[:1].upper()}{words[1:]}{mark}" if words else ""


def with_topic(part: str, question: str) -> str:
    """A part as a query: with the names of the whole question, which a pronoun may stand for."""
    missing = [name for name in names(question) if name.lower() not in part.lower()]
    return " ".join([part.rstrip("?"), *dict.fromkeys(missing)])


def bridges(texts: Sequence[str], known: str, most: int) -> list[str]:
    """Names that several texts use and the question does not: what it may be worth asking about next."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update({found.group() for found in _PHRASE.finditer(text) if not _is_opening(found)})
    seen = known.lower()
    ranked = [name for name, n in counts.most_common() if n >= 2 and _is_telling(name, seen)]
    return ranked[:most]


def _is_opening(found: re.Match[str]) -> bool:
    return found.start() == 0 and " " not in found.group() and "_" not in found.group()


def _is_telling(name: str, known: str) -> bool:
    return len(name) > 3 and name.lower() not in known and name.lower() not in STOP_WORDS
