"""Whole runs that plan: an ambiguous question, a planner that repeats itself, four hops, Korean."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fakes.run_parts import Library, ScriptedModel, make_dependencies
from standins.documents import HANOK, written
from standins.model import Model
from standins.replies import Reply
from standins.working_model import form_of, researcher, scripted, value

from fathom import DeepResearcher, ResearchRequest
from fathom.events import PlanGenerated
from fathom.graph import build_graph
from fathom.planning.ranking import drop_repeats
from fathom.search import SearchOutcome
from fathom.settings import load_settings
from fathom.state import Gap, Hit, Plan, Query, Rubric, RunConfig, SubQuestion
from fathom.state.model_io import (
    NO_FACTS,
    Assessment,
    ExtractedStatement,
    JudgeInput,
    ModelResult,
    PageFacts,
    PlanInput,
)

pytestmark = pytest.mark.whole

HOPS = [
    ("Who designed the lagoon at Swale?", "The lagoon at Swale was designed by Mira Tollen."),
    ("Where was {Q1} born?", "Mira Tollen was born in Port Anwick."),
    ("Which river runs through {Q2}?", "The river Ilver runs through Port Anwick."),
    ("Into which sea does {Q3} flow?", "The Ilver flows into the Cold Sound."),
]
NEXT = ["Swale lagoon designer", "{Q1} birthplace", "{Q2} river", "{Q3} mouth sea"]
NAMES = ["Swale", "Mira Tollen", "Port Anwick", "Ilver"]


@dataclass
class Index(Library):
    """A library that finds a book only by a name that stands in its first words."""

    async def search(self, query: Query, *, limit: int) -> SearchOutcome:
        self.searched.append(query.text)
        keys = {"Swale": 0, "Tollen": 1, "Anwick": 2, "Ilver": 3}
        wanted = [place for word, place in keys.items() if word in query.text]
        places = list(self.books)
        return SearchOutcome(
            [
                Hit(
                    query=query.id,
                    address=places[n],
                    title=f"Book {n}",
                    snippet="",
                    engine="index",
                    rank=rank,
                )
                for rank, n in enumerate(wanted, 1)
            ][:limit],
            [],
            [],
        )


@dataclass(frozen=True)
class Chained(ScriptedModel):
    """A mind that knows what must be asked after what, and nothing of the answers."""

    async def plan(self, brief: PlanInput) -> ModelResult[Plan]:
        questions = [
            SubQuestion(id=f"Q{n}", text=text, needs=[f"Q{n - 1}"] if n > 1 else [])
            for n, (text, _) in enumerate(HOPS, 1)
        ]
        queries = [Query(id="", text=text, question=f"Q{n}", round=1) for n, text in enumerate(NEXT, 1)]
        first = brief.round == 1
        return ModelResult(
            Plan(strategy="step by step", questions=questions, queries=queries if first else [])
        )

    async def read(
        self,
        question: str,
        questions: Sequence[SubQuestion],
        title: str,
        text: str,
        sought: SubQuestion | None = None,
        facts: PageFacts = NO_FACTS,
    ) -> ModelResult[list[ExtractedStatement]]:
        found = [(n, said) for n, (_, said) in enumerate(HOPS, 1) if said in text]
        return ModelResult([ExtractedStatement(said, said, f"Q{n}", 0.9) for n, said in found])

    async def judge(self, judge_input: JudgeInput) -> ModelResult[Assessment]:
        known = {claim.question for claim in judge_input.claims}
        missing = [q for q in judge_input.questions if q.id not in known]
        gaps = [Gap(description=q.text, priority="high", suggested_query="", question=q.id) for q in missing]
        rubric = Rubric(evidence="E1", accuracy=3, relevance=3, completeness=3, consistency=3)
        return ModelResult(Assessment(rubric, gaps))


async def test_four_hops_are_followed_each_with_the_answer_before_it(tmp_path: Path) -> None:
    books = {f"https://hop{n}.example/book": f"# Book\n\n{said}\n" for n, (_, said) in enumerate(HOPS)}
    library = Index(books)
    graph = build_graph(make_dependencies(tmp_path, library, Chained()))
    question = "Into which sea does the river flow at the birthplace of who designed the lagoon at Swale?"
    state = await graph.ainvoke({"question": question}, context=RunConfig(depth="standard", threshold=1.0))
    assert {claim.question for claim in state["claims"]} == {"Q1", "Q2", "Q3", "Q4"}
    for number, name in enumerate(NAMES, 1):
        asked = [q.text for q in state["asked"] if q.question == f"Q{number}"]
        assert asked
        assert all(name in text for text in asked), (number, asked)
        assert not any("{" in text for text in asked)
    rounds = {
        q.question: min(a.round for a in state["asked"] if a.question == q.question) for q in state["asked"]
    }
    assert [rounds[f"Q{n}"] for n in (1, 2, 3, 4)] == [1, 2, 3, 4]
    assert state["effort"].rounds == 5
    assert state["waiting"] == []


@dataclass(frozen=True)
class Parrot(ScriptedModel):
    """A mind that proposes the same queries in every round."""

    seen: list[PlanInput] = field(default_factory=list)

    async def plan(self, brief: PlanInput) -> ModelResult[Plan]:
        self.seen.append(brief)
        texts = ("tidal power cost", "the cost of tidal power", "price of tidal power")
        queries = [Query(id="", text=text, question="Q1", round=brief.round) for text in texts]
        questions = [SubQuestion(id="Q1", text="How much does tidal power cost?")]
        return ModelResult(Plan(strategy="again", questions=questions, queries=queries))


async def test_a_planner_that_repeats_itself_is_made_to_vary(tmp_path: Path) -> None:
    books = {
        f"https://shelf{n}.example/book": f"# Book\n\nA hard cheese ripens {n} months.\n" for n in range(60)
    }
    parrot = Parrot(quotes=0, missing="high")
    graph = build_graph(make_dependencies(tmp_path, Library(books), parrot))
    run_config = RunConfig(rounds=6, sources=2, queries=2, threshold=1.0)
    state = await graph.ainvoke({"question": "How much does tidal power cost?"}, context=run_config)
    asked = [q for q in state["asked"] if q.id != "scout"]
    texts = [q.text for q in asked]
    assert len(state["judgements"]) == 6
    assert (
        sum(text in {"tidal power cost", "the cost of tidal power", "price of tidal power"} for text in texts)
        == 1
    )
    assert drop_repeats(asked, []) == asked
    assert {q.family for q in asked} == {"web", "academic", "counter"}
    # Five rounds brought nothing, so that the sixth is told to step back, and thinks from first principles.
    assert [bool(brief.approach) for brief in parrot.seen] == [False] * 5 + [True]
    assert "step back" in state["strategy"]
    assert state["tool"].name == "first principles"
    assert [lesson.claims for lesson in state["lessons"]] == [0] * len(state["lessons"])
    assert {lesson.round for lesson in state["lessons"]} == {1, 2, 3, 4, 5}


async def test_an_ambiguous_question_is_looked_at_from_what_the_pages_say(tmp_path: Path) -> None:
    """Mercury: the planet, the metal and the god are chapters of what the first search finds."""
    docs = {
        "all.md": "# Mercury\n\n## The planet\n\nMercury is the planet nearest to the sun.\n\n"
        "## The metal\n\nMercury is a metal that is liquid at room temperature.\n\n"
        "## The god\n\nMercury is the god of trade in Roman belief.\n",
    }
    folder = written(tmp_path / "docs", docs)

    def plan(request: Any) -> Reply:
        chapters = re.findall(r"Mercury: (.*)", request.user_text)[-1].split(" | ")
        questions = [
            {"id": f"Q{n}", "text": f"What is Mercury, {chapter}?", "needs": [], "perspective": chapter}
            for n, chapter in enumerate(chapters, 1)
        ]
        queries = [
            {"question": q["id"], "text": f"Mercury {q['perspective']}", "family": "web"} for q in questions
        ]
        return Reply.give(
            {
                **value(request),
                "kind": "survey",
                "perspectives": chapters,
                "questions": questions,
                "queries": queries,
            }
        )

    with Model(scripted(plan=plan)) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        request = ResearchRequest(
            query="What are the meanings of Mercury?", docs=[folder], model="stand-in", max_rounds=1
        )
        events = [event async for event in DeepResearcher(settings).stream(request)]
        shown = [r.user_text for r in model.requests if form_of(r) == "plan"]
    assert "The planet | The metal | The god" in shown[0]
    planned = next(e.payload for e in events if isinstance(e.payload, PlanGenerated))
    assert planned.perspectives == ["The planet", "The metal", "The god"]
    assert planned.effort
    assert planned.effort.kind == "survey"
    assert planned.tool
    assert planned.tool.name == "scientific method"
    assert len(planned.queries) == len(planned.families) >= 3
    assert all(any(name in text for text in planned.queries) for name in ("planet", "metal", "god"))


async def test_a_korean_question_is_planned_in_korean(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", HANOK)
    with Model(researcher) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        request = ResearchRequest(query="온돌과 마루의 차이는?", docs=[docs], model="stand-in", max_rounds=1)
        events = [event async for event in DeepResearcher(settings).stream(request)]
    planned = next(e.payload for e in events if isinstance(e.payload, PlanGenerated))
    assert planned.effort
    assert planned.effort.kind == "fact"  # advised by the model, one step below what the words say
    assert "says “차이”" in planned.effort.reason
    assert all(re.search("[가-힣]", text) for text in planned.queries)
    assert events[-1].limit == 1
