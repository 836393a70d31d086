"""Checks of what a question needs: dates for "latest", a number for "how many", two sides for "versus".

Each check is a small pure function that passes or fails with a reason. English and Korean words decide which
checks a question needs; they are in `lexicon/questions.toml`, with the gap and the queries of a failed check.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from fathom.evidence.answer_kinds import (
    CAUSE_PATTERN,
    COUNT_PATTERN,
    DATE_PATTERN,
    find_answer_kinds,
    find_compared_things,
    find_defined_thing,
)
from fathom.evidence.checks.dates import parse_day
from fathom.evidence.checks.strict import find_amounts
from fathom.evidence.checks.words import load_table
from fathom.state import Check, CheckName, Claim, Gap, Judgement, Page
from fathom.text.languages import is_korean, wants_korean
from fathom.text.normalization import one_line
from fathom.text.ranking import terms

MOST_REJECTIONS = 2  # per check in a run
# What code can only suspect from words; a model that reads the evidence confirms it.
SUSPECTED_CHECKS: frozenset[CheckName] = frozenset({"cause", "definition", "comparison"})
_ESSENTIAL: frozenset[CheckName] = frozenset({"counting", "amount", "date", "comparison"})
_RELEVANT_FROM = 0.3
_FRESH_DAYS = 365
_LIST = 3
_YEAR = re.compile(r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d)")
_ITEMS = re.compile(r"[,;、·]|\band\b|\bor\b|및|와 |과 ")


@dataclass(frozen=True)
class _CheckInput:
    question: str
    claims: Sequence[Claim]  # the relevant ones
    pages: Sequence[Page]
    today: date


CheckOutcome = tuple[bool, str]


def _check_freshness(at: _CheckInput) -> CheckOutcome:
    cited = {quote.page for claim in at.claims for quote in claim.quotes}
    dates = sorted(d for page in at.pages if page.sha in cited and (d := parse_day(page.published)))
    years = {int(y) for claim in at.claims for y in _YEAR.findall(claim.statement)}
    if dates and (at.today - dates[-1]).days <= _FRESH_DAYS:
        return True, f"the newest cited page is of {dates[-1]}"
    if years and at.today.year - 1 <= max(years) <= at.today.year:
        return True, f"a claim speaks of {max(years)}"
    return False, f"the newest cited page is of {dates[-1]}" if dates else "no cited page has a date"


def _check_counting(at: _CheckInput) -> CheckOutcome:
    wanted = terms(at.question)
    for claim in at.claims:
        said = claim.statement
        if (find_amounts(said) or COUNT_PATTERN.search(said)) and wanted & terms(said):
            return True, f"counted in “{said[:120]}”"
    return False, "no relevant claim has a number"


def _check_completeness(at: _CheckInput) -> CheckOutcome:
    longest = max((len(_ITEMS.findall(c.statement)) for c in at.claims), default=0)
    if longest >= _LIST - 1:
        return True, f"a claim lists {longest + 1} things"
    distinct = {one_line(c.statement).casefold() for c in at.claims}
    if len(distinct) >= _LIST and len({c.quotes[0].page for c in at.claims}) > 1:
        return True, f"{len(distinct)} different claims from several pages"
    return False, "no claim lists several things, and few name one"


def _check_comparison(at: _CheckInput) -> CheckOutcome:
    said = [terms(c.statement) for c in at.claims]
    missing = [
        side for side in find_compared_things(at.question) if not any(terms(side) & words for words in said)
    ]
    return not missing, f"nothing is known of {', '.join(missing)}" if missing else "both sides have evidence"


def _check_definition(at: _CheckInput) -> CheckOutcome:
    thing = terms(find_defined_thing(at.question))
    for claim in at.claims:
        head = re.split(r"\b(?:is|are|was|were|means|refers to)\b|이다|란|이란|은 |는 ", claim.statement)
        if len(head) > 1 and thing and thing <= terms(head[0]):
            return True, f"defined in “{claim.statement[:120]}”"
    return False, "no claim says what it is"


def _check_cause(at: _CheckInput) -> CheckOutcome:
    found = next((c for c in at.claims if CAUSE_PATTERN.search(c.statement)), None)
    return found is not None, f"explained in “{found.statement[:120]}”" if found else "no claim gives a cause"


def _check_date(at: _CheckInput) -> CheckOutcome:
    found = next((c for c in at.claims if DATE_PATTERN.search(c.statement)), None)
    return found is not None, f"dated in “{found.statement[:120]}”" if found else "no claim has a date"


_CHECKS: dict[CheckName, Callable[[_CheckInput], CheckOutcome]] = {
    "freshness": _check_freshness,
    "counting": _check_counting,
    "amount": _check_counting,
    "completeness": _check_completeness,
    "comparison": _check_comparison,
    "definition": _check_definition,
    "cause": _check_cause,
    "date": _check_date,
}


def run_checks(
    question: str,
    claims: Sequence[Claim],
    pages: Sequence[Page],
    today: date,
    before: Sequence[Judgement] = (),
    language: str | None = None,
) -> list[Check]:
    """Run the checks that the question needs; each has a reason, and a gap if it fails.

    Gaps are in the report's language if one is set.
    """
    relevant = [c for c in claims if c.relevance >= _RELEVANT_FROM]
    done = []
    for name, parts in find_answer_kinds(question).items():
        inputs = [_CheckInput(part, relevant, pages, today) for part in parts]
        answers = [(at, *_CHECKS[name](at)) for at in inputs]
        # One result per check: of the first part that fails it.
        at, is_passed, why = next((a for a in answers if not a[1]), answers[0])
        gap = None if is_passed else _make_gap(name, at, count_rejections(name, before), language)
        done.append(Check(name=name, is_passed=is_passed, why=why, gap=gap))
    return done


def confirm_checks(checks: Sequence[Check], failed: Sequence[CheckName] | None) -> list[Check]:
    """Apply the judge's answer to suspected checks: those it does not confirm have passed.

    `failed` is None if no model read the evidence: then a suspicion has no effect.
    """

    def decide(check: Check) -> Check:
        if check.is_passed or check.name not in SUSPECTED_CHECKS:
            return check
        if failed is None:
            return check.model_copy(update={"gap": None})
        if check.name in failed:
            return check
        return check.model_copy(update={"is_passed": True, "why": "the judge found it", "gap": None})

    return [decide(check) for check in checks]


def count_rejections(name: str, before: Sequence[Judgement]) -> int:
    """Count how often the check prevented a stop in this run."""
    return sum(1 for j in before if j.held is not None and any(c.name == name and c.gap for c in j.checks))


def list_failing_checks(checks: Sequence[Check], before: Sequence[Judgement]) -> list[str]:
    """Return failing checks that may still prevent a stop, each at most twice in a run."""
    return [c.name for c in checks if c.gap and count_rejections(c.name, before) < MOST_REJECTIONS]


def _make_gap(name: CheckName, at: _CheckInput, rejections: int, language: str | None) -> Gap:
    """Make the gap of a check, with a new query each time; a minor one after its last rejection."""
    known = load_table("questions")[name]
    description = known["gap_ko" if wants_korean(at.question, language) else "gap_en"]
    endings = known["queries_ko" if is_korean(at.question) else "queries_en"]
    asked = one_line(at.question).rstrip("?？. ")
    ending = endings[min(rejections, len(endings) - 1)].format(year=at.today.year)
    return Gap(
        description=description.format(asked),
        priority="low" if rejections >= MOST_REJECTIONS else "high" if name in _ESSENTIAL else "medium",
        suggested_query=f"{asked} {ending}".strip(),
        question=_find_main_question(at),
    )


def _find_main_question(at: _CheckInput) -> str:
    """Return the sub-question with most of the relevant claims."""
    asked = [c.question for c in at.claims]
    return max(set(asked), key=lambda q: (asked.count(q), q)) if asked else ""
