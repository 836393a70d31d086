"""A model as judge of reports: it makes criteria for a question, scores reports by them, and compares two."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fathom.errors import Unreadable
from fathom.evaluation.scores import (
    DIMENSIONS,
    Criterion,
    Preference,
    RaceScore,
    TaskRubric,
    make_rubric,
    score_race,
    settle_pair,
)
from fathom.llm.prompt_budget import CuttableText, PromptBudget, PromptLines
from fathom.llm.roles.answer_forms import CompareAnswer, CriteriaAnswer, ScoreAnswer
from fathom.llm.structured_output import F, StructuredOutput
from fathom.prompts import load_prompt
from fathom.state import Cost, Failure, short_hash

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
        prompts = ", ".join(
            f"{one}@{load_prompt(one).revision}" for one in ("criteria", "scorer", "comparer")
        )
        return f"{self.output.chat.name}, {prompts}"

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
