"""Control items: statements whose truth is known, mixed in among those that a verifier is asked about.

They look like the others and are never mentioned. Which are shown, and where, follows from a hash alone, so
that the same call has the same prompt. Who answers wrongly is not believed in that call
(`evaluate_controls`), and in the long run not at all (`trust`). Does not know models, prompts or nodes.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import TypeVar

from fathom.evidence.dates import Date, dates
from fathom.evidence.derivation import is_same
from fathom.evidence.figures import Figure, figures
from fathom.evidence.particles import replace_before_particle
from fathom.state import Control, ControlTally, Quote, short_hash
from fathom.text.normal import folded
from fathom.text.tokens import has_paired_script

FALSE_A_CALL, TRUE_A_CALL = 2, 1
_MOST_MADE = 4  # a page
T = TypeVar("T")


@dataclass(frozen=True)
class Outcome:
    """What the controls of one call say of its answers."""

    are_approvals_void: bool = False  # a false control was approved
    are_refusals_void: bool = False  # a true control was refused
    tallies: list[ControlTally] = field(default_factory=list)


def language_of(text: str) -> str:
    """Return the language that controls are counted by: ko, or en for all that is written with spaces."""
    return "ko" if has_paired_script(text) else "en"


def choose_controls(pool: Sequence[Control], seed: str) -> list[Control]:
    """Return two false controls and a true one, as far as there are any; the same for the same seed.

    One of the false ones is a near miss in the reader's own words where there is one, the other made by code.
    """
    ranked = sorted(pool, key=lambda control: short_hash(seed, control.id))
    false = [control for control in ranked if not control.is_true]
    told = [control for control in false if control.kind == "wording"]
    made = [control for control in false if control.kind != "wording"]
    false = [*told[:1], *made[:1], *told[1:], *made[1:]][:FALSE_A_CALL]
    true = sorted((c for c in ranked if c.is_true), key=lambda c: c.kind == "quotation")
    return [*false, *true[:TRUE_A_CALL]]


def mix_in(items: Sequence[T], controls: Sequence[Control], seed: str) -> list[T | Control]:
    """Return the items in their order with the controls among them, at places that the seed decides."""
    mixed: list[T | Control] = list(items)
    for control in controls:
        number = int(sha256(f"{seed}/{control.id}".encode()).hexdigest()[:8], 16)
        mixed.insert(number % (len(mixed) + 1), control)
    return mixed


def evaluate_controls(answers: Sequence[tuple[Control, bool]], call: str, verifier: str) -> Outcome:
    """Return what of a call is void, given each control and whether it was approved; and the tally."""
    shown, missed = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    void: set[bool] = set()
    for control, is_approved in answers:
        kind = (control.kind, language_of(control.statement))
        shown[kind] += 1
        if is_approved != control.is_true:
            missed[kind] += 1
            void.add(control.is_true)
    tallies = [
        ControlTally.model_validate(
            {"call": call, "verifier": verifier, "language": language, "kind": kind}
            | {"shown": count, "missed": missed[kind, language]}
        )
        for (kind, language), count in shown.items()
    ]
    return Outcome(False in void, True in void, tallies)


def is_falsehood(statement: str, original: str, changed: str, told: str) -> bool:
    """Tell whether a near miss really says something else: its changed words are in it and not in the source.

    `told` is the quote with its context; the words that were changed must be there.
    """
    said, old, new = (folded(text).text.strip(" .") for text in (statement, original, changed))
    source = folded(told).text
    return bool(new) and new != old and new in said and new not in source and old in source


def make_false_controls(statement: str, quotes: Sequence[Quote], text: str) -> Iterator[Control]:
    """Yield the statement with a figure or date replaced by another of the same kind from the same page."""
    quoted = "\n".join(quote.text for quote in quotes)
    when = dates(statement)
    for date in when:
        known = [(other.year, other.month, other.day, other.decade) for other in dates(quoted)]
        if (date.year, date.month, date.day, date.decade) not in known:
            continue
        others = [
            d for d in dates(text) if _is_like(date, d) and (d.year, d.month, d.day, d.decade) not in known
        ]
        yield from _replaced(statement, date, others, quotes, "date")
    for figure in figures(statement):
        is_in_date = any(figure.start < d.end and d.start < figure.end for d in when)
        known_figures = figures(quoted)
        if is_in_date or figure.is_word or not any(is_same(figure, other) for other in known_figures):
            continue
        kin = [f for f in _figures_beside_dates(text) if _is_kin(figure, f)]
        swaps = [f for f in kin if not any(is_same(f, o) for o in known_figures)]
        yield from _replaced(statement, figure, swaps, quotes, "figure")


@lru_cache(maxsize=256)  # a page's figures are wanted for each of its claims
def _figures_beside_dates(text: str) -> tuple[Figure, ...]:
    """The figures of a page that are no part of a date."""
    when = dates(text)
    starts = [date.start for date in when]

    def is_in_date(figure: Figure) -> bool:
        before = bisect_left(starts, figure.end) - 1
        return before >= 0 and when[before].end > figure.start

    return tuple(figure for figure in figures(text) if not is_in_date(figure))


def make_true_control(quote: Quote) -> Control:
    """Return a quotation as a statement: the plainest truth about a page."""
    said = " ".join(quote.text.split())
    name = short_hash("quotation", quote.page, said)
    return Control(id=name, page=quote.page, statement=said, quotes=[quote], is_true=True, kind="quotation")


def make_controls(stated: Sequence[tuple[str, Sequence[Quote]]], text: str) -> list[Control]:
    """Return controls made by code from the statements of one page: some false ones, and a true one."""
    false: dict[str, Control] = {}
    for statement, quotes in stated:
        for control in make_false_controls(statement, quotes, text):
            false.setdefault(control.id, control)
            if len(false) >= _MOST_MADE:
                break
    longest = max((quotes[0] for _, quotes in stated if quotes), key=lambda q: len(q.text), default=None)
    return [*list(false.values())[:_MOST_MADE], *([make_true_control(longest)] if longest else [])]


def _replaced(
    statement: str,
    old: Figure | Date,
    others: Sequence[Figure | Date],
    quotes: Sequence[Quote],
    kind: str,
) -> Iterator[Control]:
    """At most one control for each figure: which of the others it is, the statement's hash decides."""
    texts = sorted({other.text.strip() for other in others})
    if not texts:
        return
    new = texts[int(short_hash(statement, old.text), 16) % len(texts)]
    said = replace_before_particle(statement, old.start, old.end, new)
    name = short_hash(kind, quotes[0].page, said)
    yield Control.model_validate(
        {"id": name, "page": quotes[0].page, "statement": said, "quotes": list(quotes)}
        | {"is_true": False, "kind": kind}
    )


def _parts(date: Date) -> tuple[int, int, int, int]:
    return date.year, date.month, date.day, date.decade


def _is_like(date: Date, other: Date) -> bool:
    """Whether two dates give the same parts, in the same script."""
    given = [([part > 0 for part in _parts(d)], d.text.isascii()) for d in (date, other)]
    return given[0] == given[1]


def _is_kin(figure: Figure, other: Figure) -> bool:
    """Whether two figures count the same thing in the same unit, and are of about the same size."""
    if other.is_word or figure.dimension != other.dimension or figure.factor != other.factor:
        return False
    if _unit(figure) != _unit(other) or ("." in figure.text) != ("." in other.text):
        return False
    return figure.dimension != "" or 0.1 <= (other.value or 1e-9) / (figure.value or 1e-9) <= 10


def _unit(figure: Figure) -> str:
    return figure.text.lower().lstrip("$€£¥₩").lstrip("0123456789.,").strip()
