"""Pages of made-up prose: as long as asked for, different from each other, and about as compressible as text.

Does not know who reads them.
"""

import random
from pathlib import Path

_ONSETS = (
    "b", "br", "c", "cl", "d", "dr", "f", "fl", "g", "gr", "h", "l", "m", "n", "p", "pl", "pr", "r", "s",
    "sl", "st", "t", "tr", "v", "w",
)  # fmt: skip
_RHYMES = (
    "an", "ar", "ell", "en", "er", "est", "in", "ing", "ion", "ist", "ity", "ive", "o", "on", "ore", "oun",
    "ous", "un", "ure", "ow", "ain", "eal", "ode", "ulate",
)  # fmt: skip
_PLACES = (
    "harbour", "estuary", "lagoon", "channel", "strait", "basin", "headland", "fjord", "bay", "delta",
)  # fmt: skip
_THINGS = (
    "turbine", "gate", "barrage", "rotor", "cable", "sluice", "generator", "blade", "pump", "seawall",
)  # fmt: skip
_DOES = (
    "delivers", "requires", "costs", "replaced", "outlasted", "supplies", "exceeded", "reduced", "carries",
    "doubled",
)  # fmt: skip
_LINKS = (
    "near the", "because of a", "after the", "without a", "in spite of the", "before any", "under the",
    "along a",
)  # fmt: skip


def words(seed: int, count: int = 900) -> list[str]:
    """A vocabulary nobody has."""
    chance = random.Random(seed)
    return [
        "".join(
            chance.choice(_ONSETS) + chance.choice(_RHYMES) for _ in range(chance.choice((1, 1, 2, 2, 3)))
        )
        for _ in range(count)
    ]


def sentence(chance: random.Random, vocabulary: list[str], name: str) -> str:
    """One sentence about tidal power, with a few words of its own."""
    own = [vocabulary[min(int(chance.expovariate(1 / 180)), len(vocabulary) - 1)] for _ in range(7)]
    place, thing, does = chance.choice(_PLACES), chance.choice(_THINGS), chance.choice(_DOES)
    link = chance.choice(_LINKS)
    subject = f"the {own[0]} {thing}" if chance.random() < 0.7 else f"tidal power in the {own[0]} {place}"
    tail = f"{own[5]} and {own[6]} " if chance.random() < 0.5 else ""
    text = (
        f"{subject} {does} {chance.randint(2, 900)} {own[1]} {own[2]} {link} {own[3]} {own[4]} {tail}"
        f"of {name} {place}."
    )
    return text[0].upper() + text[1:]


def page(number: int, size: int) -> str:
    """A Markdown page of about so many characters."""
    chance = random.Random(number)
    vocabulary = words(7)
    name = "".join(part.capitalize() for part in chance.sample(words(number + 1000, 20), 2))[:14].capitalize()
    parts = [f"# Tidal power at {name}\n"]
    length = len(parts[0])
    while length < size:
        parts.append(" ".join(sentence(chance, vocabulary, name) for _ in range(5)) + "\n")
        length += len(parts[-1]) + 1
    return "\n".join(parts)[:size]


def folder(place: Path, count: int, size: int) -> Path:
    """A folder of such pages."""
    place.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (place / f"page{number:03}.md").write_text(page(number, size), "utf-8")
    return place
