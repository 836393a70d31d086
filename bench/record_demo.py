"""Record the demo: a model answers the demo's question over the demo's documents, and its answers are kept.

    python bench/record_demo.py LANGUAGE [--model NAME] [--base-url URL]

LANGUAGE is en or ko. The run is an ordinary one; without options it asks the configured model. Writes
`src/fathom/demo/LANGUAGE.toml`, which `fathom.llm.recorded` plays, and prints the report.
"""

import argparse
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, TypeVar

from pydantic import BaseModel

from fathom.concurrency import run_in_new_loop
from fathom.demo import LANGUAGES, demo_request, recording_file
from fathom.errors import Unreadable
from fathom.graph import CustomDependencies, build_graph, standard_dependencies
from fathom.llm.factory import make_outputs
from fathom.llm.llm_model import LLMResearchModel
from fathom.llm.prompt_budget import PromptBudget
from fathom.llm.protocol import ResearchModel
from fathom.llm.roles.judge import key_claims
from fathom.llm.roles.writer import key_points
from fathom.llm.structured_output import F, FormAnswer, StructuredOutput
from fathom.prompts import FilledPrompt
from fathom.report.sentence_checks import CheckInput
from fathom.request import ResearchRequest
from fathom.settings import Settings, load_settings
from fathom.state import Edit, Plan, Role, Section, Sentence, SubQuestion, Verdict
from fathom.state.model_io import (
    NO_FACTS,
    Assessment,
    EditInput,
    ExtractedStatement,
    JudgeInput,
    ModelResult,
    Objection,
    PageFacts,
    PlanInput,
    RefusedClaim,
    ReportPoint,
    RewriteInput,
    VerificationItem,
    WriteInput,
)

T = TypeVar("T")
Entry = dict[str, Any]
_LINE = 100  # characters
_forms: ContextVar[list[BaseModel]] = ContextVar("forms")


class HeardOutput(StructuredOutput):
    """Structured output that notes every answer for whoever made the call."""

    async def ask(
        self,
        role: Role,
        prompt_budget: PromptBudget | FilledPrompt,
        form: type[F],
        complaint: Callable[[F], str] = lambda _: "",
    ) -> FormAnswer[F]:
        """Return the answer and note it."""
        answer = await super().ask(role, prompt_budget, form, complaint)
        _forms.get().append(answer.form)
        return answer


async def heard(call: Awaitable[T]) -> tuple[T, list[Entry]]:
    """Return a call's result and the answers it was made of, without what they leave open."""
    forms: list[BaseModel] = []
    _forms.set(forms)
    result = await call
    return result, [form.model_dump(exclude_defaults=True) for form in forms]


@dataclass
class Recording:
    """The answers of a run. The keys of claims are the judge's: a claim has the same in every round."""

    claims: dict[str, str] = field(default_factory=dict)
    plans: list[Entry] = field(default_factory=list)
    pages: list[Entry] = field(default_factory=list)
    verdicts: dict[str, Entry] = field(default_factory=dict)  # by statement
    retries: list[Entry] = field(default_factory=list)
    judgements: list[Entry] = field(default_factory=list)
    draft: Entry = field(default_factory=dict)
    checks: dict[str, Entry] = field(default_factory=dict)  # by sentence
    rewrites: list[Entry] = field(default_factory=list)
    edit: Entry = field(default_factory=dict)
    refutations: dict[str, Entry] = field(default_factory=dict)  # by sentence

    def key_of(self, statement: str) -> str:
        """Return the key of a claim."""
        return next((key for key, known in self.claims.items() if known == statement), "")

    def legend(self, points: Sequence[ReportPoint]) -> dict[str, str]:
        """Return which claims a writer's keys stand for."""
        return {key: self.key_of(p.claims[0].statement) for key, p in key_points(points).items()}


@dataclass(frozen=True)
class RecordingModel(LLMResearchModel):
    """A research model that keeps its answers."""

    recording: Recording = field(default_factory=Recording)

    async def plan(self, brief: PlanInput) -> ModelResult[Plan]:
        """Plan a round."""
        result, forms = await heard(super().plan(brief))
        self.recording.plans += forms
        return result

    async def read(
        self,
        question: str,
        questions: Sequence[SubQuestion],
        title: str,
        text: str,
        sought: SubQuestion | None = None,
        facts: PageFacts = NO_FACTS,
    ) -> ModelResult[list[ExtractedStatement]]:
        """Read a page."""
        result, forms = await heard(super().read(question, questions, title, text, sought, facts))
        self.recording.pages += [{"title": title, **form} for form in forms]
        return result

    async def verify(self, evidence: Sequence[VerificationItem]) -> ModelResult[list[Verdict]]:
        """Verify statements."""
        result, _ = await heard(super().verify(evidence))
        for item, verdict in zip(evidence, result.value, strict=True):
            self.recording.verdicts[item.statement] = verdict.model_dump()
        return result

    async def retry(self, refusals: Sequence[RefusedClaim]) -> ModelResult[list[ExtractedStatement | None]]:
        """Restate refused claims."""
        result, _ = await heard(super().retry(refusals))
        self.recording.retries += [
            {"refused": refused.statement, "restated": vars(anew)}
            for refused, anew in zip(refusals, result.value, strict=True)
            if anew
        ]
        return result

    async def judge(self, judge_input: JudgeInput) -> ModelResult[Assessment]:
        """Judge a round."""
        result, forms = await heard(super().judge(judge_input))
        self.recording.judgements += forms
        keyed = key_claims(judge_input)
        known = self.recording.claims | {key: claim.statement for key, claim in keyed.items()}
        self.recording.claims = dict(sorted(known.items(), key=lambda pair: int(pair[0].removeprefix("E"))))
        return result

    async def write(self, brief: WriteInput) -> ModelResult[list[Section]]:
        """Write the report."""
        result, forms = await heard(super().write(brief))
        if self.recording.draft or len(forms) != 1:
            raise Unreadable("The report was not written in one answer, so it cannot be played. Try again.")
        keys = self.recording.legend(brief.points)
        parts = {heading.id: heading.title for heading in brief.headings}
        self.recording.draft = {"limits": list(brief.limits), "parts": parts, "keys": keys, **forms[0]}
        return result

    async def check(self, brief: CheckInput) -> ModelResult[list[Objection]]:
        """Check sentences."""
        result, _ = await heard(super().check(brief))
        self._note(self.recording.checks, brief, result.value)
        return result

    async def refute(self, brief: CheckInput) -> ModelResult[list[Objection]]:
        """Refute conclusions."""
        result, _ = await heard(super().refute(brief))
        self._note(self.recording.refutations, brief, result.value)
        return result

    async def rewrite(self, revision: RewriteInput) -> ModelResult[list[Sentence]]:
        """Rewrite sentences."""
        result, forms = await heard(super().rewrite(revision))
        texts, keys = [one.text for one in revision.sentences], self.recording.legend(revision.points)
        head = {"sentences": texts, "limits": list(revision.limits), "keys": keys}
        self.recording.rewrites += [{**head, **form} for form in forms]
        return result

    async def edit(self, brief: EditInput) -> ModelResult[Edit]:
        """Edit the report."""
        result, forms = await heard(super().edit(brief))
        texts = [sentence.text for section in brief.sections for sentence in section.sentences]
        self.recording.edit = {"sentences": texts, **forms[-1]}
        return result

    def _note(self, notes: dict[str, Entry], brief: CheckInput, objections: Sequence[Objection]) -> None:
        keys = {claim.id: self.recording.key_of(claim.statement) for claim in brief.claims}
        for item in brief.items:
            notes[item.statement] = {"claims": [keys[claim] for claim in item.claims if keys.get(claim)]}
        for one in objections:
            said = {"why": one.why, "is_stated": one.is_stated, "instead": one.instead}
            notes[brief.items[one.sentence].statement] |= {k: v for k, v in said.items() if v}


async def run(settings: Settings, request: ResearchRequest, model: ResearchModel) -> str:
    """Return the report that this model makes of the request."""
    run_config = request.run_config(settings.run)
    make = standard_dependencies(settings.with_allowed(run_config))
    own = CustomDependencies(lambda config: replace(make(config), model=model), make.run_configs())
    state: Any = await build_graph(own).ainvoke({"question": request.query}, context=run_config)
    return str(state["report"].markdown)


async def record(settings: Settings, request: ResearchRequest) -> tuple[Recording, str, str]:
    """Return the answers that the request's model gives, its name and the report."""
    run_config = request.run_config(settings.run)
    outputs = make_outputs(settings.with_allowed(run_config), run_config)
    model = RecordingModel({role: HeardOutput(one.chat, one.window) for role, one in outputs.items()})
    report = await run(settings, request, model)
    return model.recording, outputs["write"].chat.name, report


def as_toml(value: object, indent: str = "") -> str:
    """Return a value in TOML; lists of tables, and lists that fill a line, have a line for each entry."""
    if isinstance(value, Mapping):
        return (
            "{ " + ", ".join(f"{_key(name)} = {as_toml(one, indent)}" for name, one in value.items()) + " }"
        )
    said = json.dumps(value, ensure_ascii=False)
    if isinstance(value, list) and (len(said) > _LINE or any(isinstance(one, dict) for one in value)):
        lines = [f"{indent}  {as_toml(one, indent + '  ')},\n" for one in value]
        return "[\n" + "".join(lines) + indent + "]"
    return said


def _key(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else json.dumps(name, ensure_ascii=False)


def as_file(recording: Recording, question: str, model: str) -> str:
    """Return the recording as a TOML file."""
    told = {"question": question, "model": model, "recorded": date.today().isoformat()}
    lines = ["# Written by bench/record_demo.py: the answers of a model, by role and step."]
    lines += [f"{name} = {as_toml(value)}" for name, value in told.items()]
    for name, value in vars(recording).items():
        for one in value if isinstance(value, list) else [value]:
            lines += ["", f"[[{name}]]" if isinstance(value, list) else f"[{name}]"]
            lines += [f"{_key(part)} = {as_toml(said)}" for part, said in one.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Record one language."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("language", choices=LANGUAGES)
    parser.add_argument("--model", help="the model to record; otherwise the configured one")
    parser.add_argument("--base-url", help="its server, if it has one of its own")
    given = parser.parse_args()
    settings = load_settings()
    wanted = {"model": given.model or settings.model, "base_url": given.base_url}
    request = demo_request(given.language).model_copy(update=wanted)
    recording, model, report = run_in_new_loop(record(settings, request))
    recording_file(given.language).write_text(as_file(recording, request.query, model), "utf-8")
    print(report)


if __name__ == "__main__":
    main()
