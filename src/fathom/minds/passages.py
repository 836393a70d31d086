"""The passages of a page that a model gets to see.

Does not know models; it is told how many characters there is room for.
"""

import re
from collections.abc import Sequence

from fathom.text.ranking import relevance

_PASSAGE_CHARS = 1200


def split_passages(text: str) -> list[str]:
    """The text in passages of about 1,200 characters that begin and end with a block."""
    passages: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        for piece in _pieces(block.strip()):
            if passages and len(passages[-1]) + len(piece) < _PASSAGE_CHARS:
                passages[-1] += "\n\n" + piece
            elif piece:
                passages.append(piece)
    return passages


def _pieces(block: str) -> list[str]:
    """A block in pieces that fit a passage, cut where a sentence or at least a word ends."""
    pieces = []
    while len(block) > _PASSAGE_CHARS:
        cut = max(block.rfind(end, 0, _PASSAGE_CHARS) for end in (". ", "。", "\n"))
        cut = cut if cut > _PASSAGE_CHARS // 2 else block.rfind(" ", 0, _PASSAGE_CHARS)
        cut = cut if cut > 0 else _PASSAGE_CHARS - 1
        pieces.append(block[: cut + 1].strip())
        block = block[cut + 1 :].strip()
    return [*pieces, block]


def best_passages(text: str, questions: Sequence[str], max_chars: int) -> list[str]:
    """As many passages as there is room for, those that fit the questions best, in the page's order."""
    if len(text) <= max_chars:
        return [text]
    passages = split_passages(text)
    scores = [max(column) for column in zip(*relevance(questions, passages), strict=True)]
    chosen, room = set(), max_chars
    for place in sorted(range(len(passages)), key=lambda p: -scores[p]):
        if len(passages[place]) <= room:
            chosen.add(place)
            room -= len(passages[place])
    return [passages[place] for place in sorted(chosen)]
