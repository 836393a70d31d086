"""Whole runs with branches: they share pages and money, come back as one report, and survive a crash."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fakes.run_parts import Library, ScriptedModel, make_dependencies
from langgraph.types import Command
from standins.documents import HANOK, TIDES, written
from standins.model import Model
from standins.prose import page
from standins.server import asked_again
from standins.working_model import researcher

from fathom import DeepResearcher, ResearchRequest
from fathom.graph import build_graph
from fathom.llm.extractive import ExtractiveModel
from fathom.llm.protocol import ResearchModel
from fathom.reading import Document
from fathom.search import SearchOutcome
from fathom.settings import load_settings
from fathom.state import Hit, Plan, Query, RunConfig
from fathom.state.model_io import ModelResult, PlanInput
from fathom.storage.checkpoints import checkpointer
from fathom.text.ranking import terms

QUESTION = "How much does tidal power cost?"
BOOKS = {f"https://shelf{n}.example/book": page(n, 1200) for n in range(60)}
CONFIG: Any = {"configurable": {"thread_id": "t"}, "max_concurrency": 1}
State = dict[str, Any]


@dataclass
class Catalogue(Library):
    """A library that finds books by the words of the query, and may be slow with some of them."""

    slow: str = ""

    async def search(self, query: Query, *, limit: int) -> SearchOutcome:
        """The books that share most words with the query."""
        self.searched.append(query.text)
        wanted = terms(query.text)
        shared = {address: len(wanted & terms(text)) for address, text in self.books.items()}
        best = sorted((a for a in shared if shared[a]), key=lambda a: -shared[a])[:limit]
        hits = [
            Hit(query=query.id, address=a, title=a, snippet="", engine="shelf", rank=rank)
            for rank, a in enumerate(best, start=1)
        ]
        return SearchOutcome(hits, [], [])

    async def __call__(self, hit: Hit) -> Document:
        """The book's text, sooner or later."""
        await asyncio.sleep(0.05 if self.slow and self.slow in hit.address else 0)
        return await super().__call__(hit)


@dataclass(frozen=True)
class Diary(ScriptedModel):
    """A clerk that notes whom it planned for, and dies once when it is to plan for a certain branch."""

    planned: list[str] = field(default_factory=list)
    deadly: list[str] = field(default_factory=list)

    async def plan(self, brief: PlanInput) -> ModelResult[Plan]:
        """As a clerk plans."""
        if self.deadly and self.deadly[0] in brief.question:
            self.deadly.clear()
            raise RuntimeError("killed")
        self.planned.append(brief.question)
        return await super().plan(brief)


async def last_state(
    home: Path, library: Library, mind: ResearchModel, run_config: RunConfig, question: str = QUESTION
) -> State:
    state: State = await build_graph(make_dependencies(home, library, mind)).ainvoke(
        {"question": question}, context=run_config
    )
    return state


def statuses(state: State) -> dict[str, str]:
    return {direction.id: direction.status for direction in state["directions"]}


async def test_rollouts_look_from_several_sides_and_write_one_report(tmp_path: Path) -> None:
    library = Library(BOOKS)
    run_config = RunConfig(strategy="rollouts", branches=3, levels=2, breadth=3, threshold=1.0)
    state = await last_state(tmp_path, library, ScriptedModel(quotes=2), run_config)
    assert statuses(state) == {"b1": "explored", "b2": "explored", "b3": "explored"}
    assert len(library.read) == len(set(library.read)) == len(state["pages"]) == 3 * 2 * 3
    assert len(state["claims"]) == sum(direction.claims for direction in state["directions"])
    assert len({query.id for query in state["asked"]}) == len(state["asked"]) == 3 * 3
    assert {query.id.split("/")[0] for query in state["asked"]} == {"b1", "b2", "b3"}
    assert {claim.question for claim in state["claims"]} <= {question.id for question in state["questions"]}
    assert [judgement.stop for judgement in state["judgements"]] == ["rounds used up"]
    assert state["report"].sections


async def test_branches_spend_from_one_budget(tmp_path: Path) -> None:
    clerk = ScriptedModel(quotes=2, usd_a_call=0.01)
    run_config = RunConfig(
        strategy="rollouts", branches=3, levels=5, breadth=2, threshold=1.0, budget_usd=0.2
    )
    state = await last_state(tmp_path, Library(BOOKS), clerk, run_config)
    spent = sum(cost.usd for cost in state["costs"])
    # Alone, no branch would reach the budget; together they stop at it, but for what the report may cost.
    assert spent == pytest.approx(0.17)
    assert any(direction.because.startswith("budget used up") for direction in state["directions"])
    assert state["judgements"][-1].stop == "budget used up"
    assert state["report"].status == "partial"


async def test_no_branch_starts_once_the_money_is_gone(tmp_path: Path) -> None:
    clerk = Diary(quotes=2, usd_a_call=0.01)
    words: Any = {"strategy": "rollouts", "branches": 3, "levels": 1, "breadth": 2, "budget_usd": 0.04}
    run_config = RunConfig(**words, orchestration="sequential")
    state = await last_state(tmp_path, Library(BOOKS), clerk, run_config)
    assert clerk.planned == [QUESTION]
    assert statuses(state) == {"b1": "explored", "b2": "open", "b3": "open"}
    assert state["judgements"][-1].stop == "budget used up"


@pytest.mark.parametrize("orchestration", ["concurrent", "sequential", "handoff"])
async def test_branches_go_at_once_or_one_after_another(tmp_path: Path, orchestration: Any) -> None:
    clerk = Diary(quotes=2)
    words: Any = {"strategy": "rollouts", "branches": 3, "levels": 2, "breadth": 2, "threshold": 1.0}
    library = Library(BOOKS)
    state = await last_state(tmp_path, library, clerk, RunConfig(**words, orchestration=orchestration))
    assert statuses(state) == dict.fromkeys(["b1", "b2", "b3"], "explored")
    assert len(library.read) == len(set(library.read)) == 12
    in_turn = [
        text for place, text in enumerate(clerk.planned) if clerk.planned[place - 1] != text or not place
    ]
    # One after another, a branch is done with both rounds before the next one plans its first.
    assert len(in_turn) == 3 if orchestration != "concurrent" else len(in_turn) > 3
    first, second, third = state["directions"]
    assert not first.given
    if orchestration == "handoff":
        assert len(second.given) == first.claims
        assert len(third.given) == first.claims + second.claims
        assert second.text.startswith("Tidal power cost: limits")
        assert first.leads[0] in second.text
    else:
        assert not second.given


class Sides(Catalogue):
    """A catalogue in which no two branches want the same book."""

    async def search(self, query: Query, *, limit: int) -> SearchOutcome:
        """The books of one side only."""
        side = "limits" if "limits" in query.text else "cost"
        found = await super().search(query, limit=len(self.books))
        return SearchOutcome([hit for hit in found.hits if side in hit.address][:limit], [], [])


async def test_the_end_is_the_same_whichever_branch_is_faster(tmp_path: Path) -> None:
    places = [(side, n) for side in ("limits", "cost") for n in range(4)]
    books = {f"https://{side}{n}.example": f"{page(n, 600)} {side}." for side, n in places}
    run_config = RunConfig(strategy="rollouts", branches=2, levels=1, breadth=2)
    ends = []
    for slow in ("limits", "cost"):
        home = tmp_path / slow
        home.mkdir()
        ends.append(await last_state(home, Sides(books, slow=slow), ScriptedModel(quotes=2), run_config))
    for key in ("directions", "questions", "asked", "visited", "pages", "claims", "judgements", "report"):
        assert ends[0][key] == ends[1][key], key
    assert len(ends[0]["pages"]) == 4


RIVER = {
    "https://a.example": "The Ouse mill makes flour. It was sold to Hartwell Granary in 1890. Flour is dear.",
    "https://b.example": "A mill on the Ouse has two wheels. Old papers name Hartwell Granary as its buyer.",
    "https://c.example": "Hartwell Granary paid four thousand pounds for it. The deed is kept in York.",
    "https://d.example": "Cheese ripens in a cellar. Brine is brushed on the rind.",
}


async def test_the_next_level_of_a_tree_follows_the_names_that_branches_found(tmp_path: Path) -> None:
    library = Catalogue(RIVER)
    run_config = RunConfig(strategy="tree", levels=2, breadth=2, branches=2, threshold=1.0)
    state = await last_state(
        tmp_path, library, ScriptedModel(quotes=3, missing="high"), run_config, "Who has the Ouse mill?"
    )
    deeper = [direction for direction in state["directions"] if direction.level == 2]
    assert any("Hartwell Granary" in direction.text for direction in deeper)
    assert {direction.parent for direction in deeper} <= {"b1", "b2"}
    assert len(library.read) == len(set(library.read))
    assert "https://c.example" in library.read
    assert [judgement.round for judgement in state["judgements"]] == [1, 2]
    assert all(direction.score > 0 for direction in deeper if direction.status != "open")


async def test_a_tree_is_as_deep_and_as_broad_as_it_was_told(tmp_path: Path) -> None:
    run_config = RunConfig(strategy="tree", levels=3, breadth=2, threshold=1.0)
    library = Library(BOOKS)
    state = await last_state(tmp_path, library, ScriptedModel(quotes=2), run_config)
    gone = [direction for direction in state["directions"] if direction.status in {"explored", "empty"}]
    assert Counter(direction.level for direction in gone) == {1: 2, 2: 2, 3: 2}
    assert len(library.read) == len(set(library.read)) <= 3 * 2 * 2
    assert len(state["judgements"]) == 3


async def test_a_tree_ends_early_when_the_answer_is_complete(tmp_path: Path) -> None:
    run_config = RunConfig(strategy="tree", levels=5, breadth=2)
    state = await last_state(tmp_path, Library(BOOKS), ScriptedModel(quotes=2, missing=None), run_config)
    assert [judgement.stop for judgement in state["judgements"]] == ["only minor gaps"]
    assert {direction.level for direction in state["directions"] if direction.status == "explored"} == {1}


async def test_a_tree_of_nothing_ends_honestly(tmp_path: Path) -> None:
    state = await last_state(
        tmp_path, Catalogue(RIVER), ExtractiveModel(), RunConfig(strategy="tree"), "Zyx qwv?"
    )
    assert state["report"].status == "failed"
    assert set(statuses(state).values()) == {"empty"}


async def test_a_korean_question_is_rolled_out(tmp_path: Path) -> None:
    books = {f"https://{name}": text for name, text in HANOK.items()}
    run_config = RunConfig(strategy="rollouts", branches=3)
    question = "온돌은 어떻게 방을 따뜻하게 하나?"
    state = await last_state(tmp_path, library := Catalogue(books), ExtractiveModel(), run_config, question)
    assert len(library.read) == len(set(library.read))
    assert "## 온돌은 어떻게 방을 따뜻하게 하나?" in state["report"].markdown
    assert "여덟 시간 동안 방을 따뜻하게 한다" in state["report"].markdown
    assert state["directions"][1].text.endswith(": 한계, 문제, 비판")


@pytest.mark.parametrize("strategy", ["rollouts", "tree"])
async def test_branches_think_with_a_model_too(tmp_path: Path, strategy: Any) -> None:
    docs = written(tmp_path / "docs", TIDES)
    with Model(researcher) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        request = ResearchRequest(
            query=QUESTION, docs=[docs], model="stand-in", strategy=strategy, branches=2
        )
        events = [event async for event in DeepResearcher(settings).stream(request)]
        assert asked_again(model.records) == []
        result = await DeepResearcher(settings).result(events[-1].run_id)
        assert result.metadata.model_calls == len(model.calls)
    assert result.sections
    assert len(result.sources) == 4
    assert {event.branch for event in events if event.kind == "plan generated"} == {"b1", "b2"}
    assert sum(event.kind == "branch completed" for event in events) == 2
    assert [direction.id for direction in result.directions[:2]] == ["b1", "b2"]
    assert result.effort is not None
    assert result.settings.strategy == strategy


async def test_finished_branches_are_not_run_again_after_a_crash(tmp_path: Path) -> None:
    clerk = Diary(quotes=2, deadly=["evidence"])
    library = Library(BOOKS)
    run_config = RunConfig(strategy="rollouts", branches=3, levels=2, breadth=2, threshold=1.0)
    async with checkpointer(tmp_path / "fathom.sqlite") as saver:
        graph = build_graph(make_dependencies(tmp_path, library, clerk), saver)
        with pytest.raises(RuntimeError, match="killed"):
            await graph.ainvoke({"question": QUESTION}, CONFIG, context=run_config, durability="async")
        assert (len(clerk.planned), len(library.read)) == (4, 8)
        state = await graph.ainvoke(None, CONFIG, context=run_config)
    assert Counter(clerk.planned) == {direction.text: 2 for direction in state["directions"]}
    assert len(library.read) == len(set(library.read)) == 12
    assert statuses(state) == dict.fromkeys(["b1", "b2", "b3"], "explored")
    assert state["report"].sections


async def test_finished_pages_inside_a_branch_are_not_read_again_after_a_crash(tmp_path: Path) -> None:
    class Fragile(Library):
        async def __call__(self, hit: Hit) -> Document:
            """The book's text, unless it is the third that is asked for; by then the others are read."""
            if len(self.read) == 2:
                self.read.append(hit.address)
                await asyncio.sleep(1)
                raise RuntimeError("killed")
            return await super().__call__(hit)

    library = Fragile(BOOKS)
    at_once: Any = {"configurable": {"thread_id": "t"}}
    run_config = RunConfig(strategy="rollouts", branches=2, levels=2, breadth=4, threshold=1.0)
    async with checkpointer(tmp_path / "fathom.sqlite") as saver:
        graph = build_graph(make_dependencies(tmp_path, library, ScriptedModel(quotes=2)), saver)
        with pytest.raises(RuntimeError, match="killed"):
            await graph.ainvoke({"question": QUESTION}, at_once, context=run_config, durability="async")
        assert len(library.read) == 12  # one branch is done; the other waits for a page of its first round
        state = await graph.ainvoke(None, at_once, context=run_config)
    # Only the page that was being read is read once more.
    assert sorted(Counter(library.read).values(), reverse=True)[:2] == [2, 1]
    assert len(state["pages"]) == 16


async def test_branches_are_shown_once_and_a_person_may_change_them(tmp_path: Path) -> None:
    clerk = Diary(quotes=2)
    run_config = RunConfig(strategy="rollouts", branches=2, levels=1, breadth=2, review="rounds")
    async with checkpointer(tmp_path / "fathom.sqlite") as saver:
        graph = build_graph(make_dependencies(tmp_path, Library(BOOKS), clerk), saver)
        await graph.ainvoke({"question": QUESTION}, CONFIG, context=run_config)
        shown = (await graph.aget_state(CONFIG)).interrupts[0].value
        assert shown["queries"] == [QUESTION, "Tidal power cost: limits, problems, criticism"]
        assert "2 branches" in shown["strategy"]
        assert clerk.planned == []
        wish = {"action": "edit", "queries": [QUESTION, "tidal power and seals"]}
        state = await graph.ainvoke(Command(resume=wish), CONFIG, context=run_config)
    assert clerk.planned == [QUESTION, "tidal power and seals"]
    assert statuses(state) == {"b1": "explored", "b2": "pruned", "w2": "explored"}
    assert state["report"].sections
