"""A research model whose answers were recorded from a strong model (`bench/record_demo.py`).

Plans are found by round, readings by the title of the page, judgements by whether there is an outline yet,
verdicts by statement, checks and rewrites by sentence. Answers are kept as the model gave them; the recording
says which claims and sentences their keys stood for. What is searched, verified, computed and rendered with
them is as in every run. It answers only the question it was recorded for.
"""

import asyncio
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
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
    EditedText,
    Outline,
    Plan,
    Role,
    Section,
    Sentence,
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
    RefusedClaim,
    ReportPoint,
    RewriteInput,
    SentenceToCheck,
    VerificationItem,
    WriteInput,
)
from fathom.text.normalization import one_line

T = TypeVar("T")
# How long an answer takes, so that a reader can follow. The model that was recorded took longer.
PACE_S: dict[Role, float] = {
    "plan": 0.2,
    "read": 0.2,
    "verify": 0.1,
    "judge": 0.2,
    "write": 0.2,
    "check": 0.1,
}
_OTHER_QUESTION = (
    "The demo's replies are recorded and answer only its own question. To ask another, configure a model."
)
_NOT_SAID = "The source does not say this."


@lru_cache
def load_recording(language: str) -> "RecordedModel":
    """Return the model with the answers in this language."""
    with recording_file(language).open("rb") as file:
        return RecordedModel(language=language, replies=tomllib.load(file))


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordedModel(ExtractiveModel):
    """Answers one question as the recorded model did.

    Statements that it was never asked about (other control items than in the recorded run) hold only if it
    made them itself or if they are quotations.
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
        page = next((page for page in self.replies["pages"] if page["title"] == title), None)
        if page is None:
            raise Unreadable(f"The demo has no recorded reply for “{title}”.")
        return await self._reply("read", title, value=_read_page(page))

    async def verify(self, evidence: Sequence[VerificationItem]) -> ModelResult[list[Verdict]]:
        """Return the recorded verdicts."""
        verdicts = [self._verdict(item) for item in evidence]
        result = await self._reply("verify", *(item.statement for item in evidence), value=verdicts)
        by = f"{RECORDED}{self.language}, verifier@{load_prompt('verifier').revision}"
        return ModelResult(result.value, result.costs, by=by)

    async def retry(self, refusals: Sequence[RefusedClaim]) -> ModelResult[list[ExtractedStatement | None]]:
        """Return the recorded restatements; None for a claim that the model gave up."""
        anew = {one["refused"]: one["restated"] for one in self.replies.get("retries", [])}
        value = [
            ExtractedStatement(**anew[one.statement]) if one.statement in anew else None for one in refusals
        ]
        return await self._reply("read", *(one.statement for one in refusals), value=value)

    async def judge(self, judge_input: JudgeInput) -> ModelResult[Assessment]:
        """Return the first judgement before there is an outline, then the last."""
        told = self.replies["judgements"][0 if judge_input.outline is None else -1]
        told = {**told, "parts": _with_ids(told["parts"], judge_input.outline)}
        known = {key: claim for claim in judge_input.claims if (key := self._key_of(claim))}
        form = answer_forms.JudgeAnswer.model_validate(told)
        assessment = judge.read_assessment(form, judge_input, known)
        return await self._reply("judge", *sorted(known), value=assessment)

    async def write(self, brief: WriteInput) -> ModelResult[list[Section]]:
        """Return these parts, without sentences whose claims were not found this time."""
        told = _with_todays_parts(self.replies["draft"], brief)
        known, limits = self._points(told["keys"], brief.points), told["limits"]
        form = answer_forms.WriteAnswer.model_validate(
            _without_unknown(told, {*known, *_limit_keys(limits, brief.limits)})
        )
        written = writer.read_sections(form, brief.headings, known, limits)
        return await self._reply("write", *(heading.id for heading in brief.headings), value=written)

    async def check(self, brief: CheckInput) -> ModelResult[list[Objection]]:
        """Return the recorded objections; object to what the model was never shown, but not to a title."""
        return await self._object("checks", brief)

    async def refute(self, brief: CheckInput) -> ModelResult[list[Objection]]:
        """Return the recorded refutations."""
        return await self._object("refutations", brief)

    async def rewrite(self, revision: RewriteInput) -> ModelResult[list[Sentence]]:
        """Return the recorded rewrites; quote instead of a sentence that the model did not rewrite."""
        quoted = (await super().rewrite(revision)).value
        value = [
            self._rewritten(old, revision) or quote
            for old, quote in zip(revision.sentences, quoted, strict=True)
        ]
        return await self._reply("write", *(one.text for one in revision.sentences), value=value)

    async def edit(self, brief: EditInput) -> ModelResult[Edit]:
        """Return title, summary and changes, as far as their sentences were written this time."""
        told = self.replies["edit"]
        texts = [sentence.text for section in brief.sections for sentence in section.sentences]
        places = {text: number for number, text in enumerate(texts, 1)}
        numbers = {n: places[text] for n, text in enumerate(told["sentences"], 1) if text in places}
        edit = writer.read_edit(answer_forms.EditAnswer.model_validate(told))
        return await self._reply("write", "edit", value=_renumber(edit, numbers))

    async def _reply(self, role: Role, *about: str, value: T) -> ModelResult[T]:
        await asyncio.sleep(PACE_S[role])
        name = f"{RECORDED}{self.language}"
        return ModelResult(value, [Cost(call=short_hash(role, *about), role=role, model=name)])

    async def _object(self, kind: str, brief: CheckInput) -> ModelResult[list[Objection]]:
        told = self.replies[kind]
        keys = {claim.id: self._key_of(claim) for claim in brief.claims}
        quotes = {claim.id: [one_line(quote.text) for quote in claim.quotes] for claim in brief.claims}
        objections = []
        for place, item in enumerate(brief.items):
            one = told.get(item.statement)
            if one and _shares_a_claim(one, item, keys):
                why, instead, is_stated = (one.get(name) for name in ("why", "instead", "is_stated"))
                if why or is_stated:
                    objections.append(Objection(place, why or "", bool(is_stated), instead or ""))
            elif item.kind != "title" and not any(
                item.statement in quotes.get(claim, []) for claim in item.claims
            ):
                objections.append(Objection(place, _NOT_SAID))
        return await self._reply("check", *(item.statement for item in brief.items), value=objections)

    def _verdict(self, item: VerificationItem) -> Verdict:
        if item.statement in self._verdicts:
            return self._verdicts[item.statement]
        is_sound = item.statement in self._said or item.statement in item.quote.split("\n")
        sound = dict.fromkeys(("is_explicit", "is_same_scope", "is_not_overstated"), is_sound)
        return Verdict(**sound, score=1.0 if is_sound else 0.0, reason="" if is_sound else _NOT_SAID)

    @cached_property
    def _verdicts(self) -> dict[str, Verdict]:
        return {one: Verdict.model_validate(verdict) for one, verdict in self.replies["verdicts"].items()}

    @cached_property
    def _said(self) -> set[str]:
        """The claims and true paraphrases of the recorded model."""
        read = [one for page in self.replies["pages"] for one in _read_page(page)]
        return {one.statement for one in read if one.kind != "falsehood"}

    @cached_property
    def _keys(self) -> dict[str, str]:
        return {statement: key for key, statement in self.replies["claims"].items()}

    def _key_of(self, claim: Claim) -> str:
        return self._keys.get(claim.statement, "")

    def _points(self, keys: Mapping[str, str], points: Sequence[ReportPoint]) -> dict[str, ReportPoint]:
        """Return today's findings under the keys that the recorded writer had for them."""
        by_claim = {self._key_of(claim): point for point in points for claim in point.claims}
        return {key: by_claim[claim] for key, claim in keys.items() if claim in by_claim}

    def _rewritten(self, old: Sentence, revision: RewriteInput) -> Sentence | None:
        for told in self.replies.get("rewrites", []):
            number = told["sentences"].index(old.text) + 1 if old.text in told["sentences"] else 0
            own = [{**one, "sentence": 1} for one in told["rewrites"] if one["sentence"] == number]
            form = answer_forms.RewriteAnswer.model_validate({**told, "rewrites": own})
            known = self._points(told["keys"], revision.points)
            if own:
                return writer.read_rewrites(form, [old], known, told.get("limits", []))[0]
        return None


def _read_page(page: Mapping[str, Any]) -> list[ExtractedStatement]:
    return read_statements(answer_forms.ReadAnswer.model_validate(page))


def _with_ids(parts: Sequence[dict[str, Any]], outline: Outline | None) -> list[dict[str, Any]]:
    """Return the parts of a judgement with the ids that they have today."""
    ids = {heading.title: heading.id for heading in outline.headings} if outline else {}
    return [{**part, "id": ids.get(part["title"], part.get("id", ""))} for part in parts]


def _with_todays_parts(told: Mapping[str, Any], brief: WriteInput) -> dict[str, Any]:
    """Return what was written of these parts, which may have other ids than in the recorded run."""
    ids = {heading.title: heading.id for heading in brief.headings}
    today = {part: ids[title] for part, title in told["parts"].items() if title in ids}
    return {
        **told,
        **{
            kind: [{**one, "part": today[one["part"]]} for one in told.get(kind, []) if one["part"] in today]
            for kind in ("titles", "blocks")
        },
    }


def _shares_a_claim(told: Mapping[str, Any], item: SentenceToCheck, keys: Mapping[str, str]) -> bool:
    """Tell whether a sentence stands on a claim that it stood on in the recorded run, or on none as there."""
    wanted = set(told.get("claims", []))
    return bool(wanted & {keys.get(claim) for claim in item.claims}) or not (wanted or item.claims)


def _limit_keys(recorded: Sequence[str], known: Collection[str]) -> set[str]:
    return {f"L{n}" for n, limit in enumerate(recorded, 1) if limit in known}


def _without_unknown(told: Any, known: Collection[str]) -> Any:
    """Return an answer without the sentences and rows that miss one of their claims."""
    if isinstance(told, list):
        return [_without_unknown(one, known) for one in told if _is_known(one, known)]
    if isinstance(told, dict):
        return {name: _without_unknown(value, known) for name, value in told.items()}
    return told


def _is_known(told: Any, known: Collection[str]) -> bool:
    if not isinstance(told, dict):
        return True
    cells: Iterable[Any] = told.get("cells", [])
    keys = [key for one in (told, *cells) for key in one.get("claims", [])]
    return all(key in known or (key[:1] == "C" and key[1:].isdigit()) for key in keys)


def _renumber(edit: Edit, numbers: Mapping[int, int]) -> Edit:
    """Return the edit with today's numbers of its sentences, without what speaks of none."""
    summary = [
        one.model_copy(update={"rests_on": rests})
        for one in edit.summary
        if (rests := [numbers[n] for n in one.rests_on if n in numbers])
    ]
    return Edit(
        title=edit.title,
        summary=summary,
        changes=_renumbered(edit.changes, numbers),
        links=_renumbered(edit.links, numbers),
        repetitions=[
            one.model_copy(update={"number": numbers[one.number], "same_as": numbers[one.same_as]})
            for one in edit.repetitions
            if one.number in numbers and one.same_as in numbers
        ],
        cuts=[numbers[n] for n in edit.cuts if n in numbers],
    )


def _renumbered(texts: Sequence[EditedText], numbers: Mapping[int, int]) -> list[EditedText]:
    return [one.model_copy(update={"number": numbers[one.number]}) for one in texts if one.number in numbers]
