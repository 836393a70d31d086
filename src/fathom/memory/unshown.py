"""Pages at hand that may close a gap: long ones have passages that no reader was shown yet.

Does not know graphs or databases: whoever calls says how the text of a page is had. It chooses by words and
meaning, without a model, and little: a page that is read again costs as much as a new one.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence

from fathom.errors import ProviderError
from fathom.llm.passages import PAGE_TOKENS, best_passages
from fathom.state import Gap, Page, Reread, SubQuestion
from fathom.text.passages import passages
from fathom.text.ranking import bm25, relevance

_MOST_A_ROUND = 2
_MOST_OF_A_PAGE = 2  # times a page is read again in a run
_MOST_TEXTS = 60  # the newest
_SHORTLIST = 20  # passages that are looked at closely for a gap
_LIKELY = 0.5  # how well a passage must answer to be worth a call
_LONG_CHARS = 2 * PAGE_TOKENS  # a page of fewer characters was shown whole, in any language


async def pages_for_gaps(
    gaps: Sequence[Gap],
    pages: Sequence[Page],
    questions: Sequence[SubQuestion],
    before: Sequence[Reread],
    number: int,
    text_of: Callable[[str], Awaitable[str]],
) -> list[Reread]:
    """The few pages that round `number` reads again, each for the gap that a passage of it may close."""
    wanted = [gap for gap in gaps if gap.priority != "low"]
    often = Counter(reread.page for reread in before)
    long = [page for page in pages if page.chars > _LONG_CHARS and often[page.sha] < _MOST_OF_A_PAGE]
    texts: dict[str, str] = {}
    for page in long[-_MOST_TEXTS:] if wanted else []:
        try:
            texts[page.sha] = await text_of(page.sha)
        except ProviderError:
            continue  # a text that is gone says nothing; why was told when it was read
    known = {reread.key for reread in before}
    return await asyncio.to_thread(_chosen, wanted, texts, questions, known, number) if texts else []


def _chosen(
    gaps: Sequence[Gap],
    texts: Mapping[str, str],
    questions: Sequence[SubQuestion],
    known: set[str],
    number: int,
) -> list[Reread]:
    asked = [question.text for question in questions]
    hidden = [(sha, part) for sha, text in texts.items() for part in _unshown(text, asked)]
    found: dict[str, Reread] = {}
    for gap in gaps:
        words = gap.suggested_query.strip() or gap.description
        sought = SubQuestion(id=gap.question or questions[0].id, text=words)
        for sha in _best_pages(words, hidden):
            reread = Reread(page=sha, sought=sought, round=number)
            if sha not in found and reread.key not in known:
                found[sha] = reread
                break
        if len(found) == _MOST_A_ROUND:
            break
    return list(found.values())


def _unshown(text: str, asked: Sequence[str]) -> list[str]:
    """The passages of a page that whoever read it for these questions did not see."""
    shown = set(best_passages(text, asked, PAGE_TOKENS))
    return [] if text in shown else [part for part in passages(text) if part not in shown]


def _best_pages(words: str, hidden: Sequence[tuple[str, str]]) -> list[str]:
    """The pages whose hidden passages are likely to answer, best first."""
    if not hidden:
        return []
    scores = bm25([words], [part for _, part in hidden])[0]
    short = sorted((n for n, score in enumerate(scores) if score > 0), key=lambda n: -scores[n])[:_SHORTLIST]
    close = relevance([words], [hidden[n][1] for n in short])[0] if short else []
    ranked = sorted(zip(close, short, strict=True), key=lambda pair: -pair[0])
    return list(dict.fromkeys(hidden[n][0] for score, n in ranked if score >= _LIKELY))
