"""What a run has cost, by role, node, round, engine and model."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, model_validator

from fathom.budget.budget import SEARCH_ROLE
from fathom.state import Cost, Failure

UNPRICED_FAILURE = "price"


class CostBy(BaseModel):
    """USD by role, node, round, engine and model."""

    model_config = ConfigDict(frozen=True)

    role: dict[str, float] = {}
    node: dict[str, float] = {}
    round: dict[str, float] = {}
    engine: dict[str, float] = {}
    model: dict[str, float] = {}

    @model_validator(mode="before")
    @classmethod
    def _accept_flat_form(cls, given: Any) -> Any:
        """Accept reports of earlier versions, which list models and engines together."""
        is_flat = isinstance(given, Mapping) and any(isinstance(usd, int | float) for usd in given.values())
        return {"model": given} if is_flat else given


def cost_by(costs: Sequence[Cost]) -> CostBy:
    """Add up costs in every way."""
    engines = [cost for cost in costs if cost.role == SEARCH_ROLE]
    models = [cost for cost in costs if cost.role != SEARCH_ROLE]
    return CostBy(
        role=_sum_by(costs, lambda cost: cost.role),
        node=_sum_by(costs, lambda cost: cost.node),
        round=_sum_by(costs, lambda cost: str(cost.round)),
        engine=_sum_by(engines, lambda cost: cost.model),
        model=_sum_by(models, lambda cost: cost.model),
    )


class EngineUse(BaseModel):
    """The use of one engine: searches sent, their results and costs, and the credit left."""

    model_config = ConfigDict(frozen=True)

    engine: str
    searches: int = 0
    results: int = 0
    usd: float = 0.0
    credit: str = ""  # as the engine says it; most do not


def engine_uses(costs: Iterable[Cost]) -> list[EngineUse]:
    """Return the engines of a run in order of first use; reused answers count no search."""
    uses: dict[str, EngineUse] = {}
    for cost in costs:
        if cost.role == SEARCH_ROLE:
            known = uses.get(cost.model, EngineUse(engine=cost.model))
            uses[cost.model] = EngineUse(
                engine=cost.model,
                searches=known.searches + (not cost.is_reused),
                results=known.results + cost.results,
                usd=round(known.usd + cost.usd, 9),
                credit=cost.credit or known.credit,
            )
    return list(uses.values())


class CostTotals(NamedTuple):
    """Total costs: calls sent are spent, answers reused from other runs are saved."""

    usd: float
    tokens_in: int
    tokens_out: int
    calls: int  # of models
    saved_calls: int  # of models and engines
    saved_tokens: int
    saved_usd: float


def add_up_costs(costs: Iterable[Cost]) -> CostTotals:
    """Return the totals of all costs."""
    usd = saved_usd = 0.0
    tokens_in = tokens_out = calls = saved_calls = saved_tokens = 0
    for cost in costs:
        usd += cost.usd
        saved_usd += cost.saved_usd
        if cost.is_reused:
            saved_calls += 1
            saved_tokens += cost.tokens_in + cost.tokens_out
        else:
            tokens_in += cost.tokens_in
            tokens_out += cost.tokens_out
            calls += cost.role != SEARCH_ROLE
    return CostTotals(usd, tokens_in, tokens_out, calls, saved_calls, saved_tokens, saved_usd)


def stamp_costs(update: Any, node: str, number: int) -> Any:
    """Add node and round to the costs of a node's update, and a failure for each model without a price."""
    costs: list[Cost] = update.get("costs", []) if isinstance(update, Mapping) else []
    if not costs:
        return update
    own = [cost.model_copy(update={"node": node, "round": number}) for cost in costs]
    unpriced = dict.fromkeys(cost.model for cost in own if not cost.is_priced)
    failures = [*update.get("failures", []), *(make_unpriced_failure(model) for model in unpriced)]
    return {**update, "costs": own, **({"failures": failures} if unpriced else {})}


def make_unpriced_failure(model: str) -> Failure:
    """Return the failure that reports a model without a price."""
    return Failure(
        where=UNPRICED_FAILURE,
        what=model,
        code="unpriced",
        why="no price is known, so its cost is not counted and the budget does not hold it back;"
        " give one in prices.toml",
    )


_REPORT_NODES = frozenset({"outline", "edit", "confirm", "publish"})  # which is of rounds that were judged


def round_of_node(state: Mapping[str, Any], node: str) -> int:
    """The round a node works in: the one it was sent in, or the one after those that were judged."""
    if "round" in state:
        return int(state["round"])
    return len(state.get("judgements", [])) + (node not in _REPORT_NODES)


def _sum_by(costs: Sequence[Cost], name: Callable[[Cost], str]) -> dict[str, float]:
    spent: dict[str, float] = {}
    for cost in costs:
        spent[name(cost)] = spent.get(name(cost), 0.0) + cost.usd
    return {key: round(usd, 9) for key, usd in spent.items()}
