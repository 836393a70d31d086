"""Which sentences of a page are worth quoting.

Does not know who quotes.
"""

import re
from collections.abc import Sequence

from fathom.evidence.answering import asks_what, directness, is_fitting
from fathom.llm.port import Draft
from fathom.state import SubQuestion
from fathom.text.normal import one_line
from fathom.text.prose import LEANING
from fathom.text.ranking import likeness, relevance, terms
from fathom.text.sentences import Span, sentences
from fathom.text.tokens import has_paired_script

_FROM = 0.34
_PER_QUESTION = 4
_SAME = 0.6
_DIRECT = 0.3
_UNWANTED = re.compile(
    r"\]\(|https?://|www\.|==|=>|->|\(\);|[{};:：]\s*$|^//|[│├└┌┐─→]{1}.*[│├└┌┐─]"
    r"|^\w+\s+\([\w ,.|\[\]]+\):|^(?!Correction|CORRECTION|Corrigendum|Erratum|Retraction|정정|바로잡)\w+: "
    r"|\s\|\s|\w\([^)]*\w=|^(?:def|class|import|from|async def) \w+"
)
_POINTS_ELSEWHERE = re.compile(
    r"\b(?:see(?: also)?|check out|refer to|visit|click|sign up|get started|learn more|read more)\b"
    r"|\bfor (?:more|full|further)\b|^\(",
    re.IGNORECASE,
)


def quotable(questions: Sequence[SubQuestion], title: str, text: str) -> list[Draft]:
    """The best sentences for each sub-question; a sentence serves the one it answers best."""
    written = sentences(text)
    spans = [_standing_alone(written, n, text) for n, span in enumerate(written) if _is_worth_it(span.text)]
    if not spans:
        return []
    asked = [q.text for q in questions]
    scores = relevance(asked, [s.text for s in spans], [f"{title} {s.heading}" for s in spans])
    direct = [[directness(q, s.text) for s in spans] for q in asked]
    scores = [
        [_weighed(q, s.text, v, d) for s, v, d in zip(spans, row, given, strict=True)]
        for q, row, given in zip(asked, scores, direct, strict=True)
    ]
    worths = [
        [v + _DIRECT * d * v for v, d in zip(*rows, strict=True)] for rows in zip(scores, direct, strict=True)
    ]
    tops = [max(row) or 1.0 for row in worths]
    sizes = [len(terms(q)) for q in asked]
    drafts: list[Draft] = []
    for number, sub_question in enumerate(questions):
        # Measured against each question's best, so that an easy question does not take every sentence.
        mine = [
            p
            for p in range(len(spans))
            if _best_served(
                [r[p] / t for r, t in zip(worths, tops, strict=True)], [r[p] for r in direct], sizes
            )
            == number
        ]
        mine = [p for p in mine if scores[number][p] >= _FROM]
        # A label is quoted only where the page has no sentence for the question.
        mine = [p for p in mine if is_fitting(asked[number], spans[p].text)] or mine
        ranked = [spans[p] for p in sorted(mine, key=lambda p: -worths[number][p])]
        relevances = {spans[p].start: scores[number][p] for p in mine}
        for span in _distinct(ranked):
            quote = text[span.start : span.end]
            drafts.append(Draft(one_line(span.text), quote, sub_question.id, relevances[span.start]))
    return drafts


def _distinct(ranked: Sequence[Span]) -> list[Span]:
    """The first few that say something new and do not stand in each other."""
    taken: list[tuple[Span, set[str]]] = []
    for span in ranked:
        words = terms(span.text)
        is_new = all(likeness(words, other) < _SAME for _, other in taken)
        if is_new and not any(span.start < other.end and other.start < span.end for other, _ in taken):
            taken.append((span, words))
        if len(taken) == _PER_QUESTION:
            break
    return [span for span, _ in taken]


def _best_served(shares: list[float], direct: list[float], sizes: list[int]) -> int:
    """The question that a sentence answers best and most directly; of two, the one that asks for more."""
    answered = [share + _DIRECT * given for share, given in zip(shares, direct, strict=True)]
    return max(range(len(answered)), key=lambda n: (round(answered[n], 6), sizes[n]))


def _weighed(question: str, sentence: str, score: float, direct: float) -> float:
    """What a thing is or does is what a "what" asks for; a pointer to another place is never an answer."""
    if _POINTS_ELSEWHERE.search(sentence):
        return score * 0.6
    return min(1.0, score + 0.25 * direct) if asks_what(question) else score


def _is_worth_it(text: str) -> bool:
    """Whether it is a sentence somebody wrote to be read, not a label, a signature or a table row."""
    # Figures are words too, as long as there are words around them: "1953년 홍수로 41명이 사망했다."
    letters = sum(c.isalpha() or c.isspace() for c in text)
    figures = sum(c.isdigit() for c in text)
    is_prose = letters >= 0.5 * len(text) and letters + figures >= 0.75 * len(text)
    if not is_prose or text.count("`") % 2 or _UNWANTED.search(text):
        return False
    if has_paired_script(text):
        return 8 <= len(text) <= 300 and len(text.split()) >= 2
    return 12 <= len(text) <= 420 and len(text.split()) >= 3 and text[-1] in ".!?\"')”’"


def _standing_alone(spans: Sequence[Span], place: int, text: str) -> Span:
    """A sentence that leans on the one before it is quoted together with it."""
    span = spans[place]
    if place == 0 or not LEANING.match(span.text):
        return span
    before = spans[place - 1]
    between = text[before.end : span.start]
    if between.strip() or "\n" in between or span.end - before.start > 500:
        return span
    return Span(before.start, span.end, text[before.start : span.end], span.heading)
