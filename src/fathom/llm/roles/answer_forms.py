"""Answer schemas, one per prompt, strict towards the server and lenient in parsing.

Their names and docstrings are sent to the model."""

from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from fathom.llm.answer_parsing import coerce_fields


def _require_all_fields(schema: dict[str, Any]) -> None:
    """Require every field in the schema, also those that may be missing from an answer."""
    schema["additionalProperties"] = False
    schema["required"] = list(schema.get("properties", {}))
    for field in schema.get("properties", {}).values():
        field.pop("default", None)  # a strict server refuses defaults; they only help parsing


class Form(BaseModel):
    """Every field asked for, none allowed beside; an extra one that comes back is ignored."""

    model_config = ConfigDict(
        extra="ignore", json_schema_extra=_require_all_fields, coerce_numbers_to_str=True
    )

    @model_validator(mode="before")
    @classmethod
    def _coerce_values(cls, value: Any) -> Any:
        return coerce_fields(value, cls)


class SubQuestionForm(Form):
    """A sub-question, a short id such as Q1, the ids it must wait for, and who would ask it."""

    id: str
    text: str
    needs: list[str] = []
    perspective: str = ""


class QueryForm(Form):
    """A search query, the id of the sub-question it serves, and web, academic or counter."""

    question: str
    text: str
    family: str = ""


class PlanAnswer(Form):
    """The plan of a round; kind is fact, comparison or survey, hypotheses are answers worth testing."""

    strategy: str
    kind: str = ""
    perspectives: list[str] = []
    questions: list[SubQuestionForm]
    queries: list[QueryForm]
    hypotheses: list[str] = []


class QuotingForm(Form):
    """Words copied from the source; `quote`, or one text for the list, is taken for `quotes`."""

    quotes: list[str]

    @model_validator(mode="before")
    @classmethod
    def _in_a_list(cls, value: Any) -> Any:
        """Wrap a single quote in a list: its commas must not split it."""
        if not isinstance(value, dict):
            return value
        name = next((name for name in value if str(name).lower() in ("quotes", "quote")), "")
        given = value.get(name)
        return {**value, "quotes": [given]} if isinstance(given, str) else value


class ClaimForm(QuotingForm):
    """The words copied from the source first, then what they say, then what was resolved."""

    question: str
    statement: str
    resolved: str = ""
    relevance: float


class ParaphraseForm(Form):
    """The number of a claim in the list, and the same said in other words."""

    claim: int
    statement: str


class FalsehoodForm(Form):
    """The number of a claim, the source's words that change, what they change to, and the false statement."""

    claim: int
    original: str
    changed: str
    statement: str


class ReadAnswer(Form):
    """What one source says; then two paraphrases and two near misses of its claims."""

    claims: list[ClaimForm]
    paraphrases: list[ParaphraseForm] = []
    falsehoods: list[FalsehoodForm] = []


class RestatedForm(QuotingForm):
    """The words copied from the source, the number of the refused claim, and what they do say."""

    item: int
    statement: str
    resolved: str = ""


class RetryAnswer(Form):
    """The refused claims that can be mended."""

    restated: list[RestatedForm]


class VerdictForm(Form):
    """The check of one numbered item: the reason first where one is needed, then the three answers."""

    item: int
    reason: str = ""
    is_explicit: bool
    is_same_scope: bool
    is_not_overstated: bool
    score: float


class VerifyAnswer(Form):
    """The check of every item."""

    verdicts: list[VerdictForm]


class GapForm(Form):
    """Something missing; priority is high, medium or low, reason is not found or rejected."""

    question: str
    description: str
    priority: str
    suggested_query: str
    reason: str = ""


class BearingForm(Form):
    """The key of a hypothesis, and the keys of the claims that speak for it and against it."""

    hypothesis: str
    supporting: list[str]
    contradicting: list[str]


class RulingForm(Form):
    """The keys of claims that say the same, or of two that contradict each other.

    relation is same or contradicts; kind is what they differ in: number, date, negation or other.
    """

    claims: list[str]
    relation: str
    kind: str = ""
    why: str = ""


class PartForm(Form):
    """A part of the report: its id if it has one, the keys of its claims; priority is high, medium or low."""

    id: str = ""
    title: str = ""
    aim: str = ""
    question: str = ""
    claims: list[str] = []
    lacks: str = ""
    priority: str = ""
    is_conclusion: bool = False


class JudgeAnswer(Form):
    """Evidence first, then the marks of 1 to 5, which claims say the same, the outline, the gaps."""

    evidence: str
    accuracy: int
    relevance: int
    completeness: int
    consistency: int
    rulings: list[RulingForm] = []
    title: str = ""
    parts: list[PartForm] = []
    gaps: list[GapForm]
    failed_checks: list[str] = []
    hypotheses: list[BearingForm] = []
    confidence: float = 0.0


class SectionForm(Form):
    """A part: its title, what it tells the reader, the sub-question it answers, and the keys of its claims.

    priority is high, medium or low; is_conclusion is true for the part that weighs the others.
    """

    title: str
    aim: str = ""
    question: str = ""
    claims: list[str]
    priority: str = ""
    is_conclusion: bool = False


class OutlineAnswer(Form):
    """The outline of the report."""

    title: str
    sections: list[SectionForm]


class OperandForm(Form):
    """A name for the formula such as a or b; one figure, year or full date as the source has it, with its
    unit; and the key of its claim."""

    name: str
    value: str
    claim: str


class CalculationForm(Form):
    """A key such as C1; a formula over operand names, such as (b - a) / a * 100; the operands; and the result
    with its unit, rounded as the sentence has it. Durations are turned into days; months go with months."""

    key: str
    formula: str
    operands: list[OperandForm]
    result: str


class SentenceForm(Form):
    """A sentence or a table's cell; kind is fact, calculation, inference, limit or link; claims are keys."""

    text: str
    kind: str = ""
    claims: list[str] = []


class RowForm(Form):
    """One row of a table, a cell for each column; the first cell names the row."""

    cells: list[SentenceForm]


class BlockForm(Form):
    """part is the id of its part; kind is paragraph, bullets, numbered or table; title is a sub-heading or a
    table's caption, or empty.

    A table has columns and rows and no sentences, anything else has sentences only.
    """

    part: str = ""
    kind: str = ""
    title: str = ""
    sentences: list[SentenceForm] = []
    columns: list[str] = []
    rows: list[RowForm] = []


class TitleForm(Form):
    """part is the id of a part; title is two to six words that say what it is about."""

    part: str
    title: str


class WriteAnswer(Form):
    """The plan first; then a title for each part, the blocks of all parts in reading order, and their
    calculations."""

    plan: str = ""
    titles: list[TitleForm] = []
    blocks: list[BlockForm]
    calculations: list[CalculationForm] = []

    @model_validator(mode="before")
    @classmethod
    def _in_blocks(cls, value: Any) -> Any:
        """Make one paragraph of the sentences where a model leaves out the blocks."""
        if isinstance(value, dict) and not value.get("blocks") and isinstance(value.get("sentences"), list):
            return {**value, "blocks": [{"kind": "paragraph", "sentences": value["sentences"]}]}
        return value


class RewriteForm(Form):
    """The number of a sentence, its new text, its kind (fact, calculation, inference, limit), its keys."""

    sentence: int
    text: str
    kind: str = ""
    claims: list[str] = []


class RewriteAnswer(Form):
    """The sentences that were sent back, anew."""

    rewrites: list[RewriteForm]
    calculations: list[CalculationForm] = []


class ObjectionForm(Form):
    """The number of a sentence that is not carried, and why."""

    sentence: int
    why: str


class CheckAnswer(Form):
    """The sentences that are not carried; and the numbers of inferences that a source states outright."""

    objections: list[ObjectionForm]
    stated: list[int] = []


class RefutationForm(ObjectionForm):
    """The number of a conclusion, why it fails, and the strongest sentence in its place that the evidence
    does carry; empty if there is none."""

    instead: str = ""


class RefuteAnswer(Form):
    """The conclusions that fail."""

    objections: list[RefutationForm]


class SummaryForm(Form):
    """A sentence of the summary, a second wording or nothing, and the numbers of the sentences behind it."""

    text: str
    plainer: str = ""
    rests_on: list[str]


class ChangeForm(Form):
    """The number of a sentence of the draft, and its new text."""

    sentence: int
    text: str


class RepetitionForm(Form):
    """The number of a sentence to remove, and the number of the one that says the same."""

    sentence: int
    same_as: int


class EditAnswer(Form):
    """The summary first; then what goes, what changes, and links to put after a sentence."""

    title: str = ""
    summary: list[SummaryForm]
    repetitions: list[RepetitionForm] = []
    cuts: list[int] = []
    changes: list[ChangeForm] = []
    links: list[ChangeForm] = []


class AuditItemForm(Form):
    """The number of an item, a reason, supported, partly, contradicted or absent, and a quote."""

    item: int
    reason: str = ""
    verdict: str
    quote: str = ""

    @field_validator("verdict")
    @classmethod
    def _plain(cls, verdict: str) -> str:
        return verdict.strip(" \t\r\n.!\"'*`").lower()


class AuditAnswer(Form):
    """One entry for every item."""

    verdicts: list[AuditItemForm]


class CriterionForm(Form):
    """A dimension, one criterion of it, and its weight among those of the dimension."""

    dimension: str
    text: str
    weight: float


class CriteriaAnswer(Form):
    """The weights of the four dimensions, and the criteria of each."""

    comprehensiveness: float
    insight: float
    instruction_following: float
    readability: float
    criteria: list[CriterionForm]


class CriterionScoreForm(Form):
    """The number of a criterion, a reason, and the scores of both reports from 0 to 10."""

    criterion: int
    reason: str = ""
    first: float
    second: float = 0.0


class ScoreAnswer(Form):
    """One entry for every criterion."""

    scores: list[CriterionScoreForm]


class CompareAnswer(Form):
    """A reason, and which report is better: first, second or tie."""

    reason: str = ""
    better: str
