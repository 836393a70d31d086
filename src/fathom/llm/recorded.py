"""A research model whose replies were recorded: they are found by role, page and part, not by prompt.

Only the replies are recorded. What is searched, verified, computed and rendered with them is as in every run.
A statement that the recorded model never made is refused, so control items test it like any other verifier.
It answers only the question it was recorded for.
"""

import asyncio
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from fathom.demo import recording_file
from fathom.errors import Refused, Unreadable
from fathom.llm.extractive import ExtractiveModel
from fathom.llm.roles import answer_forms, judge, planner, writer
from fathom.llm.roles.evidence import read_statements
from fathom.prompts import load_prompt
from fathom.report.sentence_checks import CheckInput
from fathom.settings.model_names import RECORDED
from fathom.state import (
    Claim,
    Cost,
    Edit,
    Heading,
    Outline,
    Plan,
    Role,
    Section,
    SubQuestion,
    Verdict,
    short_hash,
)
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
    ReportPoint,
    SentenceToCheck,
    VerificationItem,
    WriteInput,
)
from fathom.text.normalization import one_line

T = TypeVar("T")
# How long the recorded model takes, so that a reader can follow. A real one takes longer.
PACE_S: dict[Role, float] = {
    "plan": 0.3,
    "read": 0.4,
    "verify": 0.3,
    "judge": 0.3,
    "write": 0.4,
    "check": 0.2,
}
_OTHER_QUESTION = (
    "The demo's replies are recorded and answer only its own question. To ask another, configure a model."
)
_NOT_SAID = "The source does not say this."


@lru_cache
def load_recording(language: str) -> "RecordedModel":
    """Return the model with the replies in this language."""
    with recording_file(language).open("rb") as file:
        return RecordedModel(language=language, replies=tomllib.load(file))


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordedModel(ExtractiveModel):
    """Answers one question with recorded replies, in which claims have names instead of keys.

    For what was not recorded (a retry, a rewrite) it does what a model without an LLM does.
    """

    language: str
    replies: Mapping[str, Any]

    async def plan(self, brief: PlanInput) -> ModelResult[Plan]:
        """Return the plan of this round; the last one also for later rounds."""
        if brief.question != self.replies["question"] or brief.feedback:
            raise Refused(_OTHER_QUESTION)
        plans = self.replies["plans"]
        form = answer_forms.PlanAnswer.model_validate(plans[min(brief.round, len(plans)) - 1])
        return await self._reply("plan", str(brief.round), value=planner.read_plan(form, brief))

    async def read(
        self,
        question: str,
        questions: Sequence[SubQuestion],
        title: str,
        text: str,
        sought: SubQuestion | None = None,
        facts: PageFacts = NO_FACTS,
    ) -> ModelResult[list[ExtractedStatement]]:
        """Return the statements of this page."""
        form = answer_forms.ReadAnswer.model_validate(self._entry("pages", title))
        return await self._reply("read", title, value=read_statements(form))

    async def verify(self, evidence: Sequence[VerificationItem]) -> ModelResult[list[Verdict]]:
        """Accept what the recorded model said and did not take back; refuse all else."""
        verdicts = [self._verdict(item) for item in evidence]
        result = await self._reply("verify", *(item.statement for item in evidence), value=verdicts)
        by = f"{RECORDED}{self.language}, verifier@{load_prompt('verifier').revision}"
        return ModelResult(result.value, result.costs, by=by)

    async def judge(self, judge_input: JudgeInput) -> ModelResult[Assessment]:
        """Return the first judgement before there is an outline, then the last."""
        known = {name: claim for claim in judge_input.claims if (name := self._name_of(claim))}
        told = {
            **self.replies["judgements"][0 if judge_input.outline is None else -1],
            **self.replies["verdicts"],
        }
        told["evidence"] = "; ".join(self._claims[name] for name in told["evidence"] if name in known)
        told["parts"] = _with_ids(told["parts"], judge_input.outline)
        form = answer_forms.JudgeAnswer.model_validate(told)
        assessment = judge.read_assessment(form, judge_input, known)
        return await self._reply("judge", *sorted(known), value=assessment)

    async def write(self, brief: WriteInput) -> ModelResult[list[Section]]:
        """Return the parts of these headings, without sentences whose claims were not found this time."""
        known = {name: point for point in brief.points for c in point.claims if (name := self._name_of(c))}
        limits = {
            lacks: f"L{n}"
            for n, limit in enumerate(brief.limits, 1)
            for part in self.replies["verdicts"]["parts"]
            if (lacks := part.get("lacks")) and lacks in limit
        }
        written: list[Section] = []
        for heading in brief.headings:
            told = _without_unknown(self._part(heading, brief.points), {*known, *limits}, limits)
            form = answer_forms.WriteAnswer.model_validate(told)
            written += writer.read_sections(form, [heading], known, brief.limits)
        return await self._reply("write", *(heading.title for heading in brief.headings), value=written)

    async def check(self, brief: CheckInput) -> ModelResult[list[Objection]]:
        """Object to every sentence that the recorded model did not write on these claims."""
        names = {claim.id: self._name_of(claim) for claim in brief.claims}
        quotes = {claim.id: [one_line(quote.text) for quote in claim.quotes] for claim in brief.claims}
        objections = [
            Objection(place, _NOT_SAID)
            for place, item in enumerate(brief.items)
            if item.kind != "title"
            and not self._is_told(item, {names.get(claim, "") for claim in item.claims})
            and not any(item.statement in quotes.get(claim, []) for claim in item.claims)
        ]
        return await self._reply("check", *(item.statement for item in brief.items), value=objections)

    async def refute(self, brief: CheckInput) -> ModelResult[list[Objection]]:
        """Object to the same: the recorded model stands by its conclusions."""
        return await self.check(brief)

    async def edit(self, brief: EditInput) -> ModelResult[Edit]:
        """Return title and summary, without sentences that rest on nothing that was written this time."""
        texts = [sentence.text for section in brief.sections for sentence in section.sentences]
        numbers = {text: str(number) for number, text in enumerate(texts, 1)}
        summary = []
        for one in self.replies["edit"]["summary"]:
            bases = [numbers.get(self._sentences[name]["text"]) for name in one["rests_on"]]
            if any(bases):
                summary.append({**one, "rests_on": [base for base in bases if base]})
        form = answer_forms.EditAnswer.model_validate({**self.replies["edit"], "summary": summary})
        return await self._reply("write", "edit", value=writer.read_edit(form))

    async def _reply(self, role: Role, *about: str, value: T) -> ModelResult[T]:
        await asyncio.sleep(PACE_S[role])
        name = f"{RECORDED}{self.language}"
        return ModelResult(value, [Cost(call=short_hash(role, *about), role=role, model=name)])

    def _entry(self, kind: str, title: str) -> dict[str, Any]:
        found = next((one for one in self.replies[kind] if one["title"] == title), None)
        if found is None:
            raise Unreadable(f"The demo has no recorded reply for “{title}” ({kind}).")
        return dict(found)

    def _part(self, heading: Heading, points: Sequence[ReportPoint]) -> dict[str, Any]:
        """Return the part of this title; of a title that was changed, the part that shares most claims."""
        claims = [claim for point in points for claim in point.claims if claim.id in heading.claims]
        own = {self._name_of(claim) for claim in claims}
        parts = self.replies["verdicts"]["parts"]
        best = max(
            (part for part in parts if part.get("is_conclusion", False) == heading.is_conclusion),
            key=lambda part: (part["title"] == heading.title, len(own & set(part["claims"]))),
        )
        return self._entry("parts", best["title"])

    @cached_property
    def _claims(self) -> dict[str, str]:
        """What each claim says, by its name."""
        return {one["name"]: one["statement"] for page in self.replies["pages"] for one in page["claims"]}

    @cached_property
    def _names(self) -> dict[str, str]:
        return {statement: name for name, statement in self._claims.items()}

    @cached_property
    def _blocks(self) -> list[dict[str, Any]]:
        return [block for part in self.replies["parts"] for block in part["blocks"]]

    @cached_property
    def _sentences(self) -> dict[str, dict[str, Any]]:
        """The sentences that the summary rests on, by name."""
        return {one["name"]: one for b in self._blocks for one in b.get("sentences", []) if "name" in one}

    @cached_property
    def _told(self) -> dict[str, set[str]]:
        """Everything the recorded model said, with the names of the claims it said it on."""
        written = [one for block in self._blocks for one in block.get("sentences", [])]
        told = {one["text"]: {c for c in one.get("claims", []) if c in self._claims} for one in written}
        for one in self.replies["edit"]["summary"]:
            bases = [told[self._sentences[name]["text"]] for name in one["rests_on"]]
            told[one["text"]] = set().union(*bases)
        told |= {statement: {name} for name, statement in self._claims.items()}
        for page in self.replies["pages"]:
            names = [claim["name"] for claim in page["claims"]]
            told |= {one["statement"]: {names[one["claim"] - 1]} for one in page.get("paraphrases", [])}
        return told

    @cached_property
    def _cells(self) -> list[tuple[set[str], set[str]]]:
        """The cells of tables: the words that tell each, and the names of its claims."""
        return [
            ({block["columns"][n], row["cells"][0]["text"], cell["text"]}, set(cell["claims"]))
            for block in self._blocks
            for row in block.get("rows", [])
            for n, cell in enumerate(row["cells"])
            if cell.get("claims")
        ]

    def _is_told(self, item: SentenceToCheck, names: set[str]) -> bool:
        if item.statement in self._told:
            wanted = self._told[item.statement]
            return bool(wanted & names) or not (wanted or item.claims)
        return any(
            all(word in item.statement for word in words) and own & names for words, own in self._cells
        )

    def _verdict(self, item: VerificationItem) -> Verdict:
        why = self.replies["refused"].get(self._names.get(item.statement, ""), "")
        is_sound = not why and (item.statement in self._told or item.statement in item.quote.split("\n"))
        sound = dict.fromkeys(("is_explicit", "is_same_scope", "is_not_overstated"), is_sound)
        return Verdict(**sound, score=0.97 if is_sound else 0.1, reason="" if is_sound else why or _NOT_SAID)

    def _name_of(self, claim: Claim) -> str:
        return self._names.get(claim.statement, "")


def _without_unknown(told: Any, known: Collection[str], limits: Mapping[str, str]) -> Any:
    """Return a part without the sentences that miss one of their claims, with the keys of limits."""
    if isinstance(told, list):
        return [
            _without_unknown(one, known, limits)
            for one in told
            if not isinstance(one, dict)
            or all(_is_calculation(c) or c in known for c in one.get("claims", []))
        ]
    if isinstance(told, dict):
        return {name: _without_unknown(value, known, limits) for name, value in told.items()}
    return limits.get(told, told)


def _is_calculation(word: str) -> bool:
    return word[:1] == "C" and word[1:].isdigit()


def _with_ids(parts: Sequence[dict[str, Any]], outline: Outline | None) -> list[dict[str, Any]]:
    """Return the parts of a judgement with the ids they have."""
    ids = {heading.title: heading.id for heading in outline.headings} if outline else {}
    return [{**part, "id": ids.get(part["title"], "")} for part in parts]
