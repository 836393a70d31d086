"""The passages of a page that a model gets to see.

Does not know models; it is told how many characters there is room for.
"""

from collections.abc import Sequence

from fathom.text.passages import passages as split_passages
from fathom.text.ranking import relevance


def best_passages(text: str, questions: Sequence[str], max_chars: int) -> list[str]:
    """As many passages as there is room for, those that fit the questions best, in the page's order."""
    if len(text) <= max_chars:
        return [text]
    passages = list(split_passages(text))
    scores = [max(column) for column in zip(*relevance(questions, passages), strict=True)]
    chosen, room = set(), max_chars
    for place in sorted(range(len(passages)), key=lambda p: -scores[p]):
        if len(passages[place]) <= room:
            chosen.add(place)
            room -= len(passages[place])
    return [passages[place] for place in sorted(chosen)]
