"""Which of many statements are near each other: by static vectors in English, by shared words in Korean.

Does not know what near statements say of each other.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fathom.text.embedding import embed, is_embeddable
from fathom.text.ranking import terms

Row = NDArray[np.float32]


class Nearness:
    """How near each of some texts is to every other, from 0 to 1; rows are made when they are asked for."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._count = len(texts)
        self._embedded = [place for place, text in enumerate(texts) if is_embeddable(text)]
        self._vectors = embed([texts[place] for place in self._embedded])
        self._rank = {place: rank for rank, place in enumerate(self._embedded)}
        self._terms = [set() if n in self._rank else terms(text) for n, text in enumerate(texts)]
        self._holders: dict[str, list[int]] = defaultdict(list)
        self._rows: dict[int, Row] = {}
        for place, words in enumerate(self._terms):
            for word in words:
                self._holders[word].append(place)

    def row(self, place: int) -> Row:
        """How near every text is to this one; a text is not near itself."""
        if place not in self._rows:
            self._rows[place] = self._made(place)
        return self._rows[place]

    def _made(self, place: int) -> Row:
        found: Row = np.zeros(self._count, dtype=np.float32)
        if place in self._rank:
            found[self._embedded] = np.clip(self._vectors @ self._vectors[self._rank[place]], 0, 1)
        else:
            mine = self._terms[place]
            shared = Counter(holder for word in mine for holder in self._holders[word])
            for other, count in shared.items():
                found[other] = count / (len(mine) + len(self._terms[other]) - count)
        found[place] = 0
        return found

    def nearest(self, place: int, most: int) -> list[int]:
        """The nearest few, nearest first."""
        row = self.row(place)
        return [int(n) for n in np.argsort(-row, kind="stable")[:most] if row[n] > 0]
