"""A hundred rounds: prompts, memory and database stay within bounds, and the report is always current."""

import resource
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from kits import Clerk, Library, kits_of
from pydantic import BaseModel
from standins.prose import page
from standins.researcher import answer_to, fenced

from fathom.budget.budget import Budget
from fathom.graph import build_graph
from fathom.llm.llm_model import LLMResearchModel
from fathom.llm.sheets import Sheet
from fathom.llm.structured_output import Answer, StructuredOutput
from fathom.state import Cost, Role, RunConfig, short_hash
from fathom.storage import open_storage
from fathom.storage.checkpoints import checkpointer
from fathom.text.sentences import sentences
from fathom.text.tokencount import token_count

pytestmark = pytest.mark.whole

QUESTION = "What is known about tidal turbines?"
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
        sheet: Sheet,
        form: type[BaseModel],
        complaint: Callable[[Any], str] = lambda _: "",
    ) -> Answer[BaseModel]:
        prompt = sheet.whole()
        size = token_count(prompt.system) + token_count(prompt.user)
        name = form.__name__.removesuffix("Answer").lower()
        self.shown[name][self.round] = max(size, self.shown[name].get(self.round, 0))
        answer = answer_to(name, prompt.user)
        if role == "read":  # word for word, so that nothing is left to verify
            said = [s.text for s in sentences(fenced("passages", prompt.user)) if len(s.text) > 30][:5]
            quotes = [{"quote": q, "statement": q, "question": "Q1", "relevance": 0.9} for q in said]
            answer = {"claims": quotes}
        if role == "judge":
            self.round += 1
            missing = {"question": "Q1", "description": f"More of {self.round}.", "priority": "high"}
            answer = {**answer, "gaps": [{**missing, "suggested_query": f"tidal turbines {self.round}"}]}
        cost = Cost(call=short_hash(prompt.user), role=role, model="scribe", tokens_in=size, usd=0.0001)
        return Answer(form.model_validate(answer), [cost])


def scribe_mind(scribe: Scribe) -> LLMResearchModel:
    roles = ("plan", "read", "verify", "judge", "outline", "write", "rewrite", "check")
    return LLMResearchModel(cast(Mapping[Role, StructuredOutput], dict.fromkeys(roles, scribe)), "English")


def on_disk(home: Path) -> int:
    return sum(file.stat().st_size for file in home.glob("fathom.sqlite*"))


async def test_a_hundred_rounds_stay_within_bounds_and_the_report_is_always_current(tmp_path: Path) -> None:
    scribe = Scribe()
    books = {f"https://shelf{n}.example/book": page(n, 1100) for n in range(ROUNDS * A_ROUND)}
    run_config = RunConfig(endless=True, sources=A_ROUND, threshold=0.0)
    sizes: dict[int, int] = {}
    heaps: dict[int, int] = {}
    reports: list[str] = []
    async with checkpointer(tmp_path / "fathom.sqlite") as saver:
        graph = build_graph(kits_of(tmp_path, Library(books), scribe_mind(scribe)), saver)
        async for updates in graph.astream(
            {"question": QUESTION},
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
        # A writer's claims, 24 of a part at most, come from more and more pages, whose passages it sees.
        # A judge is shown 120 claims at most, which is reached later than the settling of the others.
        most = {"write": 1.5, "judge": 1.4}.get(role, 1.3)
        assert not later or max(later) <= most * max(shown.get(SETTLED, 0), min(later)), role
    first, second = sizes[60] - sizes[20], sizes[100] - sizes[60]
    assert second <= 1.8 * first  # 1 is linear; a history whose every state is kept whole makes it 2
    assert heaps[100] - heaps[SETTLED] < 120_000  # KB


async def test_a_planner_who_repeats_itself_is_given_other_angles(tmp_path: Path) -> None:
    books = {f"https://shelf{n}.example/book": page(n, 500) for n in range(12)}
    run_config = RunConfig(endless=True, rounds=6, sources=2)
    graph = build_graph(kits_of(tmp_path, Library(books), Clerk(quotes=2, missing=None, is_repeating=True)))
    state = await graph.ainvoke({"question": QUESTION}, context=run_config)
    assert [j.stop for j in state["judgements"]] == [None] * 5 + ["rounds used up"]
    assert {query.round for query in state["asked"]} == set(range(1, 7))
    assert len({query.text for query in state["asked"]}) == len(state["asked"])
