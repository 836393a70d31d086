"""Commands that only look: list runs, show a report or a part of what a run knows.

Does not know how runs are made.
"""

import argparse
import asyncio
from functools import partial
from typing import cast

from fathom.cli.options import settings_of
from fathom.cli.output import check_format, print_markdown, print_result
from fathom.errors import BadInput
from fathom.ids import short_id
from fathom.report.listings import messages_of, render_quotes
from fathom.runs.executor import is_unfinished, open_runs
from fathom.runs.folder import render_pages
from fathom.runs.round_summary import recall_round, round_page
from fathom.state import RunState
from fathom.storage.content import open_page_texts

PARTS = {
    "findings": "findings.md",
    "hypotheses": "hypotheses.md",
    "sources": "sources.md",
    "citations": "citations.md",
    "quotes": "quotes.md",
    "statistics": "statistics.md",
    "bib": "citations.bib",
}


def show(arguments: argparse.Namespace) -> int:
    """Print one report, or a part of what a run knows."""
    check_format(arguments.format)
    asyncio.run(_show(arguments))
    return 0


async def _show(arguments: argparse.Namespace) -> None:
    async with open_runs(settings_of(arguments)) as opened:
        run_id = await opened.find(arguments.id)
        if arguments.round is not None or arguments.part:
            state = cast(RunState, (await opened.snapshot(run_id)).values)
            show_part = partial(print, end="") if arguments.part == "bib" else print_markdown
            if arguments.part == "quotes":
                show_part(await render_quotes(state, open_page_texts(opened.storage)))
            else:
                show_part(_part(run_id, state, arguments))
            return
        result = await opened.result(run_id)
        # What a run that goes on has found since is in no report yet; a ledger must be that of its report.
        if arguments.format == "json" and is_unfinished(await opened.snapshot(run_id)):
            raise BadInput(
                f"Run {short_id(run_id)} is not finished: its report.json is where it is written,"
                f" or end it with: fathom resume {short_id(run_id)} --finish"
            )
        print_result(result, arguments.format)


def _part(run_id: str, state: RunState, arguments: argparse.Namespace) -> str:
    """A page of the research folder, made again from what is known."""
    if arguments.part:
        return render_pages(state)[PARTS[arguments.part]]
    judged = [judgement.round for judgement in state.get("judgements", [])]
    if arguments.round not in judged:
        have = f"rounds {judged[0]} to {judged[-1]}" if judged else "no round that is over"
        raise BadInput(f"Run {short_id(run_id)} has {have}; there is no round {arguments.round} to show.")
    done, spent, planned = recall_round(state, arguments.round)
    return round_page(state.get("question", ""), done, spent, messages_of(state), planned)
