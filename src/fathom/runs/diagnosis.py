"""Diagnose the setup: what is configured, what is missing, and what a run would use.

Asks only model servers on this machine; it says what Fathom would do, without a key leaving it.
"""

import asyncio
import os
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import get_args

from fathom.budget.prices import MILLION, PRICES_FILE, Prices, load_prices
from fathom.errors import FathomError
from fathom.llm.servers import CHOICE_FILE, find_local_models, load_choice
from fathom.search.engines import available_engines
from fathom.search.routing import KNOWN_ENGINES, choose_engines
from fathom.settings import Settings
from fathom.settings.database_address import DatabaseAddress
from fathom.settings.model_names import OPENAI, split_name
from fathom.state import Role, RunConfig
from fathom.storage import open_storage


@dataclass(frozen=True)
class Diagnosis:
    """The findings by title, and whether runs can be stored."""

    lines: dict[str, str]
    can_keep_runs: bool


async def diagnose(settings: Settings) -> Diagnosis:
    """Check models, prices, engines and the database."""
    local = await _local_models(settings)
    return await asyncio.to_thread(_diagnose, settings, local, await _home(settings))


def _diagnose(settings: Settings, local: str, home: tuple[bool, str]) -> Diagnosis:
    is_kept, kept = home
    ready = available_engines(settings, RunConfig())
    lines = {
        "Fathom": version("fathom-research"),
        "Database": kept,
        "Model": _model(settings),
        "On this machine": local,
        "Prices": _prices(settings),
        "Local documents": "ready: name folders with --docs (no key, no network)",
        **{name: _engine(name, settings, ready) for name in KNOWN_ENGINES if name != "local"},
        "With --docs": f"would search the documents and think with {_thinker(settings)}",
        "Without --docs": f"would search with {_engines(ready)} and think with {_thinker(settings)}",
    }
    return Diagnosis(lines, is_kept)


async def _home(settings: Settings) -> tuple[bool, str]:
    if isinstance(settings.database, DatabaseAddress):
        try:
            size = await open_storage(settings.database).cleaning.size_bytes()
        except FathomError as error:
            return False, f"NOT USABLE: {error}"
        return True, f"{settings.database} ({size / 1e6:.1f} MB)"
    return await asyncio.to_thread(_file, settings, settings.database)


def _file(settings: Settings, database: Path) -> tuple[bool, str]:
    place = settings.home
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir() or not os.access(place, os.W_OK):
        return False, f"NOT WRITABLE: {database} (set FATHOM_HOME to a folder you may write)"
    size = f"{database.stat().st_size / 1e6:.1f} MB" if database.exists() else "not made yet"
    return True, f"{database} ({size})"


def _model(settings: Settings) -> str:
    if not settings.has_model:
        return "none: set OPENAI_API_KEY or FATHOM_BASE_URL, or name one: --model PROVIDER:MODEL"
    writer, reader = settings.model_for("write"), settings.model_for("read")
    server = settings.server_of(writer)
    key = "key set" if settings.key_of(split_name(writer)[0]) else "no key"
    where = "OpenAI" if server == OPENAI else server
    return f"{writer} plans and writes, {reader} reads; {where}, {key}"


async def _local_models(settings: Settings) -> str:
    """Return the models of servers on this machine, and the last choice."""
    found = await find_local_models(settings.local_servers)
    chosen = load_choice(settings.home)
    kept = (
        f"; chosen before: {chosen.model} (forget it: delete {settings.home / CHOICE_FILE})" if chosen else ""
    )
    offered = ", ".join(f"{model.choice.model} ({model.server})" for model in found)
    return f"{offered or 'no server of models found'}{kept}"


def _prices(settings: Settings) -> str:
    """Return the price of each model; the budget covers only models with a price."""
    if not settings.has_model:
        return "no model to pay"
    prices = load_prices(settings.prices_file, settings.home)
    names = dict.fromkeys(settings.model_for(role) for role in get_args(Role))
    return "; ".join(_price(name, settings.server_of(name), prices, settings) for name in names)


def _price(name: str, server: str, prices: Prices, settings: Settings) -> str:
    both = [prices.usd(name, server, *tokens) for tokens in ((MILLION, 0), (0, MILLION))]
    if None in both:
        place = settings.prices_file or settings.home / PRICES_FILE
        return f"{name}: NONE KNOWN, so the budget does not hold it back; give one in {place}"
    return f"{name} {both[0]:g} in, {both[1]:g} out, USD a million tokens"


def _engine(name: str, settings: Settings, ready: set[str]) -> str:
    kinds = ", ".join(sorted(KNOWN_ENGINES[name].capabilities))
    if name not in ready:
        return f"not configured: needs {KNOWN_ENGINES[name].needs} ({kinds})"
    key = "" if KNOWN_ENGINES[name].needs else ", no key needed"
    where = f" at {settings.engine_urls[name]}" if name in settings.engine_urls else ""
    return f"ready{where} ({kinds}{key})"


def _engines(ready: set[str]) -> str:
    choice = choose_engines(RunConfig(), ready)
    spare = f", then {', '.join(choice.spare)} if that fails" if choice.spare else ""
    return f"{' and '.join(choice.asked)}{spare}"


def _thinker(settings: Settings) -> str:
    return (
        settings.model_for("write") if settings.has_model else "no model: sentences are quoted, not written"
    )
