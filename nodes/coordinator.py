"""Coordinator node: merge the results of the branches and choose which branches run next."""

from langgraph.types import Overwrite

from fathom.nodes.ports import BudgetPort, ControlSignalsPort
from fathom.planning.queries import normalize_query
from fathom.planning.round_plan import queries_added_meanwhile
from fathom.planning.tree import grow_tree, open_directions
from fathom.state import Direction, Query, ResearchState, RunConfig, SubQuestion
from fathom.state.records import merge_records

_MAX_HANDED_CLAIMS = 20  # the latest ones


async def coordinator(
    state: ResearchState, *, run_config: RunConfig, signals: ControlSignalsPort, budget: BudgetPort
) -> ResearchState:
    """Merge the branches' sub-questions, grow the tree when a level is done, choose the next branches.

    A query that a user added meanwhile becomes a branch of this level. After a stop no branch is sent out.

    Reads:  questions, claims, asked, directions, queries, judgements, is_spent, is_finishing
    Writes: questions, claims, asked, directions, queries, next_directions, is_handing_on, is_finishing,
            is_spent
    """
    back = sum(direction.status != "open" for direction in state.get("directions", []))
    level = len(state.get("judgements", [])) + 1
    # The place is unique per call: a query that the user removed again must not come back.
    added = queries_added_meanwhile(await signals.added(level, f"gathering of {back} in"), state)
    state = {**state, "queries": [*state.get("queries", []), *added]}
    update: ResearchState = {**_merge_questions(state), **({"queries": state["queries"]} if added else {})}
    if await signals.is_stopping():
        update["is_finishing"] = True
    if (await budget.account()).is_out:
        update["is_spent"] = True
    update = {**update, **_next_level(state, run_config)}
    directions = merge_records(state.get("directions", []), update.get("directions", []))
    chosen = _choose_directions({**state, **update, "directions": directions}, run_config)
    is_handing_on = run_config.orchestration == "handoff"
    return {**update, "next_directions": chosen, "is_handing_on": is_handing_on}


def _choose_directions(state: ResearchState, run_config: RunConfig) -> list[Direction]:
    """Return all open directions of the level, or only the next one; in a hand-off with the latest claims."""
    chosen = open_directions(state)
    if run_config.orchestration == "concurrent":
        return chosen
    given = [claim.id for claim in state.get("claims", [])[-_MAX_HANDED_CLAIMS:]]
    handed = {"given": given} if run_config.orchestration == "handoff" else {}
    return [direction.model_copy(update=handed) for direction in chosen[:1]]


def _merge_questions(state: ResearchState) -> ResearchState:
    """Merge sub-questions with the same text, and point claims and queries to the merged one."""
    kept: dict[str, SubQuestion] = {}
    names: dict[str, str] = {}
    for question in state.get("questions", []):
        one = kept.setdefault(
            normalize_query(question.text), question.model_copy(update={"id": f"Q{len(kept) + 1}"})
        )
        names[question.id] = one.id
    claims = [c for c in state.get("claims", []) if c.question in names]
    asked = [q for q in state.get("asked", []) if q.question in names]
    return {
        "questions": Overwrite(list(kept.values())),  # type: ignore[typeddict-item]
        "claims": [c.model_copy(update={"question": names[c.question]}) for c in claims],
        "asked": [q.model_copy(update={"question": names[q.question]}) for q in asked],
    }


def _next_level(state: ResearchState, run_config: RunConfig) -> ResearchState:
    """Apply a hand-off while branches of the level are open, else grow the next level of the tree."""
    directions, queries = state.get("directions", []), state.get("queries", [])
    finished = {direction.id for direction in directions if direction.status != "open"}
    waiting = [query for query in queries if query.id not in finished]
    if waiting:
        return _hand_over(directions, queries, waiting[0]) if run_config.orchestration == "handoff" else {}
    kept = [_prune_removed(direction, queries) for direction in directions]
    if run_config.strategy != "tree":
        return {"directions": kept}
    level = queries[0].round + 1 if queries else 1
    tree, chosen = grow_tree(kept, level, run_config.branches or run_config.step)
    return {"directions": tree, "queries": [direction.query() for direction in chosen]}


def _prune_removed(direction: Direction, queries: list[Query]) -> Direction:
    """Drop the starting queries that a user removed from the plan."""
    is_start = not direction.parent and direction.status == "open"
    if not is_start or direction.id in {query.id for query in queries}:
        return direction
    return direction.model_copy(update={"status": "pruned", "because": "taken out of the plan"})


def _hand_over(directions: list[Direction], queries: list[Query], after: Query) -> ResearchState:
    """Give the next branch the queries that the branch before it would have asked next."""
    before = [direction for direction in directions if direction.status == "explored"]
    heir = next((direction for direction in directions if direction.id == after.id), None)
    if not before or not before[-1].leads or heir is None:
        return {}
    new = [word for word in before[-1].leads[0].split() if word.casefold() not in heir.text.casefold()]
    passed = heir.model_copy(update={"text": " ".join([heir.text, *new]), "parent": before[-1].id})
    return {"directions": [passed], "queries": [passed.query() if q.id == after.id else q for q in queries]}
