"""What models are shown, and what is believed of what they answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest
from fakes.records import (
    claim,
    cost,
    gap,
    heading,
    hit,
    page,
    points,
    query,
    question,
    section,
    section_brief,
    sentence,
    sha,
)
from pydantic import BaseModel

from fathom.errors import ProviderError, Unreadable
from fathom.llm.llm_model import LLMResearchModel
from fathom.llm.prompt_budget import PromptBudget
from fathom.llm.structured_output import FormAnswer, StructuredOutput
from fathom.prompts import FilledPrompt
from fathom.report.drafting import check_item
from fathom.report.sentence_checks import CheckInput
from fathom.state import Role, Sentence
from fathom.state.model_io import (
    EditInput,
    JudgeInput,
    PlanInput,
    RefusedClaim,
    RewriteInput,
    SourceText,
    VerificationItem,
)

ADDRESS = "https://secret-place.example/deep/page"
TEXT = "The plant makes 240 megawatts. Divers come in spring."
CLAIMS = [
    claim("The plant makes 240 megawatts.", name="c0ffee1", of=TEXT, relevance=0.2),
    claim("Divers come in spring.", name="c0ffee2", of=TEXT, relevance=0.9),
]
POINTS = points(*reversed(CLAIMS))
ASKED = [question(1), question(2)]


def checking(*sentences: Sentence) -> CheckInput:
    """These sentences, to be checked against the claims."""
    return CheckInput([check_item(s, section(s), {}) for s in sentences], CLAIMS, {})


@dataclass
class FakeLadder:
    """Fills forms with what it was given and keeps the prompts."""

    answers: list[dict[str, Any]]
    seen: list[FilledPrompt] = field(default_factory=list)
    error: ProviderError | None = None  # once there are no more answers

    async def ask(
        self,
        role: Role,
        prompt_budget: PromptBudget,
        form: type[BaseModel],
        complaint: Callable[[Any], str] = lambda _: "",
    ) -> FormAnswer[BaseModel]:
        prompt = prompt_budget.fill()
        self.seen.append(prompt)
        if not self.answers and self.error:
            raise self.error
        assert self.answers, f"nothing was prepared for {prompt.id}"
        return FormAnswer(form.model_validate(self.answers.pop(0)), [cost(role)])


def mind(*answers: dict[str, Any], language: str = "English") -> tuple[LLMResearchModel, FakeLadder]:
    structured_output = FakeLadder(list(answers))
    roles: tuple[Role, ...] = ("plan", "read", "verify", "judge", "outline", "write", "check")
    outputs_by_role = cast(Mapping[Role, StructuredOutput], dict.fromkeys(roles, structured_output))
    return LLMResearchModel(outputs_by_role, language), structured_output


async def test_models_never_see_an_address_or_a_hash() -> None:
    marks = {"accuracy": 3, "relevance": 3, "completeness": 3, "consistency": 3}
    prompted, structured_output = mind(
        {"strategy": "s", "questions": [], "queries": []},
        {"claims": []},
        {"verdicts": []},
        {"restated": []},
        {"evidence": "E1", **marks, "gaps": []},
        {"title": "T", "sections": []},
        {"sentences": []},
        {"objections": []},
        {"objections": []},
        {"rewrites": [{"sentence": 1, "text": "", "claims": []}]},
        {"summary": []},
    )
    where = page(TEXT, ADDRESS)
    brief = PlanInput(
        "What?", 2, 5, ASKED, [query()], [gap()], CLAIMS, [hit(ADDRESS)], "more on costs", [query()]
    )
    await prompted.plan(brief)
    await prompted.read("What?", ASKED, where.title, TEXT)
    await prompted.verify([VerificationItem("s", "q", "c")])
    await prompted.retry([RefusedClaim("s", "q", "c", "why")])
    await prompted.judge(JudgeInput("What?", ASKED, CLAIMS))
    await prompted.outline("What?", ASKED, POINTS)
    await prompted.write(section_brief(*POINTS, sources=[SourceText(sha(TEXT), "A page", passages=TEXT)]))
    await prompted.check(checking(sentence("Divers arrive in spring.", "c0ffee2")))
    await prompted.refute(checking(sentence("Divers arrive in spring.", "c0ffee2")))
    failed = [sentence("Divers arrive in spring.", "c0ffee2", status="unsupported")]
    await prompted.rewrite(RewriteInput("What?", failed, POINTS))
    await prompted.edit(EditInput("What?", "T", [section(*failed)]))
    said = "\n".join(f"{p.system}\n{p.user}" for p in structured_output.seen)
    assert len(structured_output.seen) == 11
    for hidden in (ADDRESS, "secret-place", sha(TEXT), sha(TEXT)[:12], "c0ffee1", "c0ffee2"):
        assert hidden not in said
    assert "E1" in said


async def test_the_plan_is_asked_for_with_all_that_is_known() -> None:
    prompted, structured_output = mind(
        {
            "strategy": "s",
            "questions": [{"id": "Q1", "text": "Why?"}],
            "queries": [{"question": "Q1", "text": "tides"}],
        },
        language="Korean",
    )
    brief = PlanInput("What?", 2, 4, ASKED, [query("old one")], [gap()], CLAIMS)
    brief = replace(brief, feedback="more on costs", proposed=[query("new one")])
    thought = await prompted.plan(brief)
    assert [(q.text, q.question, q.round) for q in thought.value.queries] == [("tides", "Q1", 2)]
    assert thought.costs == [cost("plan")]
    user = structured_output.seen[0].user
    for shown in (
        "Round 2",
        "At most 4",
        "Q2: ",
        "old one",
        "new one",
        "(high)",
        "more on costs",
        "240 mega",
    ):
        assert shown in user
    assert "Korean" in structured_output.seen[0].system
    assert structured_output.seen[0].id.startswith("planner@")


async def test_findings_keep_their_order_and_unknown_keys_mean_nothing() -> None:
    prompted, structured_output = mind(
        {
            "title": "T",
            "sections": [{"title": "A", "question": "Q1", "claims": ["E1", "[E2]", "E3", "x", ""]}],
        },
        {"sentences": [{"text": "x", "claims": ["E9"]}, {"text": "y", "claims": ["E2 "]}]},
    )
    outline = (await prompted.outline("What?", ASKED, POINTS)).value
    assert outline.headings[0].claims == ["c0ffee2", "c0ffee1"]
    assert "E1 (for Q1): Divers come" in structured_output.seen[0].user
    (written,) = (await prompted.write(section_brief(*POINTS))).value
    assert [s.claims for s in written.sentences] == [[], ["c0ffee1"]]


async def test_a_sentence_whose_keys_are_all_unknown_is_not_passed_off_as_connective() -> None:
    prompted, _ = mind({"sentences": [{"text": "x", "claims": ["E9"]}, {"text": "So much.", "claims": []}]})
    (written,) = (await prompted.write(section_brief(*POINTS))).value
    assert [s.status for s in written.sentences] == ["unsupported", "connective"]


async def test_a_second_writing_call_that_fails_is_paid_and_told() -> None:
    prompted, output = mind({"blocks": [{"part": "S1", "sentences": [{"text": "x", "claims": ["E1"]}]}]})
    output.error = Unreadable("the server gave up", [cost("write")])
    parts = [heading("c0ffee2", name="S1"), heading("c0ffee1", name="S2", title="Divers")]
    result = await prompted.write(section_brief(*POINTS, headings=parts))
    assert [section.id for section in result.value] == ["S1"]
    assert len(result.costs) == 2
    (failure,) = result.failures
    assert ("Divers" in failure.what, failure.why) == (True, "the server gave up")


async def test_what_the_verifier_passes_over_is_not_verified() -> None:
    sound = {"is_explicit": True, "is_same_scope": True, "is_not_overstated": True, "reason": "said"}
    prompted, _ = mind(
        {
            "verdicts": [
                {"item": 3, **sound, "score": 7},
                {"item": 1, **sound, "is_not_overstated": False, "score": 1},
                {"item": 12, **sound, "score": 1},
            ]
        }
    )
    verdicts = (await prompted.verify([VerificationItem("s", "q", "c")] * 3)).value
    assert [v.score for v in verdicts] == [0.6, 0.0, 1.0]
    assert verdicts[1].reason == "not verified"


@pytest.mark.parametrize(
    ("word", "priority"), [("HIGH ", "high"), ("Low", "low"), ("urgent", "medium"), ("", "medium")]
)
async def test_marks_are_clamped_and_odd_gaps_tamed(word: str, priority: str) -> None:
    missing = {"question": "Q7", "description": "d", "priority": word, "suggested_query": "s"}
    prompted, _ = mind(
        {
            "evidence": "E1", "accuracy": 9, "relevance": 0, "completeness": -3, "consistency": 5,
            "gaps": [missing, {**missing, "question": "Q2"}],
        }
    )  # fmt: skip
    value = (await prompted.judge(JudgeInput("What?", ASKED, CLAIMS))).value
    assert (value.rubric.accuracy, value.rubric.relevance, value.rubric.completeness) == (5, 1, 1)
    assert [(g.question, g.priority) for g in value.gaps] == [("", priority), ("Q2", priority)]


async def test_a_quote_is_shown_once_and_objections_come_back_by_their_places() -> None:
    prompted, structured_output = mind(
        {"objections": [{"sentence": 2, "why": "no"}, {"sentence": 3, "why": "no"}]}
    )
    brief = checking(
        sentence("Divers arrive in spring.", "c0ffee2"), sentence("They come by sea.", "c0ffee2", "c0ffee1")
    )
    objections = (await prompted.check(brief)).value
    assert [o.sentence for o in objections] == [1]
    said = structured_output.seen[0].user
    assert said.count("Divers come in spring.") == 1
    assert said.index("Sentence 1 (fact): Divers arrive") < said.index("Sentence 2 (fact): They come")


async def test_failed_sentences_are_shown_with_the_reason_and_come_back_by_their_numbers() -> None:
    prompted, structured_output = mind(
        {
            "rewrites": [
                {"sentence": 3, "text": "Divers come.", "claims": ["E1", "E9"]},
                {"sentence": 1, "text": "It makes 240.", "claims": ["E77"]},
                {"sentence": 8, "text": "Nobody asked.", "claims": ["E1"]},
            ]
        }
    )
    failed = [
        sentence("It makes 250.", "c0ffee1", status="unsupported").model_copy(
            update={"why": "250 is not in it"}
        ),
        sentence("It is blue.", status="unsupported"),
        sentence("Divers come daily.", "c0ffee2", status="unsupported"),
    ]
    anew = (await prompted.rewrite(RewriteInput("What?", failed, POINTS))).value
    assert [(s.text, s.claims, s.status) for s in anew] == [
        ("It makes 240.", [], "unsupported"),
        ("", [], "unsupported"),
        ("Divers come.", ["c0ffee2"], "supported"),
    ]
    said = structured_output.seen[0].user
    assert "Sentence 1 (E2): It makes 250." in said
    assert "why not: 250 is not in it" in said
    assert "Sentence 2 (no claims): It is blue." in said
    assert "quote: Divers come in spring." in said


async def test_a_model_that_rewrites_nothing_has_not_answered() -> None:
    prompted, _ = mind({"rewrites": [{"sentence": 0, "text": "x", "claims": ["E1"]}]})
    failed = [sentence("It makes 250.", "c0ffee1", status="unsupported")]
    with pytest.raises(Unreadable) as raised:
        await prompted.rewrite(RewriteInput("What?", failed, POINTS))
    assert raised.value.costs


async def test_nothing_to_check_costs_nothing() -> None:
    prompted, structured_output = mind()
    assert (await prompted.check(CheckInput([], [], {}))).value == []
    assert structured_output.seen == []


async def test_the_planner_is_asked_in_every_round_whatever_the_judge_suggests() -> None:
    prompted, structured_output = mind(
        {"strategy": "s", "questions": [], "queries": [{"question": "Q1", "text": "new"}]}
    )
    brief = PlanInput("What?", 2, 5, ASKED, [query("old")], [gap()], CLAIMS)
    assert [q.text for q in (await prompted.plan(brief)).value.queries] == ["new"]
    assert len(structured_output.seen) == 1


async def test_a_judge_without_rulings_is_a_judge() -> None:
    marks = {"accuracy": 3, "relevance": 3, "completeness": 3, "consistency": 3}
    prompted, _ = mind({"evidence": "E1", **marks, "gaps": []})
    assert (await prompted.judge(JudgeInput("What?", ASKED, CLAIMS))).value.rulings == []
