"""Which sentences of a page are worth quoting, and which points are worth telling.

Does not know who quotes.
"""

import re
from collections.abc import Sequence

from fathom.minds.port import Draft, Point
from fathom.state import SubQuestion
from fathom.text.normal import one_line
from fathom.text.ranking import likeness, relevance, terms
from fathom.text.sentences import Span, sentences
from fathom.text.tokens import has_paired_script

_FROM = 0.34
_PER_QUESTION = 4
_SAME = 0.6
_PER_PAGE = 3
_LEANS_ON_THE_ONE_BEFORE = re.compile(
    r"^(?:(?:if|when|with|without|for|in|to|from|by)\s+)?(?:it|its|this|that|these|those|they|their|he|she|such|here)\b"
    r"|^(?:then|thus|therefore|hence|however|but|and|so|also|otherwise|instead|similarly|additionally)\b"
    r"|^(?:이는|이것은|이를|그것은|이러한|그러나|하지만|따라서|또한|이때|이로)",
    re.IGNORECASE,
)


_UNWANTED = re.compile(
    r"\]\(|https?://|www\.|==|=>|\(\);|[{};]\s*$|^//|[│├└┌┐─→]{1}.*[│├└┌┐─]|^\w+\s+\([\w ,.|\[\]]+\):"
    r"|^(?!Correction|CORRECTION|Corrigendum|Erratum|Retraction|정정|바로잡)\w+: "
)
_POINTS_ELSEWHERE = re.compile(
    r"\b(?:see(?: also)?|check out|refer to|visit|click|sign up|get started|learn more|read more)\b"
    r"|\bfor (?:more|full|further)\b|^\(",
    re.IGNORECASE,
)
_ASKS_WHAT = re.compile(
    r"^(?:what|who)\s+(?:is|are|was|were)\s+(?:(?:a|an|the)\s+)?(?P<name>[\w .+#-]+?)\??$"
    r"|^(?:what|how)\s+(?:does|do)\s+(?:(?:a|an|the)\s+)?(?P<doer>[\w .+#-]+?)\s+(?:do|work)\??$",
    re.IGNORECASE,
)
_ASKS_WHAT_KOREAN = re.compile(r"^(?P<name>.+?)(?:이란|란|은|는|이|가)?\s*무엇")


def quotable(questions: Sequence[SubQuestion], title: str, text: str) -> list[Draft]:
    """The best sentences for each sub-question; a sentence serves the one it answers best."""
    written = sentences(text)
    spans = [_standing_alone(written, n, text) for n, span in enumerate(written) if _is_worth_it(span.text)]
    if not spans:
        return []
    asked = [q.text for q in questions]
    scores = relevance(asked, [s.text for s in spans], [f"{title} {s.heading}" for s in spans])
    scores = [
        [_weighed(q, s.text, v) for s, v in zip(spans, row, strict=True)]
        for q, row in zip(asked, scores, strict=True)
    ]
    tops = [max(row) or 1.0 for row in scores]
    sizes = [len(terms(q)) for q in asked]
    drafts: list[Draft] = []
    for number, sub_question in enumerate(questions):
        # Measured against each question's best, so that an easy question does not take every sentence.
        mine = [p for p in range(len(spans)) if _best_served([r[p] for r in scores], tops, sizes) == number]
        taken: list[set[str]] = []
        used: list[Span] = []
        for place in sorted(mine, key=lambda p: -scores[number][p]):
            score, words = scores[number][place], terms(spans[place].text)
            if score < _FROM or len(taken) == _PER_QUESTION:
                break
            span = spans[place]
            is_new = all(likeness(words, other) < _SAME for other in taken)
            if is_new and not any(span.start < other.end and other.start < span.end for other in used):
                taken.append(words)
                used.append(span)
                drafts.append(Draft(one_line(span.text), text[span.start : span.end], sub_question.id, score))
    return drafts


def _best_served(scores: list[float], tops: list[float], sizes: list[int]) -> int:
    """The question that a sentence answers best; of two it answers alike, the one that asks for more."""
    shares = [score / top for score, top in zip(scores, tops, strict=True)]
    return max(range(len(shares)), key=lambda n: (round(shares[n], 6), sizes[n]))


def _weighed(question: str, sentence: str, score: float) -> float:
    """A definition is what a "what is" asks for; a pointer to another place is never an answer."""
    if _POINTS_ELSEWHERE.search(sentence):
        return score * 0.6
    if (found := _ASKS_WHAT.match(question)) and _begins_with(sentence, found):
        return min(1.0, score + 0.25)
    if (found := _ASKS_WHAT_KOREAN.match(question)) and sentence.startswith(found["name"]):
        return min(1.0, score + 0.25)
    return score


def _begins_with(sentence: str, asked: re.Match[str]) -> bool:
    """Whether the sentence says what the thing is, or begins with it doing something."""
    verb = r"\s+(?:is|are|was|were)\b" if asked["name"] else r"s?\s+\w+"
    thing = re.escape(asked["name"] or asked["doer"])
    return re.match(rf"(?:(?:an?|the)\s+)?`?{thing}`?{verb}", sentence, re.IGNORECASE) is not None


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
    if place == 0 or not _LEANS_ON_THE_ONE_BEFORE.match(span.text):
        return span
    before = spans[place - 1]
    between = text[before.end : span.start]
    if between.strip() or "\n" in between or span.end - before.start > 500:
        return span
    return Span(before.start, span.end, text[before.start : span.end], span.heading)


def strongest(points: Sequence[Point], most: int) -> list[Point]:
    """The first points, but only a few that begin with the same page."""
    kept: list[Point] = []
    per_page: dict[str, int] = {}
    for point in points:
        page = point.claims[0].quotes[0].page
        if len(kept) < most and per_page.get(page, 0) < max(_PER_PAGE, most // 2):
            kept.append(point)
            per_page[page] = per_page.get(page, 0) + 1
    return kept
