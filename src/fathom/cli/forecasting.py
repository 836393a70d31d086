"""`--dry-run`: what a question would cost, without asking anybody.

Does not know how a forecast is worked out.
"""

import argparse
import asyncio

from fathom.request import ResearchRequest
from fathom.runs import open_runs
from fathom.settings import Settings
from fathom.spend.book import Book
from fathom.spend.forecast import forecast
from fathom.spend.past import past_runs
from fathom.state import Forecast


def dry_run(settings: Settings, request: ResearchRequest, arguments: argparse.Namespace) -> int:
    """Print the forecast; nothing is searched, read or asked, and no run is begun."""
    expected = asyncio.run(_expected(settings, request))
    print(expected.model_dump_json(indent=2) if arguments.format == "json" else told(expected))
    return 0


async def _expected(settings: Settings, request: ResearchRequest) -> Forecast:
    async with open_runs(settings) as runs:
        _, knobs = await runs.begin(request)  # whatever would be refused is refused now
        past = await past_runs(Book(settings.database))
        own = runs.settings.admitting(knobs)
        return await asyncio.to_thread(forecast, own, own.usual(knobs), request.query, past)


def told(expected: Forecast) -> str:
    """A forecast for a person."""
    is_unknown = expected.unpriced and not expected.worst_usd
    cost = f"{expected.expected_usd:.4f} USD, at most {expected.worst_usd:g} USD"
    lines = [
        f"Likely cost   {'not known' if is_unknown else cost}",
        f"Likely time   {_span(expected.expected_s)}, at most {_span(expected.worst_s)}",
        f"Model calls   {expected.calls:,} with {expected.tokens_in:,} tokens in and"
        f" {expected.tokens_out:,} out",
        f"Based on      {expected.because}",
    ]
    if expected.unpriced:
        names = ", ".join(expected.unpriced)
        lines.append(
            f"No price      {names}: what it costs is not counted, and the budget does not hold it back;"
            " give a price in prices.toml"
        )
    return "\n".join(lines)


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
