"""Whether a cap can be kept: a model that nobody has a price for cannot be held back by one.

Does not know runs. The usual cap does not stop such a run, which is told about instead; one that a person has
named is a promise, and is refused when it cannot be kept.
"""

from collections.abc import Sequence
from typing import get_args

from fathom.budget.prices import PRICES, load_prices
from fathom.errors import BadInput
from fathom.settings import Settings
from fathom.state import Role, RunConfig


def unpriced(settings: Settings, run_config: RunConfig) -> list[str]:
    """The models of a run without a price; those on a server of one's own cost nothing, which is one."""
    if not settings.uses_model(run_config.model):
        return []
    prices = load_prices(settings.prices_file, settings.home)
    names = dict.fromkeys(settings.model_for(role, run_config.model_of(role)) for role in get_args(Role))
    return [name for name in names if not prices.is_known(name, settings.server_of(name))]


def refuse_unkept(settings: Settings, run_config: RunConfig) -> None:
    """Say before the run, and not in its report, that it could cost more than somebody said."""
    if names := unpriced(settings, run_config):
        raise BadInput(
            f"The budget of {run_config.budget_usd:g} USD cannot be kept, because no price is known for"
            f" {_at(settings, names)}; {_way_out(settings, names)}, or leave --budget (budget_usd) out."
        )


def not_held_back(settings: Settings, names: Sequence[str]) -> str:
    """What the usual cap means for models without a price, and what can be done."""
    return (
        f"no price is known for {_at(settings, names)}, so what it costs is not counted and no cap holds it"
        f" back; {_way_out(settings, names)}"
    )


def _at(settings: Settings, names: Sequence[str]) -> str:
    return ", ".join(f"{name} at {settings.server_of(name)}" for name in names)


def _way_out(settings: Settings, names: Sequence[str]) -> str:
    place = settings.prices_file or settings.home / PRICES
    return f'give one in {place} ([models."{names[0]}"] input = …, output = … in USD a million tokens)'
