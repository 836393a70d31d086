"""The research model without an LLM says nothing that a page does not say."""

from dataclasses import replace

import pytest
from fakes.records import claim, gap, known, points, question, section_brief, sentence

from fathom.evidence.corroboration import make_findings, make_points
from fathom.evidence.grounding import QuoteFinder, is_verbatim
from fathom.evidence.link_paths import build_link_paths
from fathom.evidence.quote_selection import select_quotes
from fathom.llm.extractive import ExtractiveModel
from fathom.report.sentence_checks import CheckInput
from fathom.state import SubQuestion
from fathom.state.model_io import (
    JudgeInput,
    LinkPaths,
    PageExcerpt,
    PlanInput,
    RewriteInput,
    SentenceToCheck,
    VerificationItem,
)

MODEL = ExtractiveModel()
ENGLISH = """# Tidal power

Tidal power is a form of hydropower that turns the energy of tides into electricity. Early mills used the
same idea on small rivers.

A barrage holds the water of an estuary behind its gates. It then lets the water out through turbines.
See https://tides.example/more for how tidal power barrages and turbines really work today.

```python
tidal_power = barrage.turbines(how="do they make tidal power from the water of tides")
```

| tidal power | barrage turbines make electricity from the tide |

- [how tidal power works](https://tides.example) is a link about turbines in barrages.

The school canteen serves soup on Fridays and closes early in the summer holidays.
"""
KOREAN = """# 조력 발전

조력 발전은 밀물과 썰물의 높이 차이를 이용하여 전기를 만드는 방식이다.
시화호 조력발전소는 2011년에 완공되었다. 이 발전소의 설비 용량은 254 메가와트이다.
점심 메뉴는 매일 바뀌며 금요일에는 국수가 나온다.
"""


async def read(text: str, *questions: str) -> list[tuple[str, str]]:
    asked = [question(n, q) for n, q in enumerate(questions, 1)]
    drafts = (await MODEL.read(questions[0], asked, "Tidal power", text)).value
    page = QuoteFinder("ab", text)
    for draft in drafts:
        quote = page.find(draft.quote)
        assert quote is not None
        assert quote.text == draft.quote
        assert is_verbatim(draft.statement, [draft.quote])
    return [(draft.question, draft.statement) for draft in drafts]


async def test_statements_are_quotations_of_the_page() -> None:
    found = await read(ENGLISH, "What is tidal power?", "How does a tidal barrage use its turbines?")
    said = dict(reversed(found))
    assert said["Q1"].startswith("Tidal power is a form of hydropower")
    assert "barrage" in said["Q2"]
    assert len(set(found)) == len(found)


async def test_a_sentence_that_leans_on_the_one_before_brings_it_along() -> None:
    found = await read(ENGLISH, "How does water go through the turbines of a barrage?")
    assert found[0][1].startswith("A barrage holds the water")
    asked = await read(ENGLISH, "What is let out through turbines?")
    assert asked[0][1].endswith("It then lets the water out through turbines.")
    assert asked[0][1].startswith("A barrage holds the water")


async def test_code_links_and_pointers_are_not_quoted() -> None:
    found = await read(ENGLISH, "How do tidal power barrages and turbines make electricity from tides?")
    assert found
    for _, said in found:
        assert not any(mark in said for mark in ("tidal_power", "](", "https://", "canteen"))


async def test_korean_pages_are_quoted_too() -> None:
    found = await read(KOREAN, "조력 발전이란 무엇인가?", "시화호 조력발전소는 언제 완공되었나?")
    said = dict(reversed(found))
    assert said["Q1"].startswith("조력 발전은 밀물과 썰물")
    assert "2011년" in said["Q2"]
    assert not any("국수" in statement for _, statement in found)


@pytest.mark.parametrize("text", [ENGLISH, KOREAN, "", "# Only a heading\n", "| a | b |\n"])
async def test_a_page_about_something_else_says_nothing(text: str) -> None:
    assert await read(text, "Who won the chess championship of Iceland?") == []


async def test_the_same_thing_said_twice_on_a_page_is_quoted_once() -> None:
    line = "Tidal turbines in the estuary make electricity for the whole of the coast."
    found = await read(f"{line}\n\n{line}\n\n{line}", "What do tidal turbines in the estuary make?")
    assert [said for _, said in found] == [line]


async def test_a_compound_question_becomes_sub_questions_with_a_query_each() -> None:
    plan = (await MODEL.plan(PlanInput("What is tidal power and how is it made in Korea?", 1, 5))).value
    assert [q.text for q in plan.questions] == ["What is tidal power?", "How is tidal power made in Korea?"]
    assert [(q.question, q.text) for q in plan.queries] == [
        ("Q1", "What is tidal power Korea"),
        ("Q2", "How is tidal power made in Korea"),
    ]


async def test_a_comparison_asks_for_both_sides() -> None:
    plan = (await MODEL.plan(PlanInput("Compare tidal power with wind power", 1, 9))).value
    assert {"What is tidal power?", "What is wind power?"} <= {q.text for q in plan.questions}
    assert {q.question for q in plan.queries} == {"Q1", "Q2", "Q3"}


async def test_feedback_is_searched_for_first() -> None:
    plan = (await MODEL.plan(PlanInput("What is tidal power?", 1, 5, feedback="costs in Korea"))).value
    assert plan.queries[0].text == "costs in Korea"


async def test_the_direction_of_a_fork_is_a_sub_question_of_its_own() -> None:
    asked = [question(1, "What is tidal power?")]
    brief = PlanInput("What is tidal power?", 2, 5, questions=asked, feedback="noise", is_new_way=True)
    plan = (await MODEL.plan(brief)).value
    assert plan.questions[-1].text == "noise"
    assert (plan.queries[0].text, plan.queries[0].question) == ("noise", plan.questions[-1].id)
    told = (await MODEL.plan(replace(brief, is_new_way=False))).value
    assert [q.text for q in told.questions] == ["What is tidal power?"]


async def test_later_rounds_ask_for_what_is_open_and_follow_the_judges_leads() -> None:
    brief = PlanInput(
        "What is tidal power?",
        2,
        4,
        questions=[question(1, "What is tidal power?"), question(2, "What does it cost?")],
        gaps=[gap().model_copy(update={"question": "Q2"})],
        leads=["Andritz Hydro cost", "Ansan cost"],
    )
    plan = (await MODEL.plan(brief)).value
    assert list(plan.questions) == list(brief.questions)
    assert [(q.question, q.text) for q in plan.queries] == [
        ("Q2", "What does it cost"),
        ("Q2", "Andritz Hydro cost"),
        ("Q2", "Ansan cost"),
    ]
    assert plan.is_settled


def leading(asked: str, *pages: PageExcerpt) -> LinkPaths:
    return replace(build_link_paths(asked, pages), leads=["Ada Morin country"])


async def test_a_judge_says_whether_leads_are_worth_following() -> None:
    asked = "Which country was the builder of the Rance barrage from?"
    known = [claim("The Rance barrage was built by Ada Morin.", name="a")]
    one = PageExcerpt("one", "Rance barrage", "The Rance barrage was built by Ada Morin.")
    case = JudgeInput(asked, [question(1, asked)], known, link_paths=leading(asked, one))
    open_ = (await MODEL.judge(case)).value
    assert (open_.settled, bool(open_.why_not_converged)) == (None, True)
    two = PageExcerpt("two", "Ada Morin", "Ada Morin is a builder of barrages. Her country is Malta.")
    done = (await MODEL.judge(replace(case, link_paths=leading(asked, one, two)))).value
    assert (bool(done.settled), done.why_not_converged) == (True, "")
    assert (
        await MODEL.judge(replace(case, link_paths=build_link_paths(asked, [one])))
    ).value.why_not_converged == ""
    assert (await MODEL.judge(replace(case, link_paths=None))).value.why_not_converged == ""


@pytest.mark.parametrize(
    ("statement", "said", "is_sound"),
    [
        ("The plant makes power.", "the plant makes power from tides", True),
        ("The plant makes diamonds and gold.", "the plant makes power from tides", False),
        ("The plant is safe.", "the plant isn't safe", False),
        ("The plant is safe.", "the plant is not, they say, safe", False),
        ("발전소는 안전하다.", "발전소는 안전하지 않다", False),
        ("", "the plant makes power", False),
    ],
)
async def test_only_what_the_quote_says_is_verified(statement: str, said: str, is_sound: bool) -> None:
    (verdict,) = (await MODEL.verify([VerificationItem(statement, said, said)])).value
    assert (verdict.score >= 0.7) is is_sound


async def test_each_sub_question_is_a_heading_and_the_report_quotes() -> None:
    known = [
        claim("Tidal power turns tides into electricity.", name="a", relevance=0.9),
        claim("Tidal power turns the tides into electricity.", name="b", relevance=0.8, of="page two"),
        claim("Barrages cost billions to build.", name="c", question="Q2", of="page two"),
    ]
    told = make_points(known, make_findings([known[:2], known[2:]], []))
    outline = (await MODEL.outline("What is tidal power?", [question(1), question(2)], told)).value
    assert [h.claims for h in outline.headings] == [["a", "b"], ["c"]]
    (written,) = (await MODEL.write(section_brief(told[0]))).value
    assert [(s.text, s.claims) for s in written.sentences] == [(known[0].statement, ["a"])]
    assert [block.kind for block in written.blocks] == ["extract"]


async def test_what_a_model_stated_is_told_in_its_words() -> None:
    told = points(claim("Tides are strong here.", name="a", said="the current exceeds four knots"))
    (written,) = (await MODEL.write(section_brief(*told))).value
    assert [(s.text, s.claims) for s in written.sentences] == [("Tides are strong here.", ["a"])]
    assert (written.is_list, written.blocks) == (True, [])


async def test_a_sentence_with_words_of_its_own_is_objected_to() -> None:
    known = [claim("The plant makes 240 megawatts.", name="a")]
    items = [
        SentenceToCheck("The plant makes 240 megawatts.", "fact", ["a"]),
        SentenceToCheck("Everybody loves expensive plants forever.", "fact", ["a"]),
        SentenceToCheck("So much for that.", "link", []),
    ]
    assert [o.sentence for o in (await MODEL.check(CheckInput(items, known, {}))).value] == [1]


async def test_a_sentence_that_failed_becomes_the_quote_it_stood_on() -> None:
    known = points(claim("The plant makes 240 megawatts.", said="the plant makes 240 megawatts [7] at most"))
    failed = [sentence("It makes 250.", "zz", "c1"), sentence("It is blue."), sentence("It is red.", "zz")]
    anew = (await ExtractiveModel().rewrite(RewriteInput("What?", failed, known))).value
    assert [(s.text, s.claims) for s in anew] == [
        ("the plant makes 240 megawatts at most", ["c1"]),
        ("", []),
        ("", []),
    ]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("1953년 도른 홍수로 몇 명이 사망했나?", "1953년 도른 홍수로 41명이 사망했다."),
        ("할덴 다리의 통행료는?", "할덴 다리 통행료는 12크로네이다."),
        ("How many died in the Dorn flood of 1953?", "In 1953, 41 people died in the Dorn flood of 12 May."),
    ],
)
def test_a_short_sentence_full_of_figures_is_a_sentence(asked: str, answer: str) -> None:
    drafts = select_quotes([question(text=asked)], "도른", f"# 도른\n\n{answer} 강은 북쪽에서 흐른다.\n")
    assert answer in [draft.statement for draft in drafts]


@pytest.mark.parametrize(
    ("asked", "query"),
    [
        ("What are the main limits?", "What are the main limits Ouseport"),
        ("What are the main limits at Swale?", "What are the main limits at Swale"),
        ("How long does a hard cheese ripen in a cellar?", "How long does a hard cheese ripen in a cellar"),
    ],
)
async def test_a_follow_up_of_few_words_is_about_what_was_named_before(asked: str, query: str) -> None:
    thread = known("How does the barrage of Ouseport work?").turns
    assert [q.text for q in (await MODEL.plan(PlanInput(asked, 1, 5, thread=thread))).value.queries] == [
        query
    ]
    part = [SubQuestion(id="Q1", text=asked)]
    later = PlanInput(asked, 2, 5, questions=part, gaps=[gap()], thread=thread)
    assert [q.text for q in (await MODEL.plan(later)).value.queries] == [query]
