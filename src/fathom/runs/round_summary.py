"""The summary of a round: what was found and how certain it is, what comes next, what it has cost.

Screens and files show the same lines. A line that begins with a dash belongs to the title above it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fathom.budget.prices import CostBy, EngineUse, cost_by, engine_uses
from fathom.events import KeyFinding, RoundCompleted, Spent
from fathom.report.certainty import describe_progress
from fathom.report.formats.markdown import escape_markdown
from fathom.report.rounds import suggested_queries, summarize_round
from fathom.state import Finding, Judgement, RunState
from fathom.text.messages import ENGLISH, Messages, messages_for


def recall_round(state: RunState, number: int) -> tuple[RoundCompleted, Spent, list[str] | None]:
    """Return a judged round, the costs up to it, and the queries of the next round, if any."""
    judgement = next(j for j in state["judgements"] if j.round == number)
    is_last = number == state["judgements"][-1].round
    costs, findings = state.get("costs", []), state.get("findings", [])
    done = make_round_completed(
        judgement,
        _findings_of_round(state, judgement),
        summary=summarize_round(judgement, findings, state.get("contradictions", []), _words_of(state))
        if is_last
        else "",
        spent_by=cost_by(costs if is_last else []),
        engines=engine_uses(cost for cost in costs if cost.round <= number),
    )
    asked = [query.text for query in state.get("asked", []) if query.round == number + 1]
    spent = spent_by_run(state) if is_last else Spent(budget_usd=_budget_of(state))
    return done, spent.model_copy(update={"usd": judgement.spent_usd}), asked or None


def make_round_completed(judgement: Judgement, findings: Sequence[Finding], **more: Any) -> RoundCompleted:
    """Return the event of a judged round, with its key findings and the fields in `more`."""
    return RoundCompleted(
        round=judgement.round,
        claims=judgement.claims,
        new_claims=judgement.new_claims,
        findings=[KeyFinding(statement=f.statement, tag=f.tag, confidence=f.confidence) for f in findings],
        hypotheses=judgement.hypotheses,
        gaps=[gap.description for gap in judgement.gaps],
        suggested=[] if judgement.stop else suggested_queries(judgement),
        answered=judgement.coverage,
        has_high_gap=any(gap.importance == "high" for gap in judgement.gaps),
        is_by_words=judgement.is_by_words,
        **more,
    )


def spent_by_run(state: RunState) -> Spent:
    """Return what a run has cost by now."""
    return Spent.on(state.get("costs", []), _budget_of(state))


def _words_of(state: RunState) -> Messages:
    language = state["run_config"].language if "run_config" in state else None
    return messages_for(state["question"], language)


def _findings_of_round(state: RunState, judgement: Judgement) -> list[Finding]:
    """Return the findings that contain the best new claims of the round."""
    new = set(judgement.found)
    return [finding for finding in state.get("findings", []) if not new.isdisjoint(finding.claims)]


def _budget_of(state: RunState) -> float:
    return state["run_config"].budget_usd if "run_config" in state else 0.0


_MOST_GAPS = 3


def round_summary(
    done: RoundCompleted, spent: Spent, words: Messages = ENGLISH, planned: Sequence[str] | None = None
) -> list[str]:
    """Return a few lines on a round, and the next plan or, before it is made, the suggested queries."""
    found = [
        # Without a model a passage was found, and nothing was judged.
        ("" if done.is_by_words else f"{words.name('tag', one.tag)} ({one.confidence:.2f}) ")
        + escape_markdown(one.statement)
        for one in done.findings
    ]
    guesses = [f"{one.id} ({one.confidence:.2f}) {escape_markdown(one.statement)}" for one in done.hypotheses]
    following = done.suggested if planned is None else planned
    key = "live.new_of_all" if done.is_by_words else "folder.new_of_all"
    counted = words(key, new=done.new_claims, all=done.claims)
    progress = describe_progress(done.answered, done.has_high_gap, words, is_by_words=done.is_by_words)
    return [
        *([f"{words('folder.summary')}: {escape_markdown(done.summary)}"] if done.summary else []),
        *_titled_list(f"{words('folder.found')} ({counted})", found or [words("folder.nothing_new")]),
        *_titled_list(words("folder.hypotheses"), guesses),
        *_titled_list(words("folder.next"), [escape_markdown(query) for query in following]),
        *_titled_list(words("folder.gaps"), [escape_markdown(gap) for gap in done.gaps[:_MOST_GAPS]]),
        *([] if done.summary else [progress]),  # the summary says it too
        words("folder.cost", usd=_describe_cost(spent, done.spent_by, words)),
        *_engine_table(done.engines, words),
    ]


def round_page(
    question: str, done: RoundCompleted, spent: Spent, words: Messages, planned: Sequence[str] | None = None
) -> str:
    """The same as a page of its own."""
    number = words("folder.round", number=done.round)
    lines = [f"# {number}: {escape_markdown(question)}"]
    for line in round_summary(done, spent, words, planned):
        is_next_entry = line[:2] in ("- ", "| ") and lines[-1][:2] == line[:2]
        lines += [line] if is_next_entry else ["", line]
    return "\n".join(lines) + "\n"


def _engine_table(uses: Sequence[EngineUse], words: Messages) -> list[str]:
    """Searches, results, cost and what is left of the credit, a row an engine; columns are aligned."""
    if all(use.engine == "local" for use in uses):  # files have no price and no credit
        return []
    names = ("engine", "searches", "results", "usd", "credit")
    rows = [[words(f"engines.{name}") for name in names]]
    for use in uses:
        left = escape_markdown(use.credit) or words("engines.not_told")
        numbers = [str(use.searches), str(use.results), f"{use.usd:.4f}"]
        rows.append([escape_markdown(use.engine), *numbers, left])
    widths = [max(len(row[column]) for row in rows) for column in range(len(names))]
    rows.insert(1, ["-" * width for width in widths])
    padded = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]
    return [f"| {' | '.join(row)} |" for row in padded]


def _titled_list(title: str, entries: Sequence[str]) -> list[str]:
    return [f"{title}:", *(f"- {entry}" for entry in entries)] if entries else []


def _describe_cost(spent: Spent, by: CostBy, words: Messages) -> str:
    """Return what was spent, of which budget and on which models; then for what, if for several things."""
    told = words("folder.of_budget", spent=f"{spent.usd:.4f}", budget=f"{spent.budget_usd:.2f}")
    whom = _amounts({**by.model, **by.engine})
    what = _amounts(by.role) if len(by.role) > 1 else ""
    return f"{told} ({'; '.join(part for part in (whom, what) if part)})" if whom else told


def _amounts(by: Mapping[str, float]) -> str:
    """Return the costs by name, without zeros."""
    paid = sorted(((name, usd) for name, usd in by.items() if usd), key=lambda one: -one[1])
    return ", ".join(f"{escape_markdown(name)} {usd:.4f}" for name, usd in paid)
