"""What a run has cost, by who asked, where, when and whom.

Does not know prices or purses: it adds up charges.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, model_validator

from fathom.state import Charge, Loss

SEARCH = "search"
UNPRICED = "price"


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
    def _as_it_was_told_before(cls, given: Any) -> Any:
        """Reports that were written before there were kinds tell models and engines in one list."""
        is_flat = isinstance(given, Mapping) and any(isinstance(usd, int | float) for usd in given.values())
        return {"model": given} if is_flat else given


def cost_by(charges: Sequence[Charge]) -> CostBy:
    """The charges added up in every way."""
    engines = [charge for charge in charges if charge.role == SEARCH]
    models = [charge for charge in charges if charge.role != SEARCH]
    return CostBy(
        role=_summed(charges, lambda charge: charge.role),
        node=_summed(charges, lambda charge: charge.node),
        round=_summed(charges, lambda charge: str(charge.round)),
        engine=_summed(engines, lambda charge: charge.model),
        model=_summed(models, lambda charge: charge.model),
    )


class Tally(NamedTuple):
    """Charges added up: what was sent is spent, what another run was answered is saved."""

    usd: float
    tokens_in: int
    tokens_out: int
    calls: int  # of models
    saved_calls: int  # of models and engines
    saved_tokens: int
    saved_usd: float


def tallied(charges: Iterable[Charge]) -> Tally:
    """The tally of all charges."""
    usd = saved_usd = 0.0
    tokens_in = tokens_out = calls = saved_calls = saved_tokens = 0
    for charge in charges:
        usd += charge.usd
        saved_usd += charge.saved_usd
        if charge.is_reused:
            saved_calls += 1
            saved_tokens += charge.tokens_in + charge.tokens_out
        else:
            tokens_in += charge.tokens_in
            tokens_out += charge.tokens_out
            calls += charge.role != SEARCH
    return Tally(usd, tokens_in, tokens_out, calls, saved_calls, saved_tokens, saved_usd)


def stamped(update: Any, node: str, number: int) -> Any:
    """A node's update with its charges saying where and when; a model without a price is told as a loss."""
    charges: list[Charge] = update.get("charges", []) if isinstance(update, Mapping) else []
    if not charges:
        return update
    own = [charge.model_copy(update={"node": node, "round": number}) for charge in charges]
    unpriced = dict.fromkeys(charge.model for charge in own if not charge.is_priced)
    losses = [*update.get("losses", []), *(no_price(model) for model in unpriced)]
    return {**update, "charges": own, **({"losses": losses} if unpriced else {})}


def no_price(model: str) -> Loss:
    """What the budget means for a model that nobody has a price for."""
    return Loss(
        where=UNPRICED,
        what=model,
        why="no price is known, so its cost is not counted and the budget does not hold it back;"
        " give one in prices.toml",
    )


def round_of(state: Mapping[str, Any], node: str) -> int:
    """The round a node works in: the one it was sent in, or the one after those that were judged."""
    if "round" in state:
        return int(state["round"])
    return len(state.get("judgements", [])) + (node != "outline")  # which is for what was judged


def _summed(charges: Sequence[Charge], name: Callable[[Charge], str]) -> dict[str, float]:
    spent: dict[str, float] = {}
    for charge in charges:
        spent[name(charge)] = spent.get(name(charge), 0.0) + charge.usd
    return {key: round(usd, 9) for key, usd in spent.items()}
