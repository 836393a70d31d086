"""An evaluation for people: one line a tool, ours first."""

from fathom.evaluation.records import DIMENSIONS, EvalResult, Interval, ToolSummary

_HEAD = ("Tool", "Reports", "RACE, relative", "RACE, 0-10", *(name.split("_")[0] for name in DIMENSIONS))
_MORE = ("Citation accuracy", "Effective citations", "Won / tied / lost by us", "USD a report")


def render_evaluation(result: EvalResult) -> str:
    """Return the table, what was lost, and what the judge cost."""
    rows = [[*_HEAD, *_MORE], ["---"] * (len(_HEAD) + len(_MORE)), *map(_row, result.summaries)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    lost = "".join(f"- not done: {one.where}, {one.what} ({one.why})\n" for one in result.failures)
    about = f"Judge: {result.judge}. Tasks: {', '.join(result.tasks)}. Judging cost {result.usd:.4f} USD."
    note = "Intervals are 95 %, by Student's t over reports. A relative score of 0.5 equals the reference."
    return f"{table}\n\n{about}\n{note}\n{lost}"


def _row(one: ToolSummary) -> list[str]:
    count = max((found.count for found in (one.overall, one.citation_accuracy) if found), default=0)
    compared = one.wins + one.ties + one.losses
    return [
        one.tool,
        str(count),
        _interval(one.relative, 3),
        _interval(one.overall, 2),
        *(f"{one.dimensions[name]:.2f}" if name in one.dimensions else "–" for name in DIMENSIONS),
        _interval(one.citation_accuracy, 3),
        _interval(one.effective_citations, 1),
        f"{one.wins} / {one.ties} / {one.losses}" if compared else "–",
        _interval(one.usd, 4),
    ]


def _interval(found: Interval | None, digits: int) -> str:
    if found is None:
        return "–"
    mean = f"{found.mean:.{digits}f}"
    if found.low is None or found.high is None:
        return mean
    return f"{mean} ({max(0.0, found.low):.{digits}f} to {found.high:.{digits}f})"
