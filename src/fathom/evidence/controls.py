"""Control items: statements with known truth, mixed into a verifier's items, and the trust that follows.

The verifier cannot tell them from others. A hash decides which are shown and where, so that equal calls have
equal prompts. A call with wrong answers is void (`evaluate_controls`); a verifier with too many is not
trusted (`decide_trust`).
"""

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal, TypeVar

from fathom.evidence.checks.dates import Date, find_dates
from fathom.evidence.checks.derivation import find_figures_outside_dates, is_same_figure
from fathom.evidence.checks.figures import Figure, find_figures
from fathom.state import Control, ControlTally, Quote, short_hash
from fathom.storage import Storage
from fathom.text.languages import choose_particle
from fathom.text.normalization import fold_text
from fathom.text.tokens import has_cjk

_PARTICLE = re.compile(r"(?:으로|로|은|는|이|가|을|를|과|와)(?![가-힣])")
FALSE_A_CALL, TRUE_A_CALL = 2, 1
_MOST_MADE = 4  # per page
_MOST_PLAUSIBLE = 3  # replacements to choose from
_NEAR_CHARS = 800
_RANGE_BEFORE = re.compile(r"\d\s?(?:[~∼–-]|to|에서)\s?$")
_RANGE_AFTER = re.compile(r"\s?(?:[~∼–-]|to)\s?\d")
_NAME_BEFORE = re.compile(r"(?<![A-Z])[A-Z]{2,} $|(?<![A-Za-z_./-])[A-Za-z_./-]+$|[가-힣]$")
_NAME_AFTER = re.compile(r"[A-Za-z_/-]+|대(?=[\s가-힣])")
_MARKED_LINE = re.compile(r"\s*(?:[-*+•·#>]|\d+[.)])\s")
_SENTENCE_END = re.compile(r"[.!?다요죠음함임][\"'”’)]?$")
T = TypeVar("T")


@dataclass(frozen=True)
class ControlOutcome:
    """What the controls of one call say about its answers."""

    are_approvals_void: bool = False  # a false control was approved
    are_refusals_void: bool = False  # a true control was refused
    tallies: list[ControlTally] = field(default_factory=list)

    def is_void(self, is_approval: bool) -> bool:
        """Tell whether the approvals, or the refusals, of the call count for nothing."""
        return self.are_approvals_void if is_approval else self.are_refusals_void


def language_of(text: str) -> str:
    """Return the language that controls are counted by: ko, or en for all others."""
    return "ko" if has_cjk(text) else "en"


def choose_controls(pool: Sequence[Control], seed: str) -> list[Control]:
    """Return two false controls and a true one, if available; the same for the same seed.

    One false control is the reader's near miss if there is one, the other is made by code.
    """
    ranked = sorted(pool, key=lambda control: short_hash(seed, control.id))
    false = [control for control in ranked if not control.is_true]
    near_misses = [control for control in false if control.kind == "wording"]
    made = [control for control in false if control.kind != "wording"]
    false = [*near_misses[:1], *made[:1], *near_misses[1:], *made[1:]][:FALSE_A_CALL]
    true = sorted((c for c in ranked if c.is_true), key=lambda c: c.kind == "quotation")
    return [*false, *true[:TRUE_A_CALL]]


def draw_controls(
    given: Iterable[Control],
    stated: Iterable[tuple[str, Sequence[Quote], str]],
    asked: Collection[str] = (),
    seed: str = "",
) -> list[Control]:
    """Return the given controls, and as many made from statements in turn as one call needs.

    Statements come with their quotes and the text of their page. None repeats what was asked about. Another
    seed makes other controls of the same statements.
    """
    pool = [control for control in given if control.statement not in asked]
    sources = 0
    for statement, quotes, text in stated:
        if sources >= FALSE_A_CALL and any(control.is_true for control in pool):
            break
        made = [c for c in make_controls([(statement, quotes)], text, seed) if c.statement not in asked]
        sources += any(not control.is_true for control in made)
        pool += made
    return pool


def mix_in(items: Sequence[T], controls: Sequence[Control], seed: str) -> list[T | Control]:
    """Insert the controls among the items, at places that the seed decides."""
    mixed: list[T | Control] = list(items)
    for control in controls:
        number = int(sha256(f"{seed}/{control.id}".encode()).hexdigest()[:8], 16)
        mixed.insert(number % (len(mixed) + 1), control)
    return mixed


def evaluate_controls(answers: Sequence[tuple[Control, bool]], call: str, verifier: str) -> ControlOutcome:
    """Return what of a call is void, from each control and its answer, with the tally."""
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
    return ControlOutcome(False in void, True in void, tallies)


def is_falsehood(statement: str, original: str, changed: str, context: str) -> bool:
    """Tell whether a near miss really differs: its changed words are in it and not in the source.

    `context` is the quote with its context; the words that were changed must be in it.
    """
    said, old, new = (fold_text(text).text.strip(" .") for text in (statement, original, changed))
    source = fold_text(context).text
    return bool(new) and new != old and new in said and new not in source and old in source


def make_false_controls(
    statement: str, quotes: Sequence[Quote], text: str, seed: str = ""
) -> Iterator[Control]:
    """Yield the statement with a figure or date replaced by another of the same kind from near its quote."""
    if "|" in statement or not quotes:
        return
    near = _around(quotes[0], text)
    quoted = "\n".join(quote.text for quote in quotes)
    when = find_dates(statement)
    known = [other.parts for other in find_dates(quoted)]
    for date in (date for date in when if date.parts in known):
        others = [d for d in find_dates(near) if _date_form(d) == _date_form(date) and d.parts not in known]
        others.sort(key=lambda other: abs(_days(other) - _days(date)))
        yield from _make_replacement(statement, date, others, quotes, "date", seed)
    for figure in find_figures(statement):
        is_in_date = any(figure.start < d.end and d.start < figure.end for d in when)
        known_figures = find_figures(quoted)
        if is_in_date or figure.is_word or not any(is_same_figure(figure, other) for other in known_figures):
            continue
        if _RANGE_BEFORE.search(statement[: figure.start]) or _RANGE_AFTER.match(statement, figure.end):
            continue  # "50~34" is obviously false
        name = _attached_name(statement, figure)
        kin = (f for f in find_figures_outside_dates(near) if _is_interchangeable(figure, f))
        swaps = [
            f
            for f in kin
            if _attached_name(near, f) == name and not any(is_same_figure(f, o) for o in known_figures)
        ]
        columns = {_column(f, quoted) for f in known_figures if is_same_figure(figure, f)}
        swaps = [f for f in swaps if _column(f, near) in columns] or swaps
        swaps.sort(key=lambda f: _apart(figure, f))
        yield from _make_replacement(statement, figure, swaps, quotes, "figure", seed)


def _around(quote: Quote, text: str) -> str:
    """Return the page's text around a quote, cut between words."""
    start = text.rfind(" ", 0, max(0, quote.start - _NEAR_CHARS)) + 1
    end = text.find(" ", quote.end + _NEAR_CHARS)
    return text[start : end if end >= 0 else len(text)]


def make_true_control(quote: Quote) -> Control:
    """Return a quotation as a true statement."""
    said = " ".join(quote.text.split())
    name = short_hash("quotation", quote.page, said)
    return Control(id=name, page=quote.page, statement=said, quotes=[quote], is_true=True, kind="quotation")


def make_controls(stated: Sequence[tuple[str, Sequence[Quote]]], text: str, seed: str = "") -> list[Control]:
    """Make controls from the statements of one page: some false ones, and a true one."""
    made = (c for statement, quotes in stated for c in make_false_controls(statement, quotes, text, seed))
    false: dict[str, Control] = {}
    while len(false) < _MOST_MADE and (control := next(made, None)):
        false.setdefault(control.id, control)
    whole = [quotes[0] for _, quotes in stated if quotes and _is_sentence(quotes[0].text)]
    longest = max(whole, key=lambda quote: len(quote.text), default=None)
    return [*false.values(), *([make_true_control(longest)] if longest else [])]


def _is_sentence(text: str) -> bool:
    """Tell whether a quotation reads like a sentence: no table row, list item or heading."""
    return "|" not in text and not _MARKED_LINE.match(text) and bool(_SENTENCE_END.search(text.strip()))


def _make_replacement(
    statement: str,
    old: Figure | Date,
    others: Sequence[Figure | Date],
    quotes: Sequence[Quote],
    kind: str,
    seed: str,
) -> Iterator[Control]:
    """Yield at most one control per figure; the seed chooses among the most plausible of the others.

    A figure that the statement has already would read oddly: "from 320 MW to 320 MW".
    """
    said_already = {figure.text.strip() for figure in find_figures(statement)}
    said_already |= {date.text.strip() for date in find_dates(statement)}
    written = dict.fromkeys(other.text.strip() for other in others)
    texts = [text for text in written if text not in said_already][:_MOST_PLAUSIBLE]
    if not texts:
        return
    new = texts[int(short_hash(seed, statement, old.text), 16) % len(texts)]
    said = replace_before_particle(statement, old.start, old.end, new)
    name = short_hash(kind, quotes[0].page, said)
    yield Control.model_validate(
        {"id": name, "page": quotes[0].page, "statement": said, "quotes": list(quotes)}
        | {"is_true": False, "kind": kind}
    )


def replace_before_particle(text: str, start: int, end: int, new: str) -> str:
    """Replace a span of the text, and adapt the Korean particle after it."""
    rest = text[end:]
    found = _PARTICLE.match(rest)
    is_spoken = new[-1:].isdigit() or "가" <= new[-1:] <= "힣"
    if not found or not is_spoken:
        return text[:start] + new + rest
    return text[:start] + new + choose_particle(found.group(), new) + rest[found.end() :]


def _column(figure: Figure, text: str) -> int:
    """Return the column of a figure in a table's row; 0 in a sentence."""
    line = text[text.rfind("\n", 0, figure.start) + 1 : figure.start]
    return line.count("|")


def _apart(figure: Figure, other: Figure) -> float:
    """Return how far two values are apart, in powers of ten and by their digits: near misses look natural."""
    size = abs(math.log10(max(abs(other.base), 1e-9) / max(abs(figure.base), 1e-9)))
    return size + 0.2 * abs(len(other.text) - len(figure.text))


def _days(date: Date) -> int:
    """Return about how many days after year 0 a date is."""
    return 365 * (date.year or date.decade) + 30 * date.month + date.day


def _date_form(date: Date) -> tuple[set[str], str]:
    """Return which parts a date has, and in which form it is written."""
    return set(date.parts), re.sub(r"[A-Za-z]+", "a", re.sub(r"\d+", "0", date.text.strip(" ,.")))


def _attached_name(text: str, figure: Figure) -> tuple[str, str]:
    """Return what makes a figure part of a name: "SEP-" of SEP-2577, "RFC " of RFC 9207, W and C of W3C."""
    before = _NAME_BEFORE.search(text[max(0, figure.start - 12) : figure.start])
    after = _NAME_AFTER.match(text, figure.end)
    return before.group() if before else "", after.group() if after else ""


def _is_interchangeable(figure: Figure, other: Figure) -> bool:
    """Tell whether two figures count the same thing in the same unit, at a similar size."""
    if other.is_word or figure.dimension != other.dimension or figure.factor != other.factor:
        return False
    if _unit_text(figure) != _unit_text(other) or ("." in figure.text) != ("." in other.text):
        return False
    return figure.dimension != "" or 0.1 <= (other.value or 1e-9) / (figure.value or 1e-9) <= 10


def _unit_text(figure: Figure) -> str:
    return figure.text.lower().lstrip("$€£¥₩").lstrip("0123456789.,").strip()


Trust = Literal["trusted", "untrusted", "undecided"]
GOOD_ERROR, BAD_ERROR = 0.02, 0.10
_FALSE_ALARM, _MISS = 0.01, 0.05  # error rates of the test: a good verifier called bad, a bad one called good
_UNTRUSTED_FROM = math.log((1 - _MISS) / _FALSE_ALARM)

# Trust needs more answers than a verifier right in 95 of 100 cases gets through by luck: with at most one
# error in a hundred it passes one time in 25. Until then doubtful approvals get a second vote.
_LEAST_SEEN, _MOST_SEEN = 100, 0.01
TRUST_KEPT_S = 90 * 24 * 3600.0


def decide_trust(right: int, wrong: int) -> Trust:
    """Return the trust that so many answers justify; a sequential test decides that there is none."""
    ratio = wrong * math.log(BAD_ERROR / GOOD_ERROR) + right * math.log((1 - BAD_ERROR) / (1 - GOOD_ERROR))
    if ratio >= _UNTRUSTED_FROM:
        return "untrusted"
    seen = right + wrong
    return "trusted" if seen >= _LEAST_SEEN and wrong <= _MOST_SEEN * seen else "undecided"


@dataclass(frozen=True)
class TrustLog:
    """Answers to controls across runs; a call noted twice counts once."""

    storage: Storage
    clock: Callable[[], float] = time.time

    async def note(self, tallies: Sequence[ControlTally]) -> None:
        """Store the answers of some calls, and delete those older than three months."""
        now, controls = self.clock(), self.storage.controls
        for tally in tallies:
            right, name = tally.shown - tally.missed, _verifier_key(tally.verifier, tally.language)
            await controls.put(name, tally.key, right, tally.missed, now, now - TRUST_KEPT_S)

    async def trust(self, verifier: str, language: str) -> Trust:
        """Return the trust in this verifier for statements in this language."""
        right, wrong = await self.storage.controls.totals(_verifier_key(verifier, language))
        return decide_trust(right, wrong)


def _verifier_key(verifier: str, language: str) -> str:
    return f"{verifier}\n{language}"
