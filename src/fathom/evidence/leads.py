"""Where what was read leads to: names that the best pages bring up, with what those pages leave open.

A page that leaves nothing open leads nowhere, and neither does a word that is no name: one of a program, or
one that the pages also write small. Does not know search, nor what a name stands for.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace

from fathom.evidence.excerpts import excerpts
from fathom.evidence.trails import Trails, follow, missing_words
from fathom.state import Claim, Page, Query
from fathom.text.phrases import bare, phrases, spelled
from fathom.text.ranking import stem
from fathom.text.sentences import sentences
from fathom.text.tokens import tokens

_LEADS = 8
_FOLLOWED = 5  # pages, best first
_ANY_SENTENCE = 0.4  # what a name counts in a sentence that has none of the question's words
_SEVERAL_WORDS = 1.15
_OPENING_WORD = 0.5  # a single word that opens a sentence may owe its capital to that
_OF_A_PROGRAM = re.compile(r"_|(?<![A-Z]c)(?<!Mac)(?<=[a-z])[A-Z]|^[^ ]*\d[^ ]*$")
_TELLS_TO = re.compile(
    r"^(?:Use|See|Set|Call|Return|Returns|Add|Create|Run|Get|Pass|Check|Note|Make|Read|Raise)\s+"
)
_LETTERS = 0.75  # of a sentence, spaces too
_SMALL = re.compile(r"(?<![\w-])[a-z]+(?![\w-])")


async def walked(
    question: str,
    pages: Sequence[Page],
    claims: Sequence[Claim],
    asked: Sequence[Query],
    get: Callable[[str], Awaitable[str]],
) -> Trails:
    """The trails through what a run has read so far, with where they lead to."""
    trails = await asyncio.to_thread(follow, question, await excerpts(pages, claims, get))
    leads = await asyncio.to_thread(follow_ups, trails, [query.text for query in asked], _LEADS)
    return replace(trails, leads=leads)


def follow_ups(trails: Trails, asked: Sequence[str], limit: int) -> list[str]:
    """Queries, most promising first: a name nobody asked about yet, and the words its page does not have."""
    known = [spelled(text) for text in [trails.question, *asked]]
    known += [spelled(bare(e.title)) for e in trails.read.values()]
    promise: dict[str, tuple[float, str]] = {}
    for name, page, value in _names(trails):
        if value > promise.get(name, (0.0, ""))[0] and not any(spelled(name) in text for text in known):
            promise[name] = (value, page)
    queries: list[str] = []
    taken: list[str] = []
    for name, (_, page) in sorted(promise.items(), key=lambda item: (-item[1][0], item[0])):
        words = spelled(name)
        if len(queries) < limit and not any(words in other or other in words for other in taken):
            taken.append(words)
            queries.append(" ".join([name, *missing_words(trails, page)]))
    return queries


def _names(trails: Trails) -> Iterator[tuple[str, str, float]]:
    """Every name of the best pages, with its page and how promising it looks there."""
    small = {word for excerpt in trails.read.values() for word in _SMALL.findall(excerpt.text)}
    for page in trails.best[:_FOLLOWED]:
        if not missing_words(trails, page):
            continue
        title = {stem(w) for w in tokens(trails.read[page].title)}
        for span in sentences(trails.read[page].text):
            if not _is_prose(span.text):
                continue
            words = title | {stem(w) for w in tokens(span.text)}
            near = _ANY_SENTENCE + trails.share(trails.weights.keys() & words)
            for phrase in phrases(span.text):
                name = _name_in(phrase, small)
                if not name:
                    continue
                is_opening = " " not in name and span.text.startswith(phrase)
                shape = _SEVERAL_WORDS if " " in name else _OPENING_WORD if is_opening else 1.0
                yield name, page, trails.worth[page] * near * shape


def _is_prose(text: str) -> bool:
    """Whether it is written in words, not a line of a program or a table."""
    return sum(c.isalpha() or c.isspace() for c in text) >= _LETTERS * len(text)


def _name_in(phrase: str, small: set[str]) -> str:
    """The name in a phrase, without a word that tells to do something; nothing if it is no name."""
    name = _TELLS_TO.sub("", phrase)
    return "" if name.lower() in small or _OF_A_PROGRAM.search(name) else name
