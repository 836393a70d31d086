"""How far quotes carry a statement, from 0 to 1, judged without a model.

Does not know what is refused outright: that is what `flaws` says.
"""

from collections.abc import Sequence

from fathom.text.ranking import terms

SUPPORTED_FROM = 0.7


def support(statement: str, quotes: Sequence[str]) -> float:
    """The share of the statement's telling words that its quotes have."""
    said = terms(statement)
    return len(said & terms(" ".join(quotes))) / len(said) if said else 0.0
