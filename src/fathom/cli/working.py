"""Commands that work on a run: begin one, go on with one.

Does not know the graph. Whatever ends the work, the last words say how to go on.
"""

import argparse
import asyncio
import sys
from functools import partial

from fathom.budget.capping import not_held_back, unpriced
from fathom.budget.prices import is_own_server
from fathom.cli.forecasting import dry_run, expected, say
from fathom.cli.leaving import Leaving, until_interrupted
from fathom.cli.local_models import choose_local_model
from fathom.cli.options import request_words, settings_of
from fathom.cli.reviewing import answer_from, ask_person
from fathom.cli.seeing import Watched, waiting
from fathom.errors import BadInput
from fathom.forking import forked
from fathom.ids import short_id
from fathom.places import open_folder
from fathom.request import ResearchRequest
from fathom.runs import Runs, is_unfinished, open_runs
from fathom.settings import Settings
from fathom.state import RunConfig

_PATIENCE_S = 1.0


def research(arguments: argparse.Namespace) -> int:
    """Begin a run and see it to its end."""
    choose_local_model(arguments)
    request = ResearchRequest(**request_words(arguments))
    settings = settings_of(arguments)
    if arguments.dry_run:
        return dry_run(settings, request, arguments)
    return until_interrupted(partial(_begun, settings, request, arguments))


def resume(arguments: argparse.Namespace) -> int:
    """Go on with a run."""
    settings = settings_of(arguments)
    return until_interrupted(partial(_resumed, settings, arguments))


def update(arguments: argparse.Namespace) -> int:
    """Bring a finished run up to date, as a run of its own."""
    settings = settings_of(arguments)
    return until_interrupted(partial(_updated, settings, arguments))


def fork(arguments: argparse.Namespace) -> int:
    """Go another way from the end of a round, as a run of its own."""
    settings = settings_of(arguments)
    return until_interrupted(partial(_forked, settings, arguments))


async def _forked(settings: Settings, arguments: argparse.Namespace, leaving: Leaving) -> int:
    async with open_runs(settings) as runs:
        shared_id = await runs.find(arguments.id)
        run_config = (await runs.snapshot(shared_id)).values.get("run_config")
        _refuse_unnamed_server(runs, run_config, shared_id, "fork")
        run_id = await forked(runs, shared_id, arguments.round, arguments.direction, arguments.rounds)
        folder = await open_folder(runs.settings, run_id, arguments.out)
        return await Watched(runs, run_id, folder, arguments, leaving).until_over(None)


async def _updated(settings: Settings, arguments: argparse.Namespace, leaving: Leaving) -> int:
    async with open_runs(settings) as runs:
        earlier_id = await runs.find(arguments.id)
        run_id, start = await runs.update(earlier_id)
        _refuse_unnamed_server(runs, start.run_config(), earlier_id, "update")
        folder = await open_folder(runs.settings, run_id, arguments.out)
        return await Watched(runs, run_id, folder, arguments, leaving).until_over(start)


def follow_up(arguments: argparse.Namespace) -> int:
    """Ask on in the thread of a finished run, as a run of its own."""
    choose_local_model(arguments)
    request = ResearchRequest(**request_words(arguments))
    settings = settings_of(arguments)
    return until_interrupted(partial(_followed, settings, request, arguments))


async def _followed(
    settings: Settings, request: ResearchRequest, arguments: argparse.Namespace, leaving: Leaving
) -> int:
    async with open_runs(settings) as runs:
        earlier_id = await runs.find(arguments.id)
        run_id, start = await runs.follow_up(earlier_id, request)
        _refuse_unnamed_server(runs, start.run_config(), earlier_id, "ask")
        if arguments.dry_run:
            say(await expected(runs, start.run_config(), start.question), arguments)
            return 0
        if start.is_understood_otherwise and not (arguments.quiet or arguments.json):
            print(f"understood as: {start.question}", file=sys.stderr, flush=True)
        await _tell_unpriced(runs, start.run_config(), arguments)
        folder = await open_folder(runs.settings, run_id, arguments.out)
        return await Watched(runs, run_id, folder, arguments, leaving).until_over(start)


async def _begun(
    settings: Settings, request: ResearchRequest, arguments: argparse.Namespace, leaving: Leaving
) -> int:
    async with open_runs(settings) as runs:
        told = _told_if_slow("looking through the documents …", arguments.quiet or arguments.json)
        try:
            run_id, run_config = await runs.begin(request)
        finally:
            told.cancel()
        await _tell_unpriced(runs, run_config, arguments)
        folder = await open_folder(runs.settings, run_id, arguments.out)
        return await Watched(runs, run_id, folder, arguments, leaving).until_over(request)


async def _tell_unpriced(runs: Runs, run_config: RunConfig, arguments: argparse.Namespace) -> None:
    """Before anything is paid: that the usual cap is none for a model without a price."""
    if arguments.quiet or arguments.json:
        return
    own = runs.settings.admitting(run_config)
    if names := await asyncio.to_thread(unpriced, own, run_config):
        print(f"fathom: {not_held_back(own, names)}", file=sys.stderr, flush=True)


def _told_if_slow(words: str, is_quiet: bool) -> asyncio.TimerHandle:
    """Say it only when there is something to wait for."""
    say = (lambda: None) if is_quiet else partial(print, words, file=sys.stderr, flush=True)
    return asyncio.get_running_loop().call_later(_PATIENCE_S, say)


async def _resumed(settings: Settings, arguments: argparse.Namespace, leaving: Leaving) -> int:
    async with open_runs(settings) as runs:
        run_id = await runs.find(arguments.id)
        snapshot = await runs.snapshot(run_id)
        answer = answer_from(arguments)
        if answer and answer.action == "finish" and is_unfinished(snapshot) and not snapshot.interrupts:
            await runs.finish(run_id)
            answer = None
        if answer and not snapshot.interrupts:
            raise BadInput(f"Run {short_id(run_id)} is not waiting for an answer.")
        is_finished = not is_unfinished(snapshot) and "report" in snapshot.values
        if not is_finished:
            _refuse_unnamed_server(runs, snapshot.values.get("run_config"), run_id)
        folder = await open_folder(runs.settings, run_id, arguments.out)
        watched = Watched(runs, run_id, folder, arguments, leaving)
        if is_finished:
            return await watched.reported()
        shown = dict(snapshot.interrupts[0].value) if snapshot.interrupts else {}
        if shown and shown.get("why") != "paused" and not answer:
            answer = None if arguments.json else ask_person(shown)
            if answer is None:
                return waiting(run_id)
        return await watched.until_over(answer)


def _refuse_unnamed_server(runs: Runs, run_config: object, run_id: str, command: str = "resume") -> None:
    """A key goes only to a server that whoever is at the keyboard has named, or to their own machine."""
    server = getattr(run_config, "base_url", None)
    if server and server != runs.settings.base_url and not is_own_server(server):
        raise BadInput(
            f"This run asks {server}; confirm with: fathom {command} {short_id(run_id)} --base-url {server}"
        )
