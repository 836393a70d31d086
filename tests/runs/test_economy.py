"""How much of a prompt is the same as of the one before: what a provider's cache need not read again."""

from collections import defaultdict
from pathlib import Path

from fakes import claim, gap, hit, query, question
from kits import Library, kits_of
from standins.model import Model, ModelRequest
from standins.prose import page
from standins.researcher import form_of
from standins.scripted import never_satisfied, scripted

from fathom.graph import build_graph
from fathom.llm.factory import make_research_model
from fathom.llm.planned import sheet_of
from fathom.llm.port import Brief
from fathom.settings import load_settings
from fathom.state import RunConfig

QUESTION = "How much does tidal power cost?"
# What is measured is in docs/log.md; a prompt that begins with what changes falls below these.
LEAST = {
    "plan": 0.65, "read": 0.45, "verify": 0.25, "judge": 0.65, "write": 0.15, "check": 0.3,
}  # fmt: skip


async def asked(tmp_path: Path) -> dict[str, list[str]]:
    """Everything a model was asked in a run of three rounds, by what was wanted, in order."""
    books = {f"https://shelf{n}.example/book": page(n, 1200) for n in range(12)}
    run_config = RunConfig(rounds=3, sources=3, threshold=1.0, model="stand-in")
    with Model(scripted(judge=never_satisfied)) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        graph = build_graph(kits_of(tmp_path, Library(books), lambda own: make_research_model(settings, own)))
        await graph.ainvoke({"question": QUESTION}, context=run_config)
        found: dict[str, list[str]] = defaultdict(list)
        for request in model.requests:
            found[form_of(request)].append(said(request))
    return found


def said(request: ModelRequest) -> str:
    return "\n".join(str(message["content"]) for message in request.messages)


def plans() -> list[str]:
    """The planner's prompts of three rounds in which something is asked, found and missing each time."""
    briefs = [
        Brief(
            QUESTION, number, 5, [question(1), question(2)],
            [query(f"tidal power {n}") for n in range(5 * (number - 1))], [gap()] * (number > 1),
            [claim(f"Finding {n} is that silt gathers.", name=f"c{n}") for n in range(6 * (number - 1))],
            [hit(f"https://a.example/{n}") for n in range(5)], outlines=["Costs; Silt; Fish"] * 3,
        )
        for number in (1, 2, 3)
    ]  # fmt: skip
    filled = [sheet_of(brief, "English").whole() for brief in briefs]
    return [f"{prompt.system}\n{prompt.user}" for prompt in filled]


def alike(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (mine, yours) in pairs if mine != yours), min(len(one), len(other)))


def share(prompts: list[str]) -> float:
    """The part of the later prompts that is the beginning of one that was sent before."""
    same = [max(alike(p, before) for before in prompts[:n]) for n, p in enumerate(prompts) if n]
    return sum(same) / sum(map(len, prompts[1:]))


async def test_prompts_begin_with_what_stays_the_same(tmp_path: Path) -> None:
    found = {**await asked(tmp_path), "plan": plans()}
    shares = {role: round(share(prompts), 2) for role, prompts in found.items() if len(prompts) > 1}
    print(shares)
    assert shares.keys() == LEAST.keys()
    assert {role: s for role, s in shares.items() if s < LEAST[role]} == {}
