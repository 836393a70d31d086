"""What is said when a round is over: what was found and how sure it is, what comes next, what it has cost.

Does not know screens or files: the same lines stand on both. A line that begins with a dash belongs to the
title above it.
"""

from collections.abc import Mapping, Sequence

from fathom.budget.cost_totals import CostBy, cost_by
from fathom.events import KeyFinding, RoundCompleted, Spent
from fathom.report.certainty import describe_progress
from fathom.report.formats.markdown import escape_markdown
from fathom.report.rounds import suggested_queries, summarize_round
from fathom.state import Finding, Judgement, RunState
from fathom.text.messages import ENGLISH, KOREAN, Messages


def recall_round(state: RunState, number: int) -> tuple[RoundCompleted, Spent, list[str] | None]:
    """A judged round, what the run had spent by then, and what was asked next if anything was."""
    judgement = next(j for j in state["judgements"] if j.round == number)
    found = _findings_of_round(state, judgement)
    is_last = number == state["judgements"][-1].round
    done = RoundCompleted(
        round=number,
        claims=judgement.claims,
        new_claims=judgement.new_claims,
        findings=[KeyFinding(statement=f.statement, tag=f.tag, confidence=f.confidence) for f in found],
        hypotheses=judgement.hypotheses,
        gaps=[gap.description for gap in judgement.gaps],
        suggested=[] if judgement.stop else suggested_queries(judgement),
        answered=judgement.coverage,
        has_high_gap=any(gap.importance == "high" for gap in judgement.gaps),
        is_by_words=judgement.is_by_words,
        summary=summarize_round(judgement, state.get("findings", []), state.get("contradictions", []))
        if is_last
        else "",
        spent_by=cost_by(state.get("costs", []) if is_last else []),
    )
    asked = [query.text for query in state.get("asked", []) if query.round == number + 1]
    spent = spent_by_run(state) if is_last else Spent(budget_usd=_budget_of(state))
    return done, spent.model_copy(update={"usd": judgement.spent_usd}), asked or None


def spent_by_run(state: RunState) -> Spent:
    """What a run has cost by now."""
    return Spent.on(state.get("costs", []), _budget_of(state))


def _findings_of_round(state: RunState, judgement: Judgement) -> list[Finding]:
    """The findings that the best new claims of the round went into."""
    new = set(judgement.found)
    return [finding for finding in state.get("findings", []) if not new.isdisjoint(finding.claims)]


def _budget_of(state: RunState) -> float:
    return state["run_config"].budget_usd if "run_config" in state else 0.0


_MOST_GAPS = 3


def round_summary(
    done: RoundCompleted, spent: Spent, words: Messages = ENGLISH, planned: Sequence[str] | None = None
) -> list[str]:
    """A few lines on a round; the next plan as it was made, or before that what is suggested."""
    found = [
        f"{words.name('tag', one.tag)} ({one.confidence:.2f}) {escape_markdown(one.statement)}"
        for one in done.findings
    ]
    guesses = [f"{one.id} ({one.confidence:.2f}) {escape_markdown(one.statement)}" for one in done.hypotheses]
    following = done.suggested if planned is None else planned
    counted = words("folder.new_of_all", new=done.new_claims, all=done.claims)
    return [
        *(
            [f"{words('folder.summary')}: {escape_markdown(done.summary)}"]
            if done.summary and words is not KOREAN
            else []
        ),
        *_titled_list(f"{words('folder.found')} ({counted})", found or [words("folder.nothing_new")]),
        *_titled_list(words("folder.hypotheses"), guesses),
        *_titled_list(words("folder.next"), [escape_markdown(query) for query in following]),
        *_titled_list(words("folder.gaps"), [escape_markdown(gap) for gap in done.gaps[:_MOST_GAPS]]),
        describe_progress(done.answered, done.has_high_gap, words, is_by_words=done.is_by_words),
        words("folder.cost", usd=_describe_cost(spent, done.spent_by, words)),
    ]


def round_page(
    question: str,
    done: RoundCompleted,
    spent: Spent,
    words: Messages,
    planned: Sequence[str] | None = None,
) -> str:
    """The same as a page of its own."""
    number = words("folder.round", number=done.round)
    lines = [f"# {number}: {escape_markdown(question)}"]
    for line in round_summary(done, spent, words, planned):
        is_next_entry = line.startswith("- ") and lines[-1].startswith("- ")
        lines += [line] if is_next_entry else ["", line]
    return "\n".join(lines) + "\n"


def _titled_list(title: str, entries: Sequence[str]) -> list[str]:
    return [f"{title}:", *(f"- {entry}" for entry in entries)] if entries else []


def _describe_cost(spent: Spent, by: CostBy, words: Messages) -> str:
    """What was spent, of what, and on whom; then for what, when that is more than one thing."""
    told = words("folder.of_budget", spent=f"{spent.usd:.4f}", budget=f"{spent.budget_usd:.2f}")
    whom = _amounts({**by.model, **by.engine})
    what = _amounts(by.role) if len(by.role) > 1 else ""
    return f"{told} ({'; '.join(part for part in (whom, what) if part)})" if whom else told


def _amounts(by: Mapping[str, float]) -> str:
    return ", ".join(
        f"{escape_markdown(name)} {usd:.4f}" for name, usd in sorted(by.items(), key=lambda one: -one[1])
    )
