"""Findings under short keys, as models see them, and the way back.

Does not know prompts. A model never sees an address or a hash, and a key it was not given means nothing.
"""

from collections.abc import Mapping, Sequence

from fathom.llm import answers
from fathom.llm.port import Point
from fathom.llm.sheets import Lines
from fathom.state import Sentence
from fathom.text.fitting import fitting_entries, shortened

MOST_CLAIMS = 80
CLAIM_TOKENS = 2_500
_QUOTE_CHARS = 1_200

Keyed = Mapping[str, Point]


def keyed(points: Sequence[Point]) -> dict[str, Point]:
    """The strongest findings under short keys."""
    lines = {f"E{n}": point.finding.statement for n, point in enumerate(points[:MOST_CLAIMS], 1)}
    return dict(zip(fitting_entries(lines, CLAIM_TOKENS), points, strict=False))


def weight(point: Point) -> str:
    """What a writer should know of a finding: how sure it is, how many say it, a primary source or not."""
    primary = ", a primary source among them" if point.finding.is_primary else ""
    return f"{point.finding.tag}, independent sources: {len(point.finding.voices)}{primary}"


def with_quotes(points: Keyed) -> Lines:
    """Each finding with its weight and a quote."""
    parts = [
        f"{key}: {p.finding.statement}\n  weight: {weight(p)}\n  quote: {_quote(p)}"
        for key, p in points.items()
    ]
    return Lines(parts, weight=2)


def refused(sentences: Sequence[Sentence], points: Keyed) -> Lines:
    """Sentences by their numbers, with the keys they named and why they were sent back."""
    keys = {claim_id: key for key, point in points.items() for claim_id in point.ids}
    named = [list(dict.fromkeys(keys[c] for c in s.claims if c in keys)) for s in sentences]
    parts = [
        f"Sentence {n} ({', '.join(own) or 'no claims'}): {s.text}\n  why not: {s.why}"
        for n, (s, own) in enumerate(zip(sentences, named, strict=True), 1)
    ]
    return Lines(parts, weight=2)


def ids_of(keys: Sequence[str], points: Keyed) -> list[str]:
    """The claims that keys stand for."""
    return [i for key in keys if (k := key.strip().strip("[]")) in points for i in points[k].ids]


def sentence_of(form: answers.SentenceForm | answers.RewriteForm, points: Keyed) -> Sentence:
    """A sentence whose keys are all unknown claimed support it does not have; one without keys connects."""
    ids = ids_of(form.claims, points)
    if form.claims and not ids:
        return Sentence(text=form.text, claims=[], status="unsupported", why="its claims are unknown")
    return Sentence(text=form.text, claims=ids, status="supported" if ids else "connective")


def _quote(point: Point) -> str:
    return shortened(point.claims[0].quotes[0].text, _QUOTE_CHARS)
