"""Records are strict, and come back from a checkpoint as what they were."""

import json
import pickle
from typing import Any, get_args, get_type_hints

import pytest
from fakes.records import (
    RUBRIC,
    claim,
    cost,
    draft,
    earlier,
    gap,
    heading,
    hit,
    judgement,
    known,
    page,
    plan,
    query,
    quote,
    sentence,
)
from fakes.records import section as section_of
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import BaseModel, ValidationError

from fathom import state
from fathom.state import (
    Block,
    Calculation,
    Change,
    Check,
    Citation,
    Contradiction,
    ContradictionSide,
    Control,
    ControlTally,
    Cost,
    Direction,
    Edit,
    EditedText,
    Effort,
    Failure,
    Finding,
    Forecast,
    Fork,
    Gain,
    Hypothesis,
    Lesson,
    Operand,
    Origin,
    Outline,
    Reason,
    Record,
    Rejected,
    Repetition,
    Report,
    Reread,
    Ruling,
    RunConfig,
    RunUpdate,
    StopReason,
    SubQuestion,
    SummarySentence,
    ThinkingTool,
    short_hash,
)
from fathom.storage.checkpoints import ALLOWED, CompressedSerializer

SERIALIZER = CompressedSerializer()


class Foreign(BaseModel):
    """A type that no checkpoint holds."""

    word: str


SECTION = section_of(sentence("조력 발전소는 바다에 있다.", "c1"))
CITATION = Citation(
    number=1,
    page="ab",
    address="https://a.example/x",
    title="A",
    published=None,
    fetched="2025-06-01",
    quotes=[quote()],
)
OPERAND = Operand(name="a", value="0.75", claim="c1")
SIDES = [
    ContradictionSide(claims=["c1"], value="240 megawatts", pages=["ab"], published=["2024-05-01"]),
    ContradictionSide(claims=["c2"], value="320메가와트", pages=["cd"], published=[None]),
]
EXAMPLES: list[BaseModel] = [
    draft("조력 발전소는 전기를 만든다.", notes=["'조력'"], why="refused", objection="아니다"),
    Control(id="k", page="ab", statement="s", quotes=[], is_true=False, kind="figure"),
    ControlTally(call="c", verifier="m, verifier@1", language="ko", kind="date", shown=2, missed=1),
    Block(kind="table", title="By year", columns=["Year", "Rate"]),
    OPERAND,
    SummarySentence(text="조력", rests_on=[1]),
    EditedText(number=1, text="x"),
    Repetition(number=2, same_as=1),
    Edit(title="T", summary=[SummarySentence(text="x", rests_on=[1])]),
    Calculation(formula="a * 2", operands=[OPERAND], result="1.5"),
    cost(),
    Check(name="freshness", is_passed=False, why="the newest page is of 2019", gap=gap()),
    CITATION,
    Change(kind="page gone", what="A page", why="404"),
    claim("조력 발전은 바다에서 전기를 얻는다."),
    Direction(id="b1", text="조력 발전의 한계", angle="counter-evidence", rounds=2, queries=3, sources=4),
    Rejected(page="ab", count=2, why="not there"),
    Effort(kind="fact", questions=2, rounds=3, sources=8, branches=1, reason="asks for one thing"),
    Forecast(
        expected_usd=0.1,
        worst_usd=1.0,
        expected_s=60.0,
        worst_s=900.0,
        calls=30,
        tokens_in=90_000,
        tokens_out=9_000,
        because="no earlier runs here",
        unpriced=["조력"],
    ),
    Fork(run="0a1b2c3d", round=2, direction="어민들은 어떻게 보는가?"),
    Gain(new=3, queries=2, usd=0.1, per_query=1.5, per_usd=30.0),
    earlier(),
    known(),
    known().turns[0],
    gap(),
    Hypothesis(id="H1", statement="조수는 싸다.", supporting=["c1"], contradicting=["c2"], confidence=0.45),
    heading("c1"),
    hit(published="2024-01-01"),
    judgement(gaps=[gap("low")], stop="sufficient", because="score"),
    StopReason(phrase="new", values={"new": "0", "known": "2"}),
    Reason(phrase="chain", values={"count": "2"}),
    RunConfig(depth="standard", docs=["notes"]),
    Lesson(query="r1q1", text="조력", question="Q1", family="counter", round=1, pages=2, claims=0),
    Failure(where="search", what="q", why="timeout"),
    Outline(title="T", headings=[heading("c1")]),
    page(),
    Origin(address="https://a.example/x", words="에 따르면", start=0, end=9),
    plan("a", "b"),
    query(),
    quote(),
    Report(title="T", status="partial", sections=[SECTION], citations=[CITATION], markdown="# T\n"),
    Reread(page="ab", sought=SubQuestion(id="Q1", text="Costs"), round=2),
    RUBRIC,
    SECTION,
    sentence("x", status="connective"),
    RunUpdate(run="x", since="2025-05-01", changes=[Change(kind="claim new", what="x")]),
    SubQuestion(id="Q2", text="Why?", needs=["Q1"], perspective="a critic"),
    ThinkingTool(name="Occam's razor", because="three explanations compete"),
    claim().verdict,
    Contradiction(
        id="x", kind="number", question="Q1", about="capacity", sides=SIDES, settled_by=None, favoured=None
    ),
    Finding(
        id="f",
        statement="It floats.",
        question="Q1",
        claims=["c1"],
        independent_sources=["a"],
        confidence=0.6,
        tag="LIKELY",
    ),
    Ruling(claims=["c1", "c2"], relation="contradicts", kind="number", why="240 is not 320", by="rules"),
    SIDES[0],
]

SAVED_NAMES = [
    "Block",
    "Calculation",
    "Change",
    "Check",
    "Citation",
    "Claim",
    "ClaimDraft",
    "Contradiction",
    "ContradictionSide",
    "Control",
    "ControlTally",
    "Cost",
    "Direction",
    "EarlierRun",
    "Edit",
    "EditedText",
    "Effort",
    "Failure",
    "Finding",
    "Forecast",
    "Fork",
    "Gain",
    "Gap",
    "Heading",
    "Hit",
    "Hypothesis",
    "Judgement",
    "Lesson",
    "Operand",
    "Origin",
    "Outline",
    "Page",
    "Plan",
    "Query",
    "Quote",
    "Reason",
    "Rejected",
    "Repetition",
    "Report",
    "Reread",
    "Rubric",
    "Ruling",
    "RunConfig",
    "RunUpdate",
    "Section",
    "Sentence",
    "StopReason",
    "SubQuestion",
    "SummarySentence",
    "ThinkingTool",
    "ThreadKnowledge",
    "ThreadTurn",
    "Verdict",
]


def subclasses(of: type[Record]) -> set[type[Record]]:
    return {kind for direct in of.__subclasses__() for kind in {direct, *subclasses(direct)}}


def mentioned(hint: Any) -> set[type[BaseModel]]:
    """Every model a type annotation speaks of, through lists, options and the models' own fields."""
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        inner = {kind for info in hint.model_fields.values() for kind in mentioned(info.annotation)}
        return {hint} | inner
    return {kind for part in get_args(hint) for kind in mentioned(part)}


def test_every_record_may_stand_in_a_checkpoint() -> None:
    ours = {kind for kind in subclasses(Record) if kind.__module__.startswith("fathom.")}
    assert {(kind.__module__, kind.__name__) for kind in ours | {RunConfig}} == set(ALLOWED)


@pytest.mark.parametrize(
    "schema", [state.ResearchState, state.Assignment, state.Reading, state.Chapter, state.Writing]
)
def test_every_type_a_state_names_is_allowed(schema: type) -> None:
    named = {kind for hint in get_type_hints(schema).values() for kind in mentioned(hint)}
    assert named
    assert {(kind.__module__, kind.__name__) for kind in named} <= set(ALLOWED)


@pytest.mark.parametrize("record", EXAMPLES, ids=lambda r: type(r).__name__)
def test_a_record_comes_back_as_what_it_was(record: BaseModel) -> None:
    back = SERIALIZER.loads_typed(SERIALIZER.dumps_typed({"key": [record]}))
    assert isinstance(back, dict)
    assert type(back["key"][0]) is type(record)
    assert back["key"][0] == record


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        (Cost, {"call": "1", "role": "read", "model": "m", "rung": "tool"}, {"strategy": "tool"}),
        (Ruling, {"claims": ["a", "b"], "relation": "same", "by": "mind"}, {"by": "model"}),
        (
            Finding,
            {"id": "f", "statement": "x", "question": "Q1", "claims": ["c"], "voices": ["a.example"]}
            | {"confidence": 0.6, "tag": "LIKELY"},
            {"independent_sources": ["a.example"]},
        ),
    ],
)
def test_what_an_earlier_version_stored_is_read(
    kind: type[Record], old: dict[str, Any], new: dict[str, Any]
) -> None:
    read = kind(**old)  # as the saver's serializer makes it
    assert read == kind.model_validate_json(json.dumps(old))
    assert new.items() <= read.model_dump().items()
    assert kind(**read.model_dump()) == read


def test_there_is_an_example_of_every_allowed_type() -> None:
    assert {(type(r).__module__, type(r).__name__) for r in EXAMPLES} == set(ALLOWED)


def test_records_are_saved_under_names_that_stay() -> None:
    """A name that is gone or new here makes earlier checkpoints plain data: raise LAYOUT_VERSION."""
    assert {module for module, _ in ALLOWED} == {"fathom.state"}
    assert sorted(name for _, name in ALLOWED) == SAVED_NAMES
    assert [pickle.loads(pickle.dumps(record)) for record in EXAMPLES] == EXAMPLES


def test_a_type_that_is_not_allowed_comes_back_as_plain_data() -> None:
    foreign = Foreign(word="x")
    assert not isinstance(SERIALIZER.loads_typed(SERIALIZER.dumps_typed(foreign)), Foreign)


def test_what_is_long_is_compressed_and_what_is_not_is_read_too() -> None:
    plain = JsonPlusSerializer(allowed_msgpack_modules=ALLOWED).dumps_typed(query())
    assert SERIALIZER.loads_typed(plain) == query()
    assert SERIALIZER.dumps_typed(query()) == plain
    many = SERIALIZER.dumps_typed([query()] * 20)
    assert many[0] != plain[0]
    assert SERIALIZER.loads_typed(many) == [query()] * 20


def test_a_record_is_frozen_and_takes_nothing_unknown() -> None:
    with pytest.raises(ValidationError):
        query().text = "other"  # type: ignore[misc]
    with pytest.raises(ValidationError, match="extra"):
        Failure.model_validate({"where": "a", "what": "b", "why": "c", "who": "d"})


def test_a_claim_without_a_quote_cannot_be_made() -> None:
    with pytest.raises(ValidationError):
        claim().model_validate({**claim().model_dump(), "quotes": []})


def test_only_records_with_a_key_are_merged() -> None:
    with pytest.raises(TypeError, match="Quote is never merged"):
        _ = quote().key


def test_the_same_address_under_another_query_is_another_hit() -> None:
    assert hit(query="r1q1").key != hit(query="r1q2").key
    assert page("one").key == page("another text").key


def test_a_short_hash_does_not_mix_up_its_parts() -> None:
    assert short_hash("ab", "c") != short_hash("a", "bc")
    assert len(short_hash("\ud800 lone surrogate")) == 12
