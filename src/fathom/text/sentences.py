"""Split text into sentences with positions, in Latin, Korean, Chinese and Japanese scripts.

Headings, code, tables and list marks are left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fathom.text.tokens import has_cjk, load_words

MAX_PASSAGE_CHARS = 1200
_ENOUGH_CHARS = 700


def split_passages(text: str, *, max_chars: int = MAX_PASSAGE_CHARS) -> Iterator[str]:
    """Yield neighbouring blocks joined up to the limit; a heading stays with what follows."""
    open_blocks: list[str] = []
    size = 0
    for block in _small_blocks(text, max_chars):
        starts_section = block.startswith("#") and size >= _ENOUGH_CHARS
        if open_blocks and (size + len(block) > max_chars or starts_section):
            yield "\n\n".join(open_blocks)
            open_blocks, size = [], 0
        open_blocks.append(block)
        size += len(block) + 2
    if open_blocks:
        yield "\n\n".join(open_blocks)


def _small_blocks(text: str, max_chars: int) -> Iterator[str]:
    for block in text.split("\n\n"):
        while len(block) > max_chars:
            cut = _cut_position(block, max_chars)
            yield block[:cut].strip()
            block = block[cut:].lstrip()
        if block.strip():
            yield block


def _cut_position(block: str, max_chars: int) -> int:
    """Return where to cut a long block: after a line, a sentence or a word, in this order."""
    for mark in ("\n", ". ", " "):
        at = block.rfind(mark, max_chars // 2, max_chars)
        if at > 0:
            return at + len(mark)
    return max_chars


_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|am|has|have|had|does|do|did|can|could|will|would|shall|should|may|might|must|cannot)\b"
    r"|\w['’](?:s not|re|ll|ve)\b|n['’]t\b",
    re.IGNORECASE,
)

_BEFORE_A_NOUN = frozenset(load_words()["verbs"]["never_behind"].split())
_AFTER_A_VERB = re.compile(
    r"^(?:a|an|the|this|that|these|those|its|their|his|her|our|your|all|any|each|every|both|no|to|it|them|you|us|how"
    r"|what|whether|only|also|not|about|over|into|up|out|more|less|at|when|because|\d.*)$",
    re.IGNORECASE,
)
_NO_SUBJECT = re.compile(
    r"^[A-Z][a-z]+s (?:an?|the|if|whether|all|any|its|each|every|this|these|those|True|False|None)\b"
)
_LEADS_TO = re.compile(r"^[A-Z][a-z]+s (?:to|from|with)\b")
_ORDER = re.compile(
    rf"^(?:please |do not |don['’]t |never |always )?(?:{'|'.join(load_words()['verbs']['orders'].split())})"
    r" (?!of\b|is\b|are\b|was\b|were\b|and\b|or\b|in\b|by\b)",
    re.IGNORECASE,
)
DEPENDENT_OPENING = re.compile(
    r"^(?:(?:if|when|with|without|for|in|to|from|by)\s+)?(?:it|its|this|that|these|those|they|their|he|she|such|here)\b"
    r"|^(?:then|thus|therefore|hence|however|but|and|so|also|otherwise|instead|similarly|additionally)\b"
    r"|^(?:이는|이것은|이를|그것은|이러한|그러나|하지만|따라서|또한|이때|이로)"
    r"|^같은 (?:달|해|날|기관|연구소|기사)",
    re.IGNORECASE,
)
_KOREAN_END = re.compile(r"(?:다|요|죠|까|음|함|됨|임|있음|없음)[.!?。！？]*[\"'”’)\]」』]*$")
_PAIR = re.compile(r"[A-Za-z][\w'’-]*|\d[\d.,]*")


def _list_forms(base: str) -> set[str]:
    stem = base[:-1] if base.endswith("e") else base
    forms = {base, f"{base}s", f"{base}es", f"{stem}ed", f"{base}{base[-1]}ed"}
    return forms | ({f"{base[:-1]}ies", f"{base[:-1]}ied"} if base.endswith("y") else set())


_PAST = frozenset(load_words()["verbs"]["irregular_past"].split())
_VERBS = _PAST | {form for base in load_words()["verbs"]["common"].split() for form in _list_forms(base)}


def is_verb(word: str) -> bool:
    """Tell whether the word is a finite form of a common verb."""
    return word.lower() in _VERBS


def is_complete_sentence(sentence: str) -> bool:
    """Tell whether it is a full statement, neither an instruction nor a label."""
    if DEPENDENT_OPENING.match(sentence):  # depends on a sentence that is not here
        return False
    if has_cjk(sentence):
        return _KOREAN_END.search(sentence) is not None
    if _NO_SUBJECT.match(sentence) or is_instruction(sentence):
        return False
    if _AUXILIARY.search(sentence):
        return True
    words = _PAIR.findall(sentence)
    return _has_verb(words[2:] if _LEADS_TO.match(sentence) else words)


def is_instruction(sentence: str) -> bool:
    """Tell whether it instructs the reader."""
    return _ORDER.match(sentence) is not None


def _has_verb(words: list[str]) -> bool:
    """Tell whether a word after the first is a verb by itself, its ending, or its neighbours."""
    for before, word, after in zip(words, words[1:], [*words[2:], ""], strict=False):
        if before.lower() in _BEFORE_A_NOUN or not word.islower():
            continue
        if (word.endswith("ed") and len(word) > 4) or word in _PAST:
            return True
        follows = _AFTER_A_VERB.match(after) is not None
        if is_verb(word) and (follows or before.endswith("s") != word.endswith("s")) and after != "for":
            return True
        if before.endswith("s") and word.endswith(("ate", "ify", "ise", "ize")):
            return True
        if word.endswith("s") and not word.endswith(("ss", "us", "is")) and follows:
            return True
    return False


_FENCE = re.compile(r"^\s*(```|~~~)")
_HEADING = re.compile(r"^#{1,6}\s+(.*)$")
_LIST_MARK = re.compile(r"^\s*(?:[-*+•]|\d+[.)]|\[\d+\])\s+")

# A full stop ends a sentence if white space follows; a CJK one needs none. Written for linear time: the first
# letter comes before the alternatives, and a row of stops is tried once.
_END = re.compile(
    r"[.!?…。！？](?:(?<=[.!?…])(?<![.!?…]{2})[.!?…]*+[\"'”’)\]]*+(?=\s|$)|(?<=[。！？])[。！？]*[」』”）]*)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|al|Fig|No|Nos|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|Inc|Ltd|Co|approx|ca|pp|vol)"
    r"|\b[A-Z])\.$"
)
_LONGEST_ABBREVIATION = 7

# A stop within quotation marks ends no sentence that goes on: the prompt "Delete it?" and an answer.
_CLOSING, _GOES_ON = "\"'”’)]", re.compile(r"\s{1,3}[a-z]")


@dataclass(frozen=True)
class SentenceSpan:
    """A sentence with its position, its text and the heading above."""

    start: int
    end: int
    text: str
    heading: str


@dataclass(frozen=True)
class _Line:
    start: int
    text: str
    heading: str


def split_sentences(text: str) -> list[SentenceSpan]:
    """Return every sentence of running text, in order."""
    return [span for line in _prose_lines(text) for span in _spans(line)]


def _prose_lines(text: str) -> Iterator[_Line]:
    offset, heading, is_code = 0, "", False
    for raw in text.splitlines(keepends=True):
        line = raw.rstrip()
        start, offset = offset, offset + len(raw)
        if _FENCE.match(line):
            is_code = not is_code
        elif is_code or not line or line.lstrip().startswith(("|", ">>>", "$ ")):
            continue
        elif found := _HEADING.match(line):
            heading = found.group(1).strip()
        else:
            mark = _LIST_MARK.match(line)
            skip = mark.end() if mark else len(line) - len(line.lstrip())
            yield _Line(start + skip, line[skip:], heading)


def _spans(line: _Line) -> Iterator[SentenceSpan]:
    begin = 0
    for stop in _END.finditer(line.text):
        if _ABBREVIATION.search(line.text, max(begin, stop.end() - _LONGEST_ABBREVIATION), stop.end()):
            continue
        if stop.group()[-1] in _CLOSING and _GOES_ON.match(line.text, stop.end()):
            continue
        yield from _span(line, begin, stop.end())
        begin = stop.end()
    yield from _span(line, begin, len(line.text))


def _span(line: _Line, begin: int, end: int) -> Iterator[SentenceSpan]:
    words = line.text[begin:end]
    stripped = words.strip()
    if stripped:
        start = line.start + begin + len(words) - len(words.lstrip())
        yield SentenceSpan(start, start + len(stripped), stripped, line.heading)
