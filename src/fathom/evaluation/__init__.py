"""The tasks of an evaluation, and what it finds: records, weights, scores, intervals, pairs, its table."""

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Literal

from pydantic import Field

from fathom.audit import ResultRecord
from fathom.errors import BadInput
from fathom.runs.batch import read_questions
from fathom.state import Cost, Failure

Dimension = Literal["comprehensiveness", "insight", "instruction_following", "readability"]
DIMENSIONS: tuple[Dimension, ...] = ("comprehensiveness", "insight", "instruction_following", "readability")
Preference = Literal["first", "second", "tie"]
OWN = "fathom"
_QUESTION, _REFERENCE, _PAGES = "question.txt", "reference.md", "pages"
_ENDINGS = (".md", ".txt", ".html")
# Student's t for a 95 % interval, by degrees of freedom.
_T = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131
)  # fmt: skip
_T_LATER = {20: 2.086, 30: 2.042, 60: 2.000}
_T_MANY = 1.96
_MOST = 10.0
_HEAD = ("Tool", "Reports", "RACE, relative", "RACE, 0-10", *(name.split("_")[0] for name in DIMENSIONS))
_MORE = ("Citation accuracy", "Effective citations", "Won / tied / lost by us", "USD a report")


class EvalTask(ResultRecord):
    """A question to research, with its own pages and a reference report where the task has them."""

    name: str
    question: str
    docs: list[str] = Field(default_factory=list)
    reference: str = ""  # the text of a report


class Criterion(ResultRecord):
    """One criterion of a dimension."""

    dimension: Dimension
    text: str
    weight: float = Field(ge=0)


class TaskRubric(ResultRecord):
    """The criteria of one task; weights of dimensions, and of the criteria of each, add up to 1."""

    weights: dict[Dimension, float]
    criteria: list[Criterion]


class RaceScore(ResultRecord):
    """The scores of one report from 0 to 10, and relative to the reference, where 0.5 is as good."""

    dimensions: dict[Dimension, float]
    overall: float
    reference: float | None = None  # the overall score of the reference
    relative: float | None = None


class EvalReport(ResultRecord):
    """A report of one tool on one task, with its scores."""

    tool: str
    task: str
    repeat: int = 1
    place: str = ""
    is_reference: bool = False  # of its task: it is scored beside the others, not against itself
    race: RaceScore | None = None
    citation_accuracy: float | None = None  # FACT: the share of cited statements that are supported
    effective_citations: int | None = None  # FACT: how many are
    audit: str = ""  # a page with every verdict behind the two
    audited_by: str = ""
    usd: float = 0.0


class PairOutcome(ResultRecord):
    """Which of two tools' reports on a task a judge prefers, in both orders."""

    task: str
    tool: str
    other: str
    repeat: int = 1
    preferred: Preference  # first: `tool`


class Interval(ResultRecord):
    """A mean and its 95 % confidence interval; none from a single value."""

    count: int
    mean: float
    low: float | None = None
    high: float | None = None


class ToolSummary(ResultRecord):
    """One line of the table."""

    tool: str
    relative: Interval | None = None
    overall: Interval | None = None
    dimensions: dict[Dimension, float] = Field(default_factory=dict)
    citation_accuracy: Interval | None = None
    effective_citations: Interval | None = None
    usd: Interval | None = None
    wins: int = 0  # of the own reports against this tool's
    ties: int = 0
    losses: int = 0


class EvalResult(ResultRecord):
    """A whole evaluation."""

    id: str
    judge: str
    tasks: list[str]
    reports: list[EvalReport]
    pairs: list[PairOutcome] = Field(default_factory=list)
    summaries: list[ToolSummary] = Field(default_factory=list)
    failures: list[Failure] = Field(default_factory=list)
    costs: list[Cost] = Field(default_factory=list)

    @property
    def usd(self) -> float:
        """What the judging cost; what the reports cost stands with them."""
        return sum(cost.usd for cost in self.costs)


def load_tasks(place: Path) -> list[EvalTask]:
    """Return the tasks: of one folder with a question.txt, of a folder of such, or of a file's lines."""
    if place.is_file():
        questions = read_questions(place.read_text("utf-8"), {})
        return [EvalTask(name=f"{one.number:02}", question=one.request.query) for one in questions]
    if not place.is_dir():
        raise BadInput(f"There are no tasks at {place}.")
    folders = (
        [place] if (place / _QUESTION).is_file() else sorted(p.parent for p in place.glob(f"*/{_QUESTION}"))
    )
    if not folders:
        raise BadInput(f"{place} has no folder with a {_QUESTION}.")
    return [_load_folder(folder) for folder in folders]


def _load_folder(folder: Path) -> EvalTask:
    question = (read_text(folder / _QUESTION) or "").strip()
    if not question:
        raise BadInput(f"{folder / _QUESTION} is empty.")
    pages = folder / _PAGES
    return EvalTask(
        name=folder.resolve().name,
        question=question,
        docs=[str(pages.resolve())] if pages.is_dir() else [],
        reference=read_text(folder / _REFERENCE) or "",
    )


def find_report(place: Path, task: EvalTask, *, is_only: bool) -> Path | None:
    """Return another tool's report on a task: `TASK.md` or `TASK/report.md` of a folder, or the file."""
    if place.is_file():
        return place if is_only or place.stem == task.name else None
    names = [place / f"{task.name}{ending}" for ending in _ENDINGS]
    names += [place / task.name / f"report{ending}" for ending in _ENDINGS]
    return next((path for path in names if path.is_file()), None)


def read_text(path: Path) -> str | None:
    """Return the text of a file; None if it is not there, BadInput if it cannot be read."""
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}.") from None


def make_rubric(weights: Mapping[Dimension, float], criteria: Sequence[Criterion]) -> TaskRubric:
    """Return a rubric whose weights add up to 1; a dimension without criteria counts nothing."""
    kept = {name: max(0.0, weights.get(name, 0.0)) for name in DIMENSIONS}
    kept = {name: weight if _of(criteria, name) else 0.0 for name, weight in kept.items()}
    shares = _normalize(kept.values())
    normal = [
        criterion.model_copy(update={"weight": weight})
        for name in DIMENSIONS
        for criterion, weight in zip(
            _of(criteria, name), _normalize(one.weight for one in _of(criteria, name)), strict=True
        )
    ]
    return TaskRubric(weights=dict(zip(kept, shares, strict=True)), criteria=normal)


def score_dimensions(rubric: TaskRubric, scores: Mapping[int, float]) -> dict[Dimension, float]:
    """Return the weighted scores of each dimension; `scores` are by the criterion's place, from 0 to 10.

    A criterion without a score is left out, and the others of its dimension share its weight.
    """
    found: dict[Dimension, float] = {}
    for name in DIMENSIONS:
        own = [
            (one.weight, scores[n])
            for n, one in enumerate(rubric.criteria)
            if one.dimension == name and n in scores
        ]
        total = sum(weight for weight, _ in own)
        if total:
            found[name] = sum(weight * min(_MOST, max(0.0, score)) for weight, score in own) / total
    return found


def weigh(rubric: TaskRubric, dimensions: Mapping[Dimension, float]) -> float:
    """Return the overall score from 0 to 10."""
    total = sum(rubric.weights[name] for name in dimensions)
    return sum(rubric.weights[name] * score for name, score in dimensions.items()) / total if total else 0.0


def score_race(
    rubric: TaskRubric, scores: Mapping[int, float], reference: Mapping[int, float] | None
) -> RaceScore:
    """Return a report's scores, and the share it has of its own and the reference's score together."""
    own = score_dimensions(rubric, scores)
    overall = weigh(rubric, own)
    if reference is None:
        return RaceScore(dimensions=own, overall=overall)
    other = weigh(rubric, score_dimensions(rubric, reference))
    relative = overall / (overall + other) if overall + other else 0.5
    return RaceScore(dimensions=own, overall=overall, reference=other, relative=relative)


def settle_pair(in_order: Preference, swapped: Preference) -> Preference:
    """Return what a judge prefers who was asked twice, the second time with the reports swapped."""
    turned: dict[Preference, Preference] = {"first": "second", "second": "first", "tie": "tie"}
    return in_order if in_order == turned[swapped] else "tie"


def measure_interval(values: Iterable[float | None]) -> Interval | None:
    """Return the mean of the values that are there, with its 95 % interval by Student's t."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    mean = fmean(known)
    if len(known) == 1:
        return Interval(count=1, mean=mean)
    half = _quantile(len(known) - 1) * stdev(known) / sqrt(len(known))
    return Interval(count=len(known), mean=mean, low=mean - half, high=mean + half)


def summarize_tools(reports: Sequence[EvalReport], pairs: Sequence[PairOutcome]) -> list[ToolSummary]:
    """Return one line for each tool, ours first; what is preferred is counted from ours."""
    tools = sorted({report.tool for report in reports}, key=lambda tool: (tool != OWN, tool))
    return [_summarize(tool, [one for one in reports if one.tool == tool], pairs) for tool in tools]


def _summarize(tool: str, reports: Sequence[EvalReport], pairs: Sequence[PairOutcome]) -> ToolSummary:
    races = [report.race for report in reports if report.race]
    against = [pair.preferred for pair in pairs if pair.other == tool]
    dimensions: dict[Dimension, float] = {}
    for name in DIMENSIONS:
        known = [race.dimensions[name] for race in races if name in race.dimensions]
        dimensions |= {name: fmean(known)} if known else {}
    return ToolSummary(
        tool=tool,
        relative=measure_interval(race.relative for race in races),
        overall=measure_interval(race.overall for race in races),
        dimensions=dimensions,
        citation_accuracy=measure_interval(report.citation_accuracy for report in reports),
        effective_citations=measure_interval(report.effective_citations for report in reports),
        usd=measure_interval(report.usd for report in reports) if tool == OWN else None,
        wins=against.count("first"),
        ties=against.count("tie"),
        losses=against.count("second"),
    )


def _of(criteria: Sequence[Criterion], name: Dimension) -> list[Criterion]:
    return [criterion for criterion in criteria if criterion.dimension == name]


def _normalize(weights: Iterable[float]) -> list[float]:
    known = [max(0.0, weight) for weight in weights]
    total = sum(known)
    return [weight / total for weight in known] if total else [1 / len(known) for _ in known]


def _quantile(freedom: int) -> float:
    if freedom <= len(_T):
        return _T[freedom - 1]
    return next((t for most, t in _T_LATER.items() if freedom <= most), _T_MANY)


def render_evaluation(result: EvalResult) -> str:
    """Return the table, what was lost, and what the judge cost."""
    rows = [[*_HEAD, *_MORE], ["---"] * (len(_HEAD) + len(_MORE)), *map(_row, result.summaries)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    lost = "".join(f"- not done: {one.where}, {one.what} ({one.why})\n" for one in result.failures)
    about = f"Judge: {result.judge}. Tasks: {', '.join(result.tasks)}. Judging cost {result.usd:.4f} USD."
    note = "Intervals are 95 %, by Student's t over reports. A relative score of 0.5 equals the reference."
    by = ", ".join(dict.fromkeys(one.audited_by for one in result.reports if one.audited_by)) or "nobody"
    pages = "".join(
        f"- {one.tool}, {one.task}, report {one.repeat}: {one.audit}\n" for one in result.reports if one.audit
    )
    audits = f"Citations were audited by {by}. Every verdict is in\n{pages}" if pages else ""
    return f"{table}\n\n{about}\n{note}\n{audits}{lost}"


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
