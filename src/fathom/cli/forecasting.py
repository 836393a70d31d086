"""`--dry-run`: what a question would cost, without asking anybody.

Does not know how a forecast is worked out.
"""

import argparse
import asyncio
from collections.abc import Sequence

from fathom.budget.cost_log import CostLog
from fathom.planning.forecast import load_past_runs, make_forecast
from fathom.report.messages import format_count
from fathom.request import ResearchRequest
from fathom.runs.executor import open_runs
from fathom.settings.settings import Settings
from fathom.state import Forecast, RunConfig
from fathom.storage import open_storage


def dry_run(settings: Settings, request: ResearchRequest, arguments: argparse.Namespace) -> int:
    """Print the forecast; nothing is searched, read or asked, and no run is begun."""
    say(asyncio.run(_all_expected(settings, [request]))[0], arguments)
    return 0


def dry_run_of_many(
    settings: Settings, requests: Sequence[ResearchRequest], arguments: argparse.Namespace
) -> int:
    """Print the forecast for all of them together; no run is begun."""
    is_capped = arguments.budget_total is not None
    each = asyncio.run(_all_expected(settings, requests, is_capped=is_capped))
    spread = arguments.at_once
    likely, worst = [one.expected_s for one in each], [one.worst_s for one in each]
    most = sum(one.worst_usd for one in each)
    together = Forecast(
        expected_usd=sum(one.expected_usd for one in each),
        worst_usd=most if arguments.budget_total is None else min(most, arguments.budget_total),
        expected_s=max([0.0, sum(likely) / spread, *likely]),
        worst_s=max([0.0, sum(worst) / spread, *worst]),
        calls=sum(one.calls for one in each),
        tokens_in=sum(one.tokens_in for one in each),
        tokens_out=sum(one.tokens_out for one in each),
        because=f"{format_count(len(each), 'question')} still to be asked, {spread} at once",
        unpriced=sorted({name for one in each for name in one.unpriced}),
    )
    say(together, arguments)
    return 0


async def _all_expected(
    settings: Settings, requests: Sequence[ResearchRequest], *, is_capped: bool = False
) -> list[Forecast]:
    async with open_runs(settings) as runs:
        # Whatever would be refused is refused now.
        configs = [(await runs.begin(one, is_capped=is_capped))[1] for one in requests]
        pairs = zip(configs, requests, strict=True)
        return [await expected(settings, config, one.query) for config, one in pairs]


async def expected(settings: Settings, run_config: RunConfig, question: str) -> Forecast:
    """What a question with these knobs would cost."""
    past = await load_past_runs(CostLog(open_storage(settings.database)))
    own = settings.with_allowed(run_config)
    return await asyncio.to_thread(make_forecast, own, own.usual(run_config), question, past)


def say(found: Forecast, arguments: argparse.Namespace) -> None:
    """Print a forecast, for a person or a program."""
    is_asked = "format" in arguments and arguments.format == "json"  # a batch has no such word
    if arguments.json or is_asked:
        print(found.model_dump_json(indent=None if arguments.json else 2))
    else:
        print(told(found))


def told(found: Forecast) -> str:
    """A forecast for a person."""
    is_unknown = found.unpriced and not found.worst_usd
    cost = f"{found.expected_usd:.4f} USD, at most {found.worst_usd:g} USD"
    lines = [
        f"Likely cost   {'not known' if is_unknown else cost}",
        f"Likely time   {_span(found.expected_s)}, at most {_span(found.worst_s)}",
        f"Model calls   {found.calls:,} with {found.tokens_in:,} tokens in and {found.tokens_out:,} out",
        f"Based on      {found.because}",
    ]
    if found.unpriced:
        names = ", ".join(found.unpriced)
        lines.append(
            f"No price      {names}: what it costs is not counted, and the budget does not hold it back;"
            " give a price in prices.toml"
        )
    return "\n".join(lines)


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
