"""Which of the pages that were read answer a question together, and how one leads to another.

A page is worth what it has of the question's words and meaning. A page that another one names is worth what
it has of the words that the other one lacks: so the second page of a chain counts, which alone looks foreign
to the question. Does not know where pages come from, nor any language's grammar.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from fathom.evidence.excerpts import Excerpt
from fathom.text.embedding import embed, is_embeddable
from fathom.text.phrases import bare, phrases, spelled
from fathom.text.ranking import stem, terms
from fathom.text.tokens import STOP_WORDS, tokens

_MEANING = 0.4  # of a page's own worth; the rest is the question's words
_NAME_WEIGHT = 1.8  # of a word that is part of a name, against one that is not
_TITLE_ASKED = 0.2  # for a page whose title stands in the question
_FROM, _GAIN, _CLOSE = 0.2, 0.5, 0.45  # of a link: where it starts, the words it adds, its meaning
_LEADING = 0.2  # for a page, of the words that a page it leads to adds
_NEW_WORDS = 1.0  # for words that no better page has
_IN_TRAIL = 0.2  # for a page that a better page names


@dataclass(frozen=True)
class Trails:
    """The pages that were read, weighed together; ids are the hashes of their texts."""

    question: str
    read: dict[str, Excerpt]
    weights: dict[str, float]
    covered: dict[str, frozenset[str]]
    own: dict[str, float]
    links: dict[tuple[str, str], float]
    worth: dict[str, float] = field(default_factory=dict)
    best: list[str] = field(default_factory=list)
    leads: list[str] = field(default_factory=list)  # queries worth asking next

    def share(self, words: frozenset[str] | set[str]) -> float:
        """How much of the question some of its words are."""
        return sum(self.weights[w] for w in words) / (sum(self.weights.values()) or 1.0)


def follow(question: str, read: Sequence[Excerpt]) -> Trails:
    """Weigh every page with those that lead to it, and put them in order, best first."""
    pages = {e.page: e for e in read}
    texts = {page: f"{bare(e.title)}. {e.text}" for page, e in pages.items()}
    bags = {page: {stem(w) for w in tokens(text)} for page, text in texts.items()}
    weights = _weights(question, list(bags.values()))
    covered = {page: frozenset(weights.keys() & bag) for page, bag in bags.items()}
    trails = Trails(question, pages, weights, covered, {}, {})
    asked = spelled(question)
    close = _closeness([question], list(texts.values()))
    meaning = _MEANING if is_embeddable(question) else 0.0
    for place, (page, excerpt) in enumerate(pages.items()):
        named = _TITLE_ASKED if spelled(bare(excerpt.title)) in asked else 0.0
        trails.own[page] = (1 - meaning) * trails.share(covered[page]) + meaning * close[0][place] + named
    trails.links.update(_links(trails, texts))
    trails.worth.update(_worth(trails))
    trails.best.extend(_ordered(trails))
    return trails


def _weights(question: str, bags: Sequence[set[str]]) -> dict[str, float]:
    """The question's words, rare ones among the pages weighing more, and names more again."""
    wanted = terms(question)
    named = {stem(word) for name in phrases(question) for word in tokens(name)}
    counts = Counter(word for bag in bags for word in bag & wanted)
    return {
        word: math.log(1 + (len(bags) + 1) / (counts[word] + 0.5)) * (_NAME_WEIGHT if word in named else 1.0)
        for word in sorted(wanted)
    }


def _closeness(queries: Sequence[str], texts: Sequence[str]) -> list[list[float]]:
    if not texts or not all(is_embeddable(query) for query in queries):
        return [[0.0] * len(texts) for _ in queries]
    rows: list[list[float]] = (embed(queries) @ embed(texts).T).clip(min=0).tolist()
    return rows


def _links(trails: Trails, texts: dict[str, str]) -> dict[tuple[str, str], float]:
    """From a page to each page whose title it names: how well the second takes up what the first lacks."""
    asked = spelled(trails.question)
    titles = {page: spelled(bare(e.title)) for page, e in trails.read.items()}
    pairs = [
        (one, other)
        for one, text in texts.items()
        for words in [spelled(text)]
        for other, title in titles.items()
        if title != titles[one] and len(title) > 4 and title not in asked and title in words
    ]
    queries = [
        " ".join([bare(trails.read[other].title), *missing_words(trails, one)]) for one, other in pairs
    ]
    targets = list(dict.fromkeys(other for _, other in pairs))
    places = {other: place for place, other in enumerate(targets)}
    close = _closeness(queries, [texts[other] for other in targets])
    found = {}
    for (one, other), row in zip(pairs, close, strict=True):
        gain = _taken_up(trails, one, other)
        found[one, other] = _FROM * trails.own[one] + _GAIN * gain + _CLOSE * row[places[other]]
    return found


def _taken_up(trails: Trails, one: str, other: str) -> float:
    """The share of the words that one page lacks and another has; half when nothing is lacking."""
    lacking = trails.weights.keys() - trails.covered[one]
    total = sum(trails.weights[w] for w in lacking)
    return sum(trails.weights[w] for w in lacking & trails.covered[other]) / total if total else 0.5


def _worth(trails: Trails) -> dict[str, float]:
    worth = dict(trails.own)
    for (one, other), value in trails.links.items():
        worth[other] = max(worth[other], value)
        added = trails.share(trails.covered[other] - trails.covered[one])
        worth[one] = max(worth[one], trails.own[one] + _LEADING * added)
    return worth


def _ordered(trails: Trails) -> list[str]:
    """Best first, beside those before it: new words of the question count, and being named by one of them."""
    rest, order, known = list(trails.read), list[str](), frozenset[str]()

    def value(page: str) -> float:
        is_led_to = any((before, page) in trails.links for before in order)
        new = trails.share(trails.covered[page] - known)
        return trails.worth[page] + _NEW_WORDS * new + (_IN_TRAIL if is_led_to else 0.0)

    while rest:
        best = max(rest, key=value)
        order.append(best)
        rest.remove(best)
        known |= trails.covered[best]
    return order


def missing_words(trails: Trails, page: str) -> list[str]:
    """The question's own words that a page lacks, as they are written there."""
    found = re.findall(r"[\w'’-]+", trails.question)
    words = dict.fromkeys(w for w in found if w.lower() not in STOP_WORDS)
    return [w for w in words if not trails.covered[page] & (terms(w) | {stem(t) for t in tokens(w)})]
