"""Which of the pages that were read answer a question together, and how one leads to another.

A page is worth what it has of the question's words and meaning. A page that another one names is worth what
it has of the words that the other one lacks: so the second page of a chain counts, which alone looks foreign
to the question. Does not know where pages come from, nor any language's grammar.
"""

import asyncio
import math
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace

from fathom.evidence.grounding import load_texts
from fathom.evidence.stopping import make_reason
from fathom.state import Claim, Page, Query, StopReason
from fathom.state.model_io import LinkPaths, PageExcerpt
from fathom.text.mentions import find_name_phrases, pad_words, strip_brackets
from fathom.text.ranking import stem, terms
from fathom.text.sentences import split_sentences
from fathom.text.similarity import embed, is_embeddable
from fathom.text.tokens import STOP_WORDS, tokens

_MEANING = 0.4  # of a page's own worth; the rest is the question's words
_NAME_WEIGHT = 1.8  # of a word that is part of a name, against one that is not
_TITLE_ASKED = 0.2  # for a page whose title stands in the question
_FROM, _GAIN, _CLOSE = 0.2, 0.5, 0.45  # of a link: where it starts, the words it adds, its meaning
_LEADING = 0.2  # for a page, of the words that a page it leads to adds
_NEW_WORDS = 1.0  # for words that no better page has
_NAMED_BY_BETTER_PAGE = 0.2  # for a page that a better page names


def build_link_paths(question: str, read: Sequence[PageExcerpt]) -> LinkPaths:
    """Weigh every page with those that lead to it, and put them in order, best first."""
    pages = {e.page: e for e in read}
    texts = {page: f"{strip_brackets(e.title)}. {e.text}" for page, e in pages.items()}
    bags = {page: {stem(w) for w in tokens(text)} for page, text in texts.items()}
    weights = _weigh_terms(question, list(bags.values()))
    covered = {page: frozenset(weights.keys() & bag) for page, bag in bags.items()}
    link_paths = LinkPaths(question, pages, weights, covered, {}, {})
    asked = pad_words(question)
    close = _measure_closeness([question], list(texts.values()))
    meaning = _MEANING if is_embeddable(question) else 0.0
    for place, (page, excerpt) in enumerate(pages.items()):
        named = _TITLE_ASKED if pad_words(strip_brackets(excerpt.title)) in asked else 0.0
        link_paths.own[page] = (
            (1 - meaning) * link_paths.share(covered[page]) + meaning * close[0][place] + named
        )
    link_paths.links.update(_score_links(link_paths, texts))
    link_paths.worth.update(_compute_worth(link_paths))
    link_paths.best.extend(_order_pages(link_paths))
    return link_paths


def _weigh_terms(question: str, bags: Sequence[set[str]]) -> dict[str, float]:
    """The question's words, rare ones among the pages weighing more, and names more again."""
    wanted = terms(question)
    named = {stem(word) for name in find_name_phrases(question) for word in tokens(name)}
    counts = Counter(word for bag in bags for word in bag & wanted)
    return {
        word: math.log(1 + (len(bags) + 1) / (counts[word] + 0.5)) * (_NAME_WEIGHT if word in named else 1.0)
        for word in sorted(wanted)
    }


def _measure_closeness(queries: Sequence[str], texts: Sequence[str]) -> list[list[float]]:
    if not texts or not all(is_embeddable(query) for query in queries):
        return [[0.0] * len(texts) for _ in queries]
    rows: list[list[float]] = (embed(queries) @ embed(texts).T).clip(min=0).tolist()
    return rows


def _score_links(link_paths: LinkPaths, texts: dict[str, str]) -> dict[tuple[str, str], float]:
    """From a page to each page whose title it names: how well the second takes up what the first lacks."""
    asked = pad_words(link_paths.question)
    titles = {page: pad_words(strip_brackets(e.title)) for page, e in link_paths.read.items()}
    pairs = [
        (one, other)
        for one, text in texts.items()
        for words in [pad_words(text)]
        for other, title in titles.items()
        if title != titles[one] and len(title) > 4 and title not in asked and title in words
    ]
    queries = [
        " ".join([strip_brackets(link_paths.read[other].title), *missing_words(link_paths, one)])
        for one, other in pairs
    ]
    targets = list(dict.fromkeys(other for _, other in pairs))
    places = {other: place for place, other in enumerate(targets)}
    close = _measure_closeness(queries, [texts[other] for other in targets])
    found = {}
    for (one, other), row in zip(pairs, close, strict=True):
        gain = _share_added(link_paths, one, other)
        found[one, other] = _FROM * link_paths.own[one] + _GAIN * gain + _CLOSE * row[places[other]]
    return found


def _share_added(link_paths: LinkPaths, one: str, other: str) -> float:
    """The share of the words that one page lacks and another has; half when nothing is lacking."""
    lacking = link_paths.weights.keys() - link_paths.covered[one]
    total = sum(link_paths.weights[w] for w in lacking)
    return sum(link_paths.weights[w] for w in lacking & link_paths.covered[other]) / total if total else 0.5


def _compute_worth(link_paths: LinkPaths) -> dict[str, float]:
    worth = dict(link_paths.own)
    for (one, other), value in link_paths.links.items():
        worth[other] = max(worth[other], value)
        added = link_paths.share(link_paths.covered[other] - link_paths.covered[one])
        worth[one] = max(worth[one], link_paths.own[one] + _LEADING * added)
    return worth


def _order_pages(link_paths: LinkPaths) -> list[str]:
    """Best first, beside those before it: new words of the question count, and being named by one of them."""
    rest, order, known = list(link_paths.read), list[str](), frozenset[str]()

    def value(page: str) -> float:
        is_led_to = any((before, page) in link_paths.links for before in order)
        new = link_paths.share(link_paths.covered[page] - known)
        return link_paths.worth[page] + _NEW_WORDS * new + (_NAMED_BY_BETTER_PAGE if is_led_to else 0.0)

    while rest:
        best = max(rest, key=value)
        order.append(best)
        rest.remove(best)
        known |= link_paths.covered[best]
    return order


def missing_words(link_paths: LinkPaths, page: str) -> list[str]:
    """The question's own words that a page lacks, as they are written there."""
    found = re.findall(r"[\w'’-]+", link_paths.question)
    words = dict.fromkeys(w for w in found if w.lower() not in STOP_WORDS)
    return [w for w in words if not link_paths.covered[page] & (terms(w) | {stem(t) for t in tokens(w)})]


MOST_PAGES = 48
_WHOLE_CHARS = 1600
_OPENING_CHARS = 300
_AROUND_CHARS = 200


async def load_excerpts(
    pages: Sequence[Page], claims: Sequence[Claim], get: Callable[[str], Awaitable[str]]
) -> list[PageExcerpt]:
    """Load one excerpt per text, in reading order; of very many pages those with the best claims."""
    places: dict[str, list[tuple[int, int]]] = {}
    worth: dict[str, float] = {}
    for claim in claims:
        for quote in claim.quotes:
            places.setdefault(quote.page, []).append((quote.start, quote.end))
            worth[quote.page] = max(worth.get(quote.page, 0.0), claim.relevance)
    titles = {page.sha: page.title for page in reversed(pages)}
    order = list(dict.fromkeys(page.sha for page in pages))
    best = set(sorted(order, key=lambda sha: -worth.get(sha, 0.0))[:MOST_PAGES])
    # A text that is gone has no links; its quotes stay.
    texts = await load_texts((sha for sha in order if sha in best), get)
    return [
        PageExcerpt(sha, titles[sha], cut_around(text, places.get(sha, []))) for sha, text in texts.items()
    ]


def cut_around(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return a short text whole; else its beginning and the text around the spans, equally short."""
    if len(text) <= _WHOLE_CHARS:
        return text
    pieces, end = [text[:_OPENING_CHARS]], _OPENING_CHARS
    room = _WHOLE_CHARS - _OPENING_CHARS
    for start, stop in sorted(spans):
        first, last = max(end, start - _AROUND_CHARS), min(len(text), stop + _AROUND_CHARS)
        if last > first and room > 0:
            pieces.append(text[first:last][:room])
            room -= last - first
            end = last
    return "\n".join(pieces)


_MOST_FOLLOW_UPS = 8
_MOST_PAGES_FOLLOWED = 5  # pages, best first
_ANY_SENTENCE = 0.4  # what a name counts in a sentence that has none of the question's words
_SEVERAL_WORDS = 1.15
_OPENING_WORD = 0.5  # a single word that opens a sentence may owe its capital to that
_OF_A_PROGRAM = re.compile(r"_|(?<![A-Z]c)(?<!Mac)(?<=[a-z])[A-Z]|^[^ ]*\d[^ ]*$")
_TELLS_TO = re.compile(
    r"^(?:Use|See|Set|Call|Return|Returns|Add|Create|Run|Get|Pass|Check|Note|Make|Read|Raise)\s+"
)
_LETTERS = 0.75  # of a sentence, spaces too
_SMALL = re.compile(r"(?<![\w-])[a-z]+(?![\w-])")


async def load_link_paths(
    question: str,
    pages: Sequence[Page],
    claims: Sequence[Claim],
    asked: Sequence[Query],
    get: Callable[[str], Awaitable[str]],
) -> LinkPaths:
    """The trails through what a run has read so far, with where they lead to."""
    link_paths = await asyncio.to_thread(build_link_paths, question, await load_excerpts(pages, claims, get))
    leads = await asyncio.to_thread(
        propose_follow_up_queries, link_paths, [query.text for query in asked], _MOST_FOLLOW_UPS
    )
    return replace(link_paths, leads=leads)


def propose_follow_up_queries(link_paths: LinkPaths, asked: Sequence[str], limit: int) -> list[str]:
    """Queries, most promising first: a name nobody asked about yet, and the words its page does not have."""
    known = [pad_words(text) for text in [link_paths.question, *asked]]
    known += [pad_words(strip_brackets(e.title)) for e in link_paths.read.values()]
    promise: dict[str, tuple[float, str]] = {}
    for name, page, value in _find_promising_names(link_paths):
        if value > promise.get(name, (0.0, ""))[0] and not any(pad_words(name) in text for text in known):
            promise[name] = (value, page)
    queries: list[str] = []
    taken: list[str] = []
    for name, (_, page) in sorted(promise.items(), key=lambda item: (-item[1][0], item[0])):
        words = pad_words(name)
        if len(queries) < limit and not any(words in other or other in words for other in taken):
            taken.append(words)
            queries.append(" ".join([name, *missing_words(link_paths, page)]))
    return queries


def _find_promising_names(link_paths: LinkPaths) -> Iterator[tuple[str, str, float]]:
    """Every name of the best pages, with its page and how promising it looks there."""
    small = {word for excerpt in link_paths.read.values() for word in _SMALL.findall(excerpt.text)}
    for page in link_paths.best[:_MOST_PAGES_FOLLOWED]:
        if not missing_words(link_paths, page):
            continue
        title = {stem(w) for w in tokens(link_paths.read[page].title)}
        for span in split_sentences(link_paths.read[page].text):
            if not _is_prose(span.text):
                continue
            words = title | {stem(w) for w in tokens(span.text)}
            near = _ANY_SENTENCE + link_paths.share(link_paths.weights.keys() & words)
            for phrase in find_name_phrases(span.text):
                name = _extract_name(phrase, small)
                if not name:
                    continue
                is_opening = " " not in name and span.text.startswith(phrase)
                shape = _SEVERAL_WORDS if " " in name else _OPENING_WORD if is_opening else 1.0
                yield name, page, link_paths.worth[page] * near * shape


def _is_prose(text: str) -> bool:
    """Whether it is written in words, not a line of a program or a table."""
    return sum(c.isalpha() or c.isspace() for c in text) >= _LETTERS * len(text)


def _extract_name(phrase: str, small: set[str]) -> str:
    """The name in a phrase, without a word that tells to do something; nothing if it is no name."""
    name = _TELLS_TO.sub("", phrase)
    return "" if name.lower() in small or _OF_A_PROGRAM.search(name) else name


_FIRST = 3  # pages that carry an answer
_LINKED_AMONG = 5  # pages among which one must lead to another before no change means anything
_COVERED = 0.95  # of the question's words, by the best two
_ALONE = 0.95  # by one page


def find_convergence(
    link_paths: LinkPaths, before: Sequence[str], answered: Sequence[str] = ()
) -> StopReason | None:
    """Why another round would hardly change the evidence; None when it may.

    After the first round one page must have all of the question's words, or each of its parts, when they are
    all answered, a page that has all of that part's; or the best pages must hang together
    and have nearly all; later it is enough that the round hardly changed them, if some page leads to another.
    """
    best = link_paths.best[:_FIRST]
    if not best:
        return None
    alone = max(link_paths.share(link_paths.covered[page]) for page in best)
    if alone >= _ALONE:
        return make_reason("one_page", percent=f"{100 * alone:.0f}")
    if len(answered) > 1 and all(_is_part_answered(link_paths, part) for part in answered):
        return make_reason("parts", count=len(answered))
    covered = link_paths.share(frozenset().union(*(link_paths.covered[page] for page in best[:2])))
    is_named = _are_named_in_question(link_paths, best[:2])
    if covered >= _COVERED and (_are_linked(link_paths, best) or is_named):
        return make_reason("linked_pages", percent=f"{100 * covered:.0f}")
    new = [page for page in best if page not in before[:_FIRST]]
    if before and len(new) <= 1 and (_are_linked(link_paths, link_paths.best[:_LINKED_AMONG]) or is_named):
        return make_reason("best_pages", new=len(new), best=_FIRST)
    return None


def _is_part_answered(link_paths: LinkPaths, part: str) -> bool:
    """Whether one of the best pages has nearly all words of a part of the question."""
    words = terms(part) & link_paths.weights.keys()
    had = max(link_paths.share(link_paths.covered[page] & words) for page in link_paths.best[:_LINKED_AMONG])
    return bool(words) and had >= _ALONE * link_paths.share(words)


def _are_linked(link_paths: LinkPaths, pages: Sequence[str]) -> bool:
    return any((one, other) in link_paths.links for one in pages for other in pages)


def _are_named_in_question(link_paths: LinkPaths, pages: Sequence[str]) -> bool:
    """Whether the question names them all, as a comparison does."""
    asked = pad_words(link_paths.question)
    return len(pages) > 1 and all(
        pad_words(strip_brackets(link_paths.read[page].title)) in asked for page in pages
    )
