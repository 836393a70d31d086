"""How far a run goes: rounds, money, and a planner with nothing left to ask."""

import resource
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from fakes.run_parts import Library, ScriptedModel, make_dependencies
from pydantic import BaseModel
from standins.prose import page
from standins.working_model import answer_to, fenced

from fathom.budget import Budget
from fathom.graph import build_graph
from fathom.llm.llm_model import LLMResearchModel
from fathom.llm.prompt_budget import PromptBudget
from fathom.llm.protocol import ResearchModel
from fathom.llm.structured_output import FormAnswer, StructuredOutput
from fathom.report.statistics import render_statistics
from fathom.state import Cost, Role, RunConfig, RunState, short_hash
from fathom.storage import open_storage
from fathom.storage.checkpoints import checkpointer
from fathom.text.sentences import split_sentences
from fathom.text.token_count import count_tokens

QUESTION = "How much does tidal power cost?"


async def last_state(
    home: Path,
    mind: ResearchModel,
    run_config: RunConfig,
    library: Library | None = None,
    question: str = QUESTION,
) -> dict[str, Any]:
    """The state at the end of a run over a shelf of short pages."""
    books = {f"https://shelf{n}.example/book": page(n, 1200) for n in range(60)}
    graph = build_graph(make_dependencies(home, library or Library(books), mind))
    state: dict[str, Any] = await graph.ainvoke({"question": question}, context=run_config)
    return state


@pytest.mark.parametrize("rounds", [1, 2, 7])
async def test_a_judge_who_is_never_satisfied_gets_exactly_the_rounds_allowed(
    tmp_path: Path, rounds: int
) -> None:
    run_config = RunConfig(rounds=rounds, sources=3, threshold=1.0)
    state = await last_state(tmp_path, ScriptedModel(quotes=2, missing="high"), run_config)
    assert [judgement.round for judgement in state["judgements"]] == list(range(1, rounds + 1))
    assert state["judgements"][-1].stop == "rounds used up"
    assert len(state["pages"]) == 3 * rounds
    assert {query.round for query in state["asked"]} == set(range(1, rounds + 1))
    assert state["report"].status == "extracts"


@pytest.mark.parametrize(
    ("depth", "fact", "survey"), [("quick", 3, 3), ("standard", 3, 5), ("comprehensive", 5, 10)]
)
async def test_depth_and_effort_set_the_rounds(tmp_path: Path, depth: Any, fact: int, survey: int) -> None:
    clerk, run_config = (
        ScriptedModel(quotes=2, missing="high"),
        RunConfig(depth=depth, sources=3, threshold=1.0),
    )
    state = await last_state(tmp_path, clerk, run_config)
    assert len(state["judgements"]) == fact
    state = await last_state(tmp_path, clerk, run_config, question="What are the costs of tidal power?")
    assert len(state["judgements"]) == survey


async def test_a_judge_who_is_always_satisfied_needs_one_round(tmp_path: Path) -> None:
    state = await last_state(tmp_path, ScriptedModel(quotes=2, missing=None), RunConfig(rounds=9, sources=3))
    assert [judgement.stop for judgement in state["judgements"]] == ["only minor gaps"]


async def test_a_low_threshold_is_reached_at_once(tmp_path: Path) -> None:
    state = await last_state(
        tmp_path, ScriptedModel(quotes=2, missing="medium"), RunConfig(rounds=9, sources=3, threshold=0.1)
    )
    assert [judgement.stop for judgement in state["judgements"]] == ["sufficient"]


async def test_a_planner_who_repeats_itself_has_nothing_left_to_ask(tmp_path: Path) -> None:
    run_config = RunConfig(rounds=9, sources=3, threshold=1.0)
    state = await last_state(tmp_path, ScriptedModel(quotes=2, is_repeating=True), run_config)
    assert [judgement.stop for judgement in state["judgements"]] == [None, "nothing left to ask"]
    assert len({query.text for query in state["asked"]}) == len(state["asked"])
    assert state["report"].sections


async def test_no_round_starts_once_the_budget_is_spent(tmp_path: Path) -> None:
    run_config = RunConfig(rounds=9, sources=3, threshold=1.0, budget_usd=0.09)
    state = await last_state(tmp_path, ScriptedModel(quotes=2, usd_a_call=0.01), run_config)
    # A round is a plan, three readings and a judgement: five cents. What the second one cannot pay it quotes.
    assert [judgement.stop for judgement in state["judgements"]] == [None, "budget used up"]
    assert sum(cost.usd for cost in state["costs"]) == pytest.approx(0.07)
    assert state["report"].status == "partial"
    assert "the budget ran out" in state["report"].markdown
    assert "0.0700 of 0.0765 USD spent on looking, of 0.09 in all" in render_statistics(cast(RunState, state))


async def test_a_run_that_costs_nothing_has_no_use_for_a_budget(tmp_path: Path) -> None:
    run_config = RunConfig(rounds=2, sources=3, threshold=1.0, budget_usd=0.0)
    state = await last_state(tmp_path, ScriptedModel(quotes=2), run_config)
    assert state["judgements"][-1].stop == "rounds used up"


async def test_no_more_pages_are_read_than_allowed_and_none_twice(tmp_path: Path) -> None:
    books = {f"https://shelf{n}.example/book": page(n, 1200) for n in range(60)}
    library = Library(books)
    await last_state(
        tmp_path, ScriptedModel(quotes=2), RunConfig(rounds=3, sources=4, threshold=1.0), library
    )
    assert len(library.read) == len(set(library.read)) == 12


async def test_one_lost_search_does_not_cost_the_round(tmp_path: Path) -> None:
    books = {f"https://shelf{n}.example/book": page(n, 1200) for n in range(60)}
    library = Library(books, lost_queries=["shelf 2"])
    clerk = ScriptedModel(quotes=2, queries=2)
    state = await last_state(tmp_path, clerk, RunConfig(rounds=1, sources=4, threshold=1.0), library)
    assert len(state["pages"]) == 4
    assert [failure.why for failure in state["failures"]] == ["the catalogue is closed"]
    assert state["report"].status == "partial"
    assert "the catalogue is closed" in state["report"].markdown


async def test_every_search_lost_is_an_honest_report_without_prose(tmp_path: Path) -> None:
    books = {"https://shelf.example/book": page(0, 1200)}
    library = Library(books, lost_queries=[QUESTION])
    state = await last_state(tmp_path, ScriptedModel(quotes=2), RunConfig(rounds=2, threshold=1.0), library)
    report = state["report"]
    assert (report.status, report.sections, report.citations) == ("failed", [], [])
    assert "the catalogue is closed" in report.markdown
    assert "Nothing is reported" in report.markdown
    assert not state.get("pages")


pytestmark = pytest.mark.whole

ENDLESS_QUESTION = "What is known about tidal turbines?"

ROUNDS = 100

A_ROUND = 1  # page, with five quotes

SETTLED = 20


@dataclass
class Scribe:
    """A model in the same process: answers like the researcher, and remembers how much it was shown."""

    round: int = 1
    shown: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))

    def within(self, budget: Budget) -> "Scribe":
        """Who costs next to nothing asks no purse."""
        return self

    async def ask(
        self,
        role: Role,
        prompt_budget: PromptBudget,
        form: type[BaseModel],
        complaint: Callable[[Any], str] = lambda _: "",
    ) -> FormAnswer[BaseModel]:
        prompt = prompt_budget.fill()
        size = count_tokens(prompt.system) + count_tokens(prompt.user)
        name = form.__name__.removesuffix("Answer").lower()
        self.shown[name][self.round] = max(size, self.shown[name].get(self.round, 0))
        answer = answer_to(name, prompt.user)
        if role == "read":  # word for word, so that nothing is left to verify
            said = [s.text for s in split_sentences(fenced("passages", prompt.user)) if len(s.text) > 30][:5]
            quotes = [{"quote": q, "statement": q, "question": "Q1", "relevance": 0.9} for q in said]
            answer = {"claims": quotes}
        if role == "judge":
            self.round += 1
            missing = {"question": "Q1", "description": f"More of {self.round}.", "priority": "high"}
            answer = {**answer, "gaps": [{**missing, "suggested_query": f"tidal turbines {self.round}"}]}
        cost = Cost(call=short_hash(prompt.user), role=role, model="scribe", tokens_in=size, usd=0.0001)
        return FormAnswer(form.model_validate(answer), [cost])


def scribe_mind(scribe: Scribe) -> LLMResearchModel:
    roles = ("plan", "read", "verify", "judge", "outline", "write", "rewrite", "check")
    return LLMResearchModel(cast(Mapping[Role, StructuredOutput], dict.fromkeys(roles, scribe)), "English")


def on_disk(home: Path) -> int:
    """Return the bytes of the database, however much of it is still in its log."""
    with closing(sqlite3.connect(home / "fathom.sqlite")) as database:
        pages, size = (
            database.execute(f"pragma {name}").fetchone()[0] for name in ("page_count", "page_size")
        )
    return int(pages * size)


async def test_a_hundred_rounds_stay_within_bounds_and_the_report_is_always_current(tmp_path: Path) -> None:
    scribe = Scribe()
    books = {f"https://shelf{n}.example/book": page(n, 1100) for n in range(ROUNDS * A_ROUND)}
    run_config = RunConfig(endless=True, sources=A_ROUND, threshold=0.0)
    sizes: dict[int, int] = {}
    heaps: dict[int, int] = {}
    reports: list[str] = []
    async with checkpointer(tmp_path / "fathom.sqlite") as saver:
        graph = build_graph(make_dependencies(tmp_path, Library(books), scribe_mind(scribe)), saver)
        async for updates in graph.astream(
            {"question": ENDLESS_QUESTION},
            {"configurable": {"thread_id": "t"}, "max_concurrency": 10},
            context=run_config,
            durability="async",
        ):
            for node, update in cast(dict[str, Any], updates).items():
                if node == "judge":
                    number = update["judgements"][0].round
                    await open_storage(tmp_path / "fathom.sqlite").checkpoints.thin("t")  # as a run does
                    sizes[number], heaps[number] = (
                        on_disk(tmp_path),
                        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
                    )
                if node == "writer":
                    reports.append(update["report"].markdown)
        state = (await graph.aget_state({"configurable": {"thread_id": "t"}})).values
    assert [j.stop for j in state["judgements"]] == [None] * (ROUNDS - 1) + ["rounds used up"]
    assert {query.round for query in state["asked"]} == set(range(1, ROUNDS + 1))
    assert len(state["pages"]) == ROUNDS * A_ROUND
    assert len(reports) == ROUNDS
    # What the judge misses after each round is what the report of that round says is missing.
    assert all(f"More of {n + 1}" in report for n, report in enumerate(reports, 1))
    for role, shown in scribe.shown.items():
        later = [size for number, size in shown.items() if number >= SETTLED]
        # A writer's claims, 24 of a part at most, come from more and more pages, whose paragraphs it sees.
        # A judge is shown 120 claims at most, which is reached later than the settling of the others.
        most = {"write": 1.8, "judge": 1.4}.get(role, 1.3)
        assert not later or max(later) <= most * max(shown.get(SETTLED, 0), min(later)), role
    first, second = sizes[60] - sizes[20], sizes[100] - sizes[60]
    assert second <= 1.8 * first  # 1 is linear; a history whose every state is kept whole makes it 2
    assert heaps[100] - heaps[SETTLED] < 120_000  # KB


async def test_a_planner_who_repeats_itself_is_given_other_angles(tmp_path: Path) -> None:
    books = {f"https://shelf{n}.example/book": page(n, 500) for n in range(12)}
    run_config = RunConfig(endless=True, rounds=6, sources=2)
    graph = build_graph(
        make_dependencies(tmp_path, Library(books), ScriptedModel(quotes=2, missing=None, is_repeating=True))
    )
    state = await graph.ainvoke({"question": ENDLESS_QUESTION}, context=run_config)
    assert [j.stop for j in state["judgements"]] == [None] * 5 + ["rounds used up"]
    assert {query.round for query in state["asked"]} == set(range(1, 7))
    assert len({query.text for query in state["asked"]}) == len(state["asked"])
