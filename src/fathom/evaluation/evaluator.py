"""Evaluate reports: read tasks, research them, have a model judge, audit and compare what came out.

The judge makes criteria for a question, scores reports by them, and compares two. What exists is not made
again: reports stay in the folder of the evaluation, and answered calls in the reply store, so the same
evaluation again goes on where it stopped.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import TypeVar

from pydantic import Field

from fathom.audit import ResultRecord, render_html
from fathom.audit.auditor import AuditRequest, audit_report
from fathom.budget import Budget
from fathom.budget.prices import estimate_usd, find_unpriced_models, refuse_unenforceable_budget
from fathom.errors import BadInput, ProviderError, Unreadable
from fathom.evaluation import (
    DIMENSIONS,
    OWN,
    Criterion,
    EvalReport,
    EvalResult,
    EvalTask,
    PairOutcome,
    Preference,
    RaceScore,
    TaskRubric,
    ToolSummary,
    find_report,
    load_tasks,
    make_rubric,
    read_text,
    score_race,
    settle_pair,
    summarize_tools,
)
from fathom.llm.factory import make_outputs
from fathom.llm.prompt_budget import CuttableText, PromptBudget, PromptLines
from fathom.llm.roles.answer_forms import CompareAnswer, CriteriaAnswer, ScoreAnswer
from fathom.llm.structured_output import F, StructuredOutput
from fathom.prompts import load_prompt
from fathom.request import ResearchRequest
from fathom.result import ResearchResult
from fathom.settings import Settings
from fathom.state import Cost, Failure, Forecast, RunConfig, short_hash
from fathom.storage import open_storage
from fathom.storage.files import replace_file

_NO_REPORT = "(there is no second report)"
_WEIGHT = 4.0


@dataclass
class ReportJudge:
    """Asks one model; remembers what it cost."""

    output: StructuredOutput
    costs: list[Cost] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The model, and the revisions of its prompts."""
        prompts = (f"{one}@{load_prompt(one).revision}" for one in ("criteria", "scorer", "comparer"))
        return ", ".join([self.output.chat.name, *prompts])

    async def make_rubric(self, question: str) -> TaskRubric:
        """Return criteria and weights made for the question."""
        form = await self._ask("criteria", question, {}, CriteriaAnswer)
        weights = {name: float(getattr(form, name)) for name in DIMENSIONS}
        criteria = [
            Criterion(dimension=name, text=one.text, weight=max(0.0, one.weight))
            for one in form.criteria
            for name in DIMENSIONS
            if one.dimension.strip().lower().replace(" ", "_") == name
        ]
        if not criteria:
            raise Unreadable("The judge made no criteria.")
        return make_rubric(weights, criteria)

    async def score(self, question: str, rubric: TaskRubric, report: str, reference: str) -> RaceScore:
        """Return the scores of a report, relative to the reference if there is one.

        A hash decides which of the two is shown first: the same pair is always asked alike.
        """
        is_second = bool(reference) and int(short_hash(question, report), 16) % 2 == 1
        shown = (reference, report) if is_second else (report, reference)
        lines = [f"{n}. ({one.dimension}) {one.text}" for n, one in enumerate(rubric.criteria, 1)]
        evidence: dict[str, CuttableText] = {"criteria": PromptLines(lines, _WEIGHT), **_show(*shown)}
        form = await self._ask("scorer", question, evidence, ScoreAnswer)
        known = [one for one in form.scores if 1 <= one.criterion <= len(rubric.criteria)]
        if not known:
            raise Unreadable("The judge scored no criterion.")
        first = {one.criterion - 1: one.first for one in known}
        second = {one.criterion - 1: one.second for one in known}
        own, other = (second, first) if is_second else (first, second)
        return score_race(rubric, own, other if reference else None)

    async def compare(self, question: str, report: str, other: str) -> Preference:
        """Return which report is preferred in both orders; a tie if the order decides."""
        in_order = await self._ask("comparer", question, _show(report, other), CompareAnswer)
        swapped = await self._ask("comparer", question, _show(other, report), CompareAnswer)
        return settle_pair(_preference(in_order.better), _preference(swapped.better))

    async def _ask(
        self, prompt: str, question: str, evidence: Mapping[str, CuttableText], form: type[F]
    ) -> F:
        answer = await self.output.ask("judge", PromptBudget(prompt, {"question": question}, evidence), form)
        self.costs += answer.costs
        self.failures += answer.failures
        return answer.form


def _show(first: str, second: str) -> dict[str, CuttableText]:
    return {
        "first": PromptLines(first.split("\n\n"), _WEIGHT, between="\n\n"),
        "second": PromptLines((second or _NO_REPORT).split("\n\n"), _WEIGHT, between="\n\n"),
    }


def _preference(said: str) -> Preference:
    words = said.strip().lower()
    return "first" if words.startswith("first") else "second" if words.startswith("second") else "tie"


_REPORT_TOKENS, _CRITERIA_TOKENS, _PROMPT_TOKENS = 3000, 900, 600
_SCORE_OUT, _CRITERIA_OUT, _COMPARE_OUT = 900, 900, 120
T = TypeVar("T")
Research = Callable[[ResearchRequest], Awaitable[ResearchResult]]
ForecastResearch = Callable[[ResearchRequest], Awaitable[Forecast]]


class EvalRequest(ResultRecord):
    """What is evaluated: a folder of tasks, or a file with a question a line; and against what."""

    tasks: str
    out: str
    repeats: int = 1
    others: dict[str, str] = Field(default_factory=dict)  # reports of tools: a name, and a file or a folder
    earlier: list[str] = Field(default_factory=list)  # eval.json of earlier evaluations
    is_judge_only: bool = False  # research nothing, only score reports that are there
    run_config: RunConfig = RunConfig()


@dataclass(frozen=True)
class _Written:
    """A report that is there: whose it is, on which task, and its text."""

    tool: str
    task: EvalTask
    repeat: int
    place: Path
    text: str
    usd: float = 0.0


async def forecast_evaluation(
    settings: Settings, request: EvalRequest, forecast: ForecastResearch
) -> Forecast:
    """Return what an evaluation would cost: the research of reports that are not there, and the judge."""
    tasks = await asyncio.to_thread(load_tasks, Path(request.tasks))
    missing = [
        task
        for task in tasks
        for repeat in range(1, request.repeats + 1)
        if not request.is_judge_only and not _own_place(request, task, repeat).is_file()
    ]
    found = [await forecast(_research_request(request, task)) for task in missing]
    judging = await asyncio.to_thread(_forecast_judging, settings, request, len(tasks))
    parts = [*found, judging]
    added = ("expected_usd", "worst_usd", "expected_s", "worst_s", "calls", "tokens_in", "tokens_out")
    return Forecast(
        **{name: sum(getattr(one, name) for one in parts) for name in added},
        because=f"{len(missing)} reports to write, {judging.calls} calls of the judge; audits come on top",
        unpriced=sorted({name for one in parts for name in one.unpriced}),
    )


def _forecast_judging(settings: Settings, request: EvalRequest, tasks: int) -> Forecast:
    own = settings.with_allowed(request.run_config)
    _need_judge(own, request.run_config)
    repeats = 0 if request.is_judge_only else request.repeats
    reports = tasks * (repeats + len(request.others))
    given = OWN in request.others  # own reports as files are compared too
    pairs = 2 * tasks * (repeats + given) * (len(request.others) - given)
    tokens_in = tasks * _PROMPT_TOKENS + pairs * (2 * _REPORT_TOKENS + _PROMPT_TOKENS)
    tokens_in += reports * (2 * _REPORT_TOKENS + _CRITERIA_TOKENS + _PROMPT_TOKENS)
    tokens_out = tasks * _CRITERIA_OUT + reports * _SCORE_OUT + pairs * _COMPARE_OUT
    model = own.model_for("judge", request.run_config.model_of("judge"))
    usd = estimate_usd(own, model, tokens_in, tokens_out)
    calls = tasks + reports + pairs
    return Forecast(
        expected_usd=usd,
        worst_usd=request.run_config.budget_usd if usd else 0.0,
        expected_s=20.0 * 3,
        worst_s=own.call_timeout_s * calls,
        calls=calls,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        because="",
        unpriced=find_unpriced_models(own, request.run_config),
    )


async def evaluate(
    settings: Settings, request: EvalRequest, research: Research, tell: Callable[[str], None] = lambda _: None
) -> EvalResult:
    """Evaluate; `tell` hears how far it is, in words."""
    if request.repeats < 1:
        raise BadInput("--repeats should be 1 or more.")
    run_config = settings.usual(request.run_config)
    own = settings.with_allowed(run_config)
    _need_judge(own, run_config)
    if "budget_usd" in request.run_config.model_fields_set:
        await asyncio.to_thread(refuse_unenforceable_budget, own, run_config)
    tasks = await asyncio.to_thread(load_tasks, Path(request.tasks))
    name = f"eval-{short_hash(request.model_dump_json(), *(task.question for task in tasks))}"
    outputs = await asyncio.to_thread(make_outputs, own, run_config)
    budget = Budget(open_storage(own.database).costs, name, run_config.budget_usd, 0.0)
    judge = ReportJudge(outputs["judge"].within(budget))
    return await _Evaluation(own, request, tasks, research, judge, tell, name).run()


@dataclass
class _Evaluation:
    settings: Settings
    request: EvalRequest
    tasks: Sequence[EvalTask]
    research: Research
    judge: ReportJudge
    tell: Callable[[str], None]
    name: str
    failures: list[Failure] = field(default_factory=list)

    async def run(self) -> EvalResult:
        """Write what is missing, then score, audit and compare all reports."""
        written = [*await self._write_own(), *await asyncio.to_thread(self._find_others)]
        made = await asyncio.gather(*map(self._make_rubric, self.tasks))
        rubrics = {task.name: rubric for task, rubric in zip(self.tasks, made, strict=True)}
        rivals = [
            (one, other)
            for one, other in product(written, written)
            if one.tool == OWN != other.tool and one.task == other.task
        ]
        reports, pairs = await asyncio.gather(
            asyncio.gather(*(self._score(one, rubrics[one.task.name]) for one in written)),
            asyncio.gather(*(self._compare(*pair) for pair in rivals)),
        )
        reports = self._place_reference(reports)
        settled = [pair for pair in pairs if pair]
        summaries = summarize_tools(reports, settled)
        return EvalResult(
            id=self.name,
            judge=self.judge.name,
            tasks=[task.name for task in self.tasks],
            reports=reports,
            pairs=settled,
            summaries=[*summaries, *await asyncio.to_thread(self._earlier)],
            failures=[*self.failures, *self.judge.failures],
            costs=self.judge.costs,
        )

    async def _write_own(self) -> list[_Written]:
        repeats = 0 if self.request.is_judge_only else self.request.repeats
        wanted = [(task, repeat) for task in self.tasks for repeat in range(1, repeats + 1)]
        # One after another: a run has a cap of its own, and all of the machine.
        found = [await self._write(task, repeat) for task, repeat in wanted]
        return [one for one in found if one is not None]

    async def _write(self, task: EvalTask, repeat: int) -> _Written | None:
        place, usd = _own_place(self.request, task, repeat), 0.0
        text = await asyncio.to_thread(read_text, place)
        if text is None:
            self.tell(f"researching {task.name}, report {repeat}")
            research = self.research(_research_request(self.request, task))
            result = await self._try("research", task.name, research)
            if result is None:
                return None
            text, usd = result.report, result.metadata.cost_usd
            await asyncio.to_thread(replace_file, place, text)
        return _Written(OWN, task, repeat, place, text, usd)

    async def _try(self, where: str, what: str, work: Awaitable[T]) -> T | None:
        """Return what the work gives; None if it fails, and the failure is told in the result.

        Bad input is for whoever asked to mend, except a report that cannot be audited.
        """
        try:
            return await work
        except (ProviderError, BadInput) as error:
            if isinstance(error, BadInput) and where != "audit":
                raise
            self.failures.append(Failure(where=where, what=what, why=str(error)))
            return None

    def _find_others(self) -> list[_Written]:
        found = []
        for tool, place in self.request.others.items():
            for task in self.tasks:
                path = find_report(Path(place), task, is_only=len(self.tasks) == 1)
                text = read_text(path) if path else None
                if path and text:
                    found.append(_Written(tool, task, 1, path, text))
                else:
                    self.failures.append(
                        Failure(where="reports", what=f"{tool}, {task.name}", why="there is none")
                    )
        return found

    async def _make_rubric(self, task: EvalTask) -> TaskRubric | None:
        self.tell(f"making criteria for {task.name}")
        return await self._try("judge", task.name, self.judge.make_rubric(task.question))

    async def _score(self, one: _Written, rubric: TaskRubric | None) -> EvalReport:
        self.tell(f"scoring {one.tool} on {one.task.name}, report {one.repeat}")
        what, race = f"{one.tool}, {one.task.name}", None
        if rubric and not _is_reference(one):
            score = self.judge.score(one.task.question, rubric, one.text, one.task.reference)
            race = await self._try("judge", what, score)
        config = self.request.run_config.model_copy(update={"docs": one.task.docs})
        asked = AuditRequest(report=str(one.place), body=one.text.encode(), run_config=config)
        audit = await self._try("audit", what, audit_report(self.settings, asked))
        page = _audit_place(self.request, one)
        if audit:
            await asyncio.to_thread(replace_file, page, render_html(audit))
        return EvalReport(
            tool=one.tool,
            task=one.task.name,
            repeat=one.repeat,
            place=str(one.place),
            is_reference=_is_reference(one),
            race=race,
            citation_accuracy=audit.citation_accuracy if audit else None,
            effective_citations=audit.effective_citations if audit else None,
            audit=str(page) if audit else "",
            audited_by=audit.decided_by if audit else "",
            usd=one.usd,
        )

    def _place_reference(self, reports: Sequence[EvalReport]) -> list[EvalReport]:
        """Give a report that is the reference itself the scores that it got beside the others."""
        found = []
        for report in reports:
            known = [one.race.reference for one in reports if one.task == report.task and one.race]
            scores = [score for score in known if score is not None]
            if report.is_reference and scores:
                mean = fmean(scores)
                race = RaceScore(dimensions={}, overall=mean, reference=mean, relative=0.5)
                report = report.model_copy(update={"race": race})
            found.append(report)
        return found

    async def _compare(self, one: _Written, other: _Written) -> PairOutcome | None:
        self.tell(f"comparing with {other.tool} on {one.task.name}")
        asked = self.judge.compare(one.task.question, one.text, other.text)
        preferred = await self._try("judge", f"{other.tool}, {one.task.name}", asked)
        about = {"task": one.task.name, "tool": OWN, "other": other.tool, "repeat": one.repeat}
        return PairOutcome(**about, preferred=preferred) if preferred else None

    def _earlier(self) -> list[ToolSummary]:
        found = []
        for place in self.request.earlier:
            try:
                past = EvalResult.model_validate_json(Path(place).read_bytes())
            except (OSError, ValueError):
                raise BadInput(f"{place} is no eval.json of an earlier evaluation.") from None
            own = next((one for one in past.summaries if one.tool == OWN), None)
            found += [own.model_copy(update={"tool": f"{OWN}, {Path(place).parent.name}"})] if own else []
        return found


def _need_judge(settings: Settings, run_config: RunConfig) -> None:
    if not settings.uses_model(run_config.model):
        raise BadInput("An evaluation needs a judge: name a model with --model or --models judge=NAME.")


def _is_reference(one: _Written) -> bool:
    return one.text.strip() == one.task.reference.strip()


def _own_place(request: EvalRequest, task: EvalTask, repeat: int) -> Path:
    return Path(request.out) / task.name / f"report-{repeat}.md"


def _audit_place(request: EvalRequest, one: _Written) -> Path:
    tool = re.sub(r"[^\w.-]", "_", one.tool)
    return Path(request.out) / one.task.name / f"{tool}-{one.repeat}.audit.html"


def _research_request(request: EvalRequest, task: EvalTask) -> ResearchRequest:
    said: Mapping[str, object] = request.run_config.model_dump(exclude_unset=True)
    docs = [*request.run_config.docs, *task.docs]
    reuse = {"reuse": False} if request.repeats > 1 else {}  # else every repeat would be the same report
    return ResearchRequest(query=task.question, **{**said, **reuse, "docs": docs})
