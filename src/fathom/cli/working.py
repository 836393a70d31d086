"""Commands that work on a run: begin one, go on with one.

Does not know the graph. Whatever ends the work, the last words say how to go on.
"""

import argparse
import asyncio
import sys
from functools import partial

from fathom.budget.prices import describe_unpriced_models, find_unpriced_models, is_own_server
from fathom.cli.forecasting import dry_run, expected, say
from fathom.cli.indexing import IndexProgress
from fathom.cli.leaving import Leaving, until_interrupted
from fathom.cli.local_models import choose_local_model
from fathom.cli.options import request_words, settings_of
from fathom.cli.reviewing import answer_from, ask_person
from fathom.cli.seeing import Watched, waiting
from fathom.errors import BadInput
from fathom.ids import short_id
from fathom.request import ResearchRequest
from fathom.researcher import DeepResearcher
from fathom.session import Session
from fathom.settings.settings import Settings
from fathom.state import ReviewAnswer, RunConfig


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
    async with DeepResearcher(settings) as researcher:
        shared = await researcher.session(arguments.id)
        _refuse_unnamed_server(settings, shared.config, shared.id, "fork")
        session = await researcher.begin_fork(
            shared.id, arguments.direction, after_round=arguments.round, more_rounds=arguments.rounds
        )
        return await _watch(session, arguments, leaving)


async def _updated(settings: Settings, arguments: argparse.Namespace, leaving: Leaving) -> int:
    async with DeepResearcher(settings) as researcher:
        earlier = await researcher.session(arguments.id)
        session = await researcher.begin_update(earlier.id)
        _refuse_unnamed_server(settings, session.config, earlier.id, "update")
        return await _watch(session, arguments, leaving)


async def _watch(
    session: Session, arguments: argparse.Namespace, leaving: Leaving, answer: ReviewAnswer | None = None
) -> int:
    """See a run to its end, with its files in the folder that was named."""
    await session.open_folder(arguments.out)
    return await Watched(session, arguments, leaving).until_over(answer)


def follow_up(arguments: argparse.Namespace) -> int:
    """Ask on in the thread of a finished run, as a run of its own."""
    choose_local_model(arguments)
    request = ResearchRequest(**request_words(arguments))
    settings = settings_of(arguments)
    return until_interrupted(partial(_followed, settings, request, arguments))


async def _followed(
    settings: Settings, request: ResearchRequest, arguments: argparse.Namespace, leaving: Leaving
) -> int:
    async with DeepResearcher(settings) as researcher:
        earlier = await researcher.session(arguments.id)
        session = await researcher.ask(earlier.id, request)
        _refuse_unnamed_server(settings, session.config, earlier.id, "ask")
        if arguments.dry_run:
            say(await expected(settings, session.config, session.question), arguments)
            return 0
        if session.is_reworded and not (arguments.quiet or arguments.json):
            print(f"understood as: {session.question}", file=sys.stderr, flush=True)
        await _tell_unpriced(settings, session.config, arguments)
        return await _watch(session, arguments, leaving)


async def _begun(
    settings: Settings, request: ResearchRequest, arguments: argparse.Namespace, leaving: Leaving
) -> int:
    async with DeepResearcher(settings) as researcher:
        with IndexProgress(is_quiet=arguments.quiet or arguments.json) as progress:
            session = await researcher.begin(request, on_index=progress)
        await _tell_unpriced(settings, session.config, arguments)
        return await _watch(session, arguments, leaving)


async def _tell_unpriced(settings: Settings, config: RunConfig, arguments: argparse.Namespace) -> None:
    """Before anything is paid: that the usual cap is none for a model without a price."""
    if arguments.quiet or arguments.json:
        return
    own = settings.with_allowed(config)
    if names := await asyncio.to_thread(find_unpriced_models, own, config):
        print(f"fathom: {describe_unpriced_models(own, names)}", file=sys.stderr, flush=True)


async def _resumed(settings: Settings, arguments: argparse.Namespace, leaving: Leaving) -> int:
    async with DeepResearcher(settings) as researcher:
        session = await researcher.session(arguments.id)
        answer, table = answer_from(arguments), session.waits_for
        if answer and answer.action == "finish" and not table and not session.is_complete:
            await session.end_search()
            answer = None
        if answer and not table:
            raise BadInput(f"Run {short_id(session.id)} is not waiting for an answer.")
        if session.is_complete:
            await session.open_folder(arguments.out)
            return await Watched(session, arguments, leaving).reported()
        _refuse_unnamed_server(settings, session.config, session.id)
        if table and table.why == "review" and not answer:
            await session.open_folder(arguments.out)
            answer = None if arguments.json else ask_person(table.shown)
            if answer is None:
                return waiting(session.id)
        return await _watch(session, arguments, leaving, answer)


def _refuse_unnamed_server(
    settings: Settings, config: RunConfig, run_id: str, command: str = "resume"
) -> None:
    """A key goes only to a server that whoever is at the keyboard has named, or to their own machine."""
    server = config.base_url
    if server and server != settings.base_url and not is_own_server(server):
        raise BadInput(
            f"This run asks {server}; confirm with: fathom {command} {short_id(run_id)} --base-url {server}"
        )
