"""Whether what was read hangs together and answers the whole question, or another round would change it.

Does not know claims or scores: it sees words, titles and links.
"""

from collections.abc import Sequence

from fathom.evidence.trails import Trails
from fathom.text.phrases import bare, spelled
from fathom.text.ranking import terms

_FIRST = 3  # pages that carry an answer
_TRAIL = 5  # pages among which one must lead to another before no change means anything
_COVERED = 0.95  # of the question's words, by the best two
_ALONE = 0.95  # by one page


def settled(trails: Trails, before: Sequence[str], answered: Sequence[str] = ()) -> str:
    """Why another round would hardly change the evidence; empty when it may.

    After the first round one page must have all of the question's words, or each of its parts, when they are
    all answered, a page that has all of that part's; or the best pages must hang together
    and have nearly all; later it is enough that the round hardly changed them, if some page leads to another.
    """
    best = trails.best[:_FIRST]
    if not best:
        return ""
    alone = max(trails.share(trails.covered[page]) for page in best)
    if alone >= _ALONE:
        return f"one page has {alone:.0%} of the question"
    if len(answered) > 1 and all(_is_had(trails, part) for part in answered):
        return f"each of the {len(answered)} parts has a page that has all of it"
    covered = trails.share(frozenset().union(*(trails.covered[page] for page in best[:2])))
    is_named = _are_asked_for(trails, best[:2])
    if covered >= _COVERED and (_are_linked(trails, best) or is_named):
        return f"pages that lead to each other have {covered:.0%} of the question"
    new = [page for page in best if page not in before[:_FIRST]]
    if before and len(new) <= 1 and (_are_linked(trails, trails.best[:_TRAIL]) or is_named):
        return f"{len(new)} of the {_FIRST} best pages is new"
    return ""


def _is_had(trails: Trails, part: str) -> bool:
    """Whether one of the best pages has nearly all words of a part of the question."""
    words = terms(part) & trails.weights.keys()
    had = max(trails.share(trails.covered[page] & words) for page in trails.best[:_TRAIL])
    return bool(words) and had >= _ALONE * trails.share(words)


def _are_linked(trails: Trails, pages: Sequence[str]) -> bool:
    return any((one, other) in trails.links for one in pages for other in pages)


def _are_asked_for(trails: Trails, pages: Sequence[str]) -> bool:
    """Whether the question names them all, as a comparison does."""
    asked = spelled(trails.question)
    return len(pages) > 1 and all(spelled(bare(trails.read[page].title)) in asked for page in pages)
