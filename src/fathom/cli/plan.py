"""A plan as lines that a person reads: what will be asked, what is known, what it has cost.

Does not know who answers, or how.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fathom.cli.amounts import clock, dollars
from fathom.cli.cells import plain, wrapped
from fathom.cli.draft import Draft

KEYS = (
    "Enter go on    2 edit query 2    -2 remove it    + add one    f feedback\n"
    "w write the report now    q leave, answer later    ? all keys"
)
HELP = """\
  Enter      go on with the plan as it stands here
  2, q2      edit query 2, sub-question 2
  -2, -q2    remove it; several: -1 3
  +, +q      add a query, a sub-question; also: + words of the query
  s1         take over suggestion 1 as a query
  u          undo all changes
  f          say what should change, in words: the plan is made again
             (a sentence is feedback without the key, whatever words are in it)
  w          look no further and write the report now
  q          leave; the run waits for your answer"""


def plan_lines(shown: Mapping[str, Any], draft: Draft, width: int) -> list[str]:
    """The plan and what there is to know before deciding; once something was changed, only what can be."""
    if draft.is_changed:
        return ["", f"Plan for round {shown.get('round', 1)} (changed)", *_lists(draft, width)]
    lines = ["", f"Plan for round {shown.get('round', 1)}", "─" * min(width, 78)]
    for words in (str(shown.get("summary") or ""), _strategy(shown), _thinking(shown)):
        lines += wrapped(words, width) if words else []
    lines += _listed("Perspectives", shown.get("perspectives"), "  · ", width)
    lines += _listed("Findings so far", shown.get("findings"), "  · ", width)
    lines += _listed("Gaps", shown.get("gaps"), "  ? ", width)
    lines += _listed("The report so far", shown.get("outline"), "  · ", width)
    lines += _lists(draft, width)
    lines += _listed("Waiting for an answer", shown.get("waiting"), "  · ", width)
    return [*lines, "", *money_lines(shown)]


def _lists(draft: Draft, width: int) -> Iterator[str]:
    """What can be edited, each with the name it is edited by."""
    yield from _numbered("Sub-questions", draft.questions, "q", width)
    yield from _numbered("Queries", draft.queries, "", width)
    yield from _numbered("Suggested", draft.suggested, "s", width)


def money_lines(shown: Mapping[str, Any]) -> list[str]:
    """What it has cost, and what it may still cost."""
    spent, budget = float(shown.get("spent_usd") or 0.0), float(shown.get("budget_usd") or 0.0)
    lines = [f"Spent {dollars(spent)} of {dollars(budget)}."] if budget or spent else []
    forecast: Mapping[str, Any] = shown.get("forecast") or {}
    if "expected_usd" in forecast:
        usual, worst = (dollars(float(forecast.get(f"{name}_usd") or 0.0)) for name in ("expected", "worst"))
        times = [clock(float(forecast.get(f"{name}_s") or 0.0)) for name in ("expected", "worst")]
        lines.append(f"Forecast for the whole run: {usual} and {times[0]}, at most {worst} and {times[1]}.")
    return lines


def _strategy(shown: Mapping[str, Any]) -> str:
    # The first plan's strategy says the effort itself.
    strategy, effort = str(shown.get("strategy") or ""), str(shown.get("effort") or "")
    return " ".join(words for words in (strategy, effort if effort not in strategy else "") if words)


def _thinking(shown: Mapping[str, Any]) -> str:
    return f"Thinking tool: {shown['tool']}" if shown.get("tool") else ""


def _listed(title: str, entries: Sequence[str] | None, sign: str, width: int) -> Iterator[str]:
    if entries:
        yield f"{title}:"
    for entry in entries or ():
        yield from wrapped(plain(str(entry)), width, sign)


def _numbered(title: str, entries: Sequence[str], letter: str, width: int) -> Iterator[str]:
    if entries:
        yield f"{title}:"
    for number, entry in enumerate(entries, 1):
        yield from wrapped(plain(entry), width, f"  {letter}{number}".ljust(6))
