"""Commands that work on a run: begin one, go on with one.

Does not know the graph. Whatever ends the work, the last words say how to go on.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Coroutine
from functools import partial
from typing import Any, cast

from fathom.cli.asking import words_of
from fathom.cli.leaving import until_interrupted
from fathom.cli.output import print_result
from fathom.cli.reviewing import answer_from, ask_person
from fathom.cli.screen import Screen
from fathom.errors import BadInput, Refused, RunStopped
from fathom.events import Checkpoint, Progress, ReportKept
from fathom.ids import short_id
from fathom.minds.prices import is_own_server
from fathom.places import open_folder
from fathom.report.folder import ResearchFolder
from fathom.report.past_rounds import spent_of
from fathom.request import ResearchRequest, checked_request
from fathom.runs import Runs, Start, is_unfinished, open_runs
from fathom.settings import Settings, load_settings
from fathom.state import ResearchState

_PATIENCE_S = 1.0


def research(arguments: argparse.Namespace) -> int:
    """Begin a run and see it to its end."""
    request = checked_request(**words_of(arguments))
    settings = load_settings(base_url=arguments.base_url)
    return _guarded(_begun(settings, request, arguments), arguments)


def resume(arguments: argparse.Namespace) -> int:
    """Go on with a run."""
    settings = load_settings(base_url=arguments.base_url)
    return _guarded(_resumed(settings, arguments), arguments)


def update(arguments: argparse.Namespace) -> int:
    """Bring a finished run up to date, as a run of its own."""
    settings = load_settings(base_url=arguments.base_url)
    return _guarded(_updated(settings, arguments), arguments)


async def _updated(settings: Settings, arguments: argparse.Namespace) -> int:
    async with open_runs(settings) as runs:
        earlier_id = await runs.find(arguments.id)
        run_id, start = await runs.update(earlier_id)
        _refuse_unnamed_server(runs, start.knobs(), earlier_id, "update")
        folder = await open_folder(runs.settings, run_id, arguments.out)
        return await _seen_through(runs, run_id, start, folder, arguments)


def _guarded(work: Coroutine[Any, Any, int], arguments: argparse.Namespace) -> int:
    def last_words() -> str:
        return (
            f"interrupted; {_way_on(arguments)}" if _begun_as(arguments) else "interrupted before a run began"
        )

    return until_interrupted(work, last_words)


def _begun_as(arguments: argparse.Namespace) -> str:
    return str(getattr(arguments, "begun", ""))


def _way_on(arguments: argparse.Namespace) -> str:
    """How to go on, and where the report is if there is one."""
    resume = f"fathom resume {_begun_as(arguments)}"
    written = getattr(arguments, "written", None)
    so_far = f"the report so far is {written}, end with it: {resume} --finish; " if written else ""
    return f"{so_far}go on with: {resume}"


async def _begun(settings: Settings, request: ResearchRequest, arguments: argparse.Namespace) -> int:
    async with open_runs(settings) as runs:
        told = _told_if_slow("looking through the documents …", arguments.quiet)
        try:
            run_id, _ = await runs.begin(request)
        finally:
            told.cancel()
        folder = await open_folder(runs.settings, run_id, arguments.out)
        return await _seen_through(runs, run_id, request, folder, arguments)


def _told_if_slow(words: str, is_quiet: bool) -> asyncio.TimerHandle:
    """Say it only when there is something to wait for."""
    say = (lambda: None) if is_quiet else partial(print, words, file=sys.stderr, flush=True)
    return asyncio.get_running_loop().call_later(_PATIENCE_S, say)


async def _resumed(settings: Settings, arguments: argparse.Namespace) -> int:
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
            _refuse_unnamed_server(runs, snapshot.values.get("knobs"), run_id)
        folder = await open_folder(runs.settings, run_id, arguments.out)
        if is_finished:
            return await _reported(runs, run_id, folder, arguments)
        if snapshot.interrupts and not answer:
            answer = ask_person(dict(snapshot.interrupts[0].value))
            if answer is None:
                return _waiting(run_id)
        return await _seen_through(runs, run_id, answer, folder, arguments)


def _refuse_unnamed_server(runs: Runs, knobs: object, run_id: str, command: str = "resume") -> None:
    """A key goes only to a server that whoever is at the keyboard has named, or to their own machine."""
    server = getattr(knobs, "base_url", None)
    if server and server != runs.settings.base_url and not is_own_server(server):
        raise BadInput(
            f"This run asks {server}; confirm with: fathom {command} {short_id(run_id)} --base-url {server}"
        )


async def _seen_through(
    runs: Runs, run_id: str, start: Start, folder: ResearchFolder, arguments: argparse.Namespace
) -> int:
    """Work until the report is there, asking a person where the run does."""
    screen = Screen(is_quiet=arguments.quiet)
    screen.begin(run_id)
    arguments.begun = short_id(run_id)
    try:
        while True:
            shown = await _worked(runs.work(run_id, start), screen, folder, arguments)
            if shown is None:
                return await _reported(runs, run_id, folder, arguments)
            start = ask_person(shown)
            if start is None:
                return _waiting(run_id)
    except RunStopped as error:
        print(f"fathom: {error} Nothing is lost; {_way_on(arguments)}", file=sys.stderr)
        return 2 if await _was_bad_input(runs, run_id, error) else 1


async def _was_bad_input(runs: Runs, run_id: str, error: RunStopped) -> bool:
    """Whether a run was refused before anything was done: a model, a key or an address that is not there."""
    return isinstance(error.__cause__, Refused) and not (await runs.snapshot(run_id)).values.get("questions")


async def _worked(
    events: AsyncIterator[Progress], screen: Screen, folder: ResearchFolder, arguments: argparse.Namespace
) -> dict[str, object] | None:
    """Show what happens; what a person must look at, or None at the end.

    A report is on disk as soon as it is written: a run without an end has one after every round.
    """
    shown = None
    async for event in events:
        await folder.tell(event)
        screen.tell(event)
        if isinstance(event.payload, ReportKept) and event.payload.result:
            folder.write_report(event.payload.result)
            arguments.written = folder.path / "report.md"
        if isinstance(event.payload, Checkpoint):
            shown = event.payload.shown
    return shown


async def _reported(runs: Runs, run_id: str, folder: ResearchFolder, arguments: argparse.Namespace) -> int:
    result = await runs.result(run_id)
    state = cast(ResearchState, (await runs.snapshot(run_id)).values)
    await folder.keep(state, spent_of(state))
    folder.write_report(result)
    print_result(result, arguments.format)
    if not arguments.quiet:
        print(f"\nWritten to {folder.path / 'report.md'} and the files beside it", file=sys.stderr)
    return 4 if result.status == "failed" else 0


def _waiting(run_id: str) -> int:
    print(
        f"fathom: waiting for your answer: fathom resume {short_id(run_id)} --approve"
        ' | --edit "…" "…" | --feedback "…" | --add "…" | --finish',
        file=sys.stderr,
    )
    return 3
