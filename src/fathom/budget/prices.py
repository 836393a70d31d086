"""The price of a call, from an offline price table and the user's own prices, and what a run's calls cost.

A model without a known price counts as unpriced, never as free. Costs are added up by role, node, round,
engine and model.
"""

import ipaddress
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fathom.budget import SEARCH_ROLE
from fathom.errors import BadInput
from fathom.settings import Settings
from fathom.settings.model_names import split_name
from fathom.state import Cost, Failure, Role, RunConfig

PRICES_FILE = "prices.toml"
MILLION = 1_000_000

# Providers by the names of genai-prices, where those differ.
_SELLERS = {
    "google_genai": "google",
    "google_vertexai": "google",
    "bedrock": "aws",
    "bedrock_converse": "aws",
    "mistralai": "mistral",
    "xai": "x-ai",
}
_Usd = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class ModelPrice(BaseModel):
    """USD a million tokens; `cached` is for input that the server still had, as input when left out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: _Usd
    output: _Usd
    cached: _Usd | None = None

    def usd(self, tokens_in: int, tokens_out: int, tokens_cached: int) -> float:
        """Return the cost of these tokens; cached tokens are part of the input tokens."""
        again = self.input if self.cached is None else self.cached
        fresh = tokens_in - tokens_cached
        return (fresh * self.input + tokens_cached * again + tokens_out * self.output) / MILLION


class _PricesFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    models: dict[str, ModelPrice] = {}
    engines: dict[str, _Usd] = {}


@dataclass(frozen=True)
class Prices:
    """Prices a person gave, by model and by engine (USD a request); they beat every other."""

    models: Mapping[str, ModelPrice] = field(default_factory=dict)
    engines: Mapping[str, float] = field(default_factory=dict)

    def usd(
        self,
        model: str,
        server: str,
        tokens_in: int,
        tokens_out: int,
        tokens_cached: int = 0,
        tokens_written: int = 0,
    ) -> float | None:
        """The price in USD; 0 on a server of one's own, None when no price is known."""
        cached = min(max(tokens_cached, 0), tokens_in)
        provider, bare = split_name(model)
        if given := self.models.get(model) or self.models.get(bare):
            return given.usd(tokens_in, tokens_out, cached)
        if is_own_server(server):
            return 0.0
        written = min(max(tokens_written, 0), tokens_in - cached)
        return _usd_from_table(bare, server, provider, (tokens_in, tokens_out, cached, written))

    def is_known(self, model: str, server: str) -> bool:
        """Whether a call to the model has a price, be it 0."""
        return self.usd(model, server, 1, 1) is not None


def load_prices(named: Path | None, home: Path) -> Prices:
    """The prices in the file that was named, else in the home's own, if there is one."""
    path = named.expanduser() if named else home / PRICES_FILE
    try:
        words = path.read_text("utf-8")
    except FileNotFoundError:
        if named:
            raise BadInput(f"There is no file of prices {path}.") from None
        return Prices()
    except (OSError, ValueError) as error:
        raise BadInput(f"The prices in {path} cannot be read: {error}.") from None
    try:
        given = _PricesFile.model_validate(tomllib.loads(words))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"The prices in {path} are not usable: {place}: {first['msg']}.") from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"The prices in {path} are no TOML: {error}.") from None
    return Prices(given.models, given.engines)


@lru_cache(maxsize=64)
def is_own_server(server: str) -> bool:
    """Whether the server is on this machine or its private network."""
    host = urlsplit(server).hostname or ""
    if host == "localhost" or host.endswith((".local", ".internal")):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return False


def _usd_from_table(
    model: str, server: str, provider: str, tokens: tuple[int, int, int, int]
) -> float | None:
    from genai_prices import Usage, calc_price  # half a second of imports, only if needed

    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    usage = Usage(**dict(zip(names, tokens, strict=True)))
    # The price of this server or provider, if the table has it; else that of the model's maker.
    provided = [{"provider_id": _SELLERS.get(provider, provider)}] if provider not in {"", "openai"} else []
    sellers: list[dict[str, Any]] = [{"provider_api_url": server}, *provided, {}]
    for seller in sellers:
        try:
            return float(calc_price(usage, model, **seller).total_price)
        except LookupError:
            continue
    return None


def estimate_usd(settings: Settings, model: str, tokens_in: int, tokens_out: int) -> float:
    """Return the likely price of these tokens; 0 for a model without a known price."""
    prices = load_prices(settings.prices_file, settings.home)
    return prices.usd(model, settings.server_of(model), tokens_in, tokens_out) or 0.0


def find_unpriced_models(settings: Settings, run_config: RunConfig) -> list[str]:
    """The models of a run without a price; those on a server of one's own cost nothing, which is one."""
    if not settings.uses_model(run_config.model):
        return []
    prices = load_prices(settings.prices_file, settings.home)
    names = dict.fromkeys(settings.model_for(role, run_config.model_of(role)) for role in get_args(Role))
    return [name for name in names if not prices.is_known(name, settings.server_of(name))]


def refuse_unenforceable_budget(settings: Settings, run_config: RunConfig) -> None:
    """Refuse a budget that cannot be enforced, before the run instead of in its report."""
    if names := find_unpriced_models(settings, run_config):
        raise BadInput(
            f"The budget of {run_config.budget_usd:g} USD cannot be kept, because no price is known for"
            f" {_models_at_servers(settings, names)}; {_way_out(settings, names)},"
            " or leave --budget (budget_usd) out."
        )


def describe_unpriced_models(settings: Settings, names: Sequence[str]) -> str:
    """Explain what the default budget means for models without a price, and what to do."""
    return (
        f"no price is known for {_models_at_servers(settings, names)}, so what it costs is not counted"
        f" and no cap holds it back; {_way_out(settings, names)}"
    )


def _models_at_servers(settings: Settings, names: Sequence[str]) -> str:
    return ", ".join(f"{name} at {settings.server_of(name)}" for name in names)


def _way_out(settings: Settings, names: Sequence[str]) -> str:
    place = settings.prices_file or settings.home / PRICES_FILE
    return f'give one in {place} ([models."{names[0]}"] input = …, output = … in USD a million tokens)'


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
    known = list(costs)
    sent, reused = ([cost for cost in known if cost.is_reused is is_reused] for is_reused in (False, True))
    return CostTotals(
        usd=sum(cost.usd for cost in known),
        tokens_in=sum(cost.tokens_in for cost in sent),
        tokens_out=sum(cost.tokens_out for cost in sent),
        calls=sum(cost.role != SEARCH_ROLE for cost in sent),
        saved_calls=len(reused),
        saved_tokens=sum(cost.tokens_in + cost.tokens_out for cost in reused),
        saved_usd=sum(cost.saved_usd for cost in known),
    )


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
