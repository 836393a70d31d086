"""What is said when a round is over: what was found and how sure it is, what comes next, what it has cost.

Does not know screens or files: the same lines stand on both. A line that begins with a dash belongs to the
title above it.
"""

from collections.abc import Mapping, Sequence

from fathom.budget.accounts import CostBy
from fathom.events import RoundCompleted, Spent
from fathom.report.certainty import describe_progress
from fathom.report.markdown import plain
from fathom.report.words import ENGLISH, KOREAN, Words

_GAPS = 3


def round_summary(
    done: RoundCompleted, spent: Spent, words: Words = ENGLISH, planned: Sequence[str] | None = None
) -> list[str]:
    """A few lines on a round; the next plan as it was made, or before that what is suggested."""
    found = [
        f"{words.name('tag', one.tag)} ({one.confidence:.2f}) {plain(one.statement)}" for one in done.findings
    ]
    guesses = [f"{one.confidence:.2f} {plain(one.statement)}" for one in done.hypotheses]
    following = done.suggested if planned is None else planned
    counted = words("folder.new_of_all", new=done.new_claims, all=done.claims)
    return [
        *(
            [f"{words('folder.summary')}: {plain(done.summary)}"]
            if done.summary and words is not KOREAN
            else []
        ),
        *_listed(f"{words('folder.found')} ({counted})", found or [words("folder.nothing_new")]),
        *_listed(words("folder.hypotheses"), guesses),
        *_listed(words("folder.next"), [plain(query) for query in following]),
        *_listed(words("folder.gaps"), [plain(gap) for gap in done.gaps[:_GAPS]]),
        describe_progress(done.answered, done.has_high_gap, words, is_by_words=done.is_by_words),
        words("folder.cost", usd=_cost(spent, done.spent_by, words)),
    ]


def round_page(
    question: str,
    done: RoundCompleted,
    spent: Spent,
    words: Words,
    planned: Sequence[str] | None = None,
) -> str:
    """The same as a page of its own."""
    number = words("folder.round", number=done.round)
    lines = [f"# {number}: {plain(question)}"]
    for line in round_summary(done, spent, words, planned):
        is_next_entry = line.startswith("- ") and lines[-1].startswith("- ")
        lines += [line] if is_next_entry else ["", line]
    return "\n".join(lines) + "\n"


def _listed(title: str, entries: Sequence[str]) -> list[str]:
    return [f"{title}:", *(f"- {entry}" for entry in entries)] if entries else []


def _cost(spent: Spent, by: CostBy, words: Words) -> str:
    """What was spent, of what, and on whom; then for what, when that is more than one thing."""
    told = words("folder.of_budget", spent=f"{spent.usd:.4f}", budget=f"{spent.budget_usd:.2f}")
    whom = _amounts({**by.model, **by.engine})
    what = _amounts(by.role) if len(by.role) > 1 else ""
    return f"{told} ({'; '.join(part for part in (whom, what) if part)})" if whom else told


def _amounts(by: Mapping[str, float]) -> str:
    return ", ".join(f"{plain(name)} {usd:.4f}" for name, usd in sorted(by.items(), key=lambda one: -one[1]))
