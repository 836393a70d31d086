"""Commands that work on a run: begin one, go on with one, ask on, fork, update, steer from elsewhere.

Does not know the graph. Whatever ends the work, the last words say how to go on. If no model is configured,
those on this machine are offered; none is used without being chosen.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Self

from rich.console import Console

from fathom import DeepResearcher, Forecast, RunLine
from fathom.cli.arguments import read_request, read_settings
from fathom.cli.review import ask_person, read_answer
from fathom.cli.terminal import Leaving, run_until_interrupted
from fathom.cli.text import plain, safe
from fathom.cli.watch import Watcher, print_waiting
from fathom.errors import BadInput
from fathom.request import ResearchRequest
from fathom.session import Session
from fathom.settings import Settings
from fathom.settings.model_names import NO_MODEL
from fathom.state import ReviewAnswer, short_id
from fathom.text.messages import format_count, messages_for
from fathom.text.normalization import escape_json

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from fathom.llm.servers import ChosenModel, LocalModel


_Begin = Callable[[DeepResearcher], Awaitable[Session]]
_PATIENCE_S = 1.0
_SAY_EVERY_S = 5.0


class IndexProgress:
    """Told how many of how many files are read: a bar at a terminal, else a line at times."""

    def __init__(self, *, is_quiet: bool = False) -> None:
        self._is_quiet = is_quiet
        self._say_at = time.monotonic() + _PATIENCE_S
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, done: int, total: int) -> None:
        """Show it, if somebody has waited long enough."""
        if self._bar:
            self._bar.update(self._bar.task_ids[0], completed=done, total=total)
        elif not self._is_quiet and time.monotonic() >= self._say_at:
            self._begin(done, total)

    def _begin(self, done: int, total: int) -> None:
        if not sys.stderr.isatty():
            self._say_at = time.monotonic() + _SAY_EVERY_S
            print(f"reading the documents: {done:,} of {total:,}", file=sys.stderr, flush=True)
            return
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bar

        columns = TextColumn("reading the documents"), BarColumn(), MofNCompleteColumn()
        bar = Bar(*columns, console=Console(stderr=True), transient=True)
        bar.add_task("", completed=done, total=total)
        bar.start()
        self._bar = bar


def research(arguments: argparse.Namespace) -> int:
    """Begin a run and see it to its end."""
    choose_local_model(arguments)
    request = ResearchRequest(**read_request(arguments))
    settings = read_settings(arguments)
    if arguments.dry_run:
        print_forecast(asyncio.run(DeepResearcher(settings).forecast(request)), arguments)
        return 0

    async def begin(researcher: DeepResearcher) -> Session:
        with IndexProgress(is_quiet=_is_quiet(arguments)) as progress:
            session = await researcher.begin(request, on_index=progress)
        await _warn_unpriced(session, arguments)
        return session

    return _work(settings, begin, arguments)


def demo(arguments: argparse.Namespace) -> int:
    """Research the demo's question, with replies that were recorded."""

    async def begin(researcher: DeepResearcher) -> Session:
        session = await researcher.begin_demo(arguments.language)
        if not _is_quiet(arguments):
            words = messages_for(session.question, session.config.language)
            print(words("live.demo"), file=sys.stderr, flush=True)
        return session

    return _work(read_settings(arguments), begin, arguments)


def ask(arguments: argparse.Namespace) -> int:
    """Ask a later question in the thread of a run; without one, show the thread or close it."""
    if arguments.question is None:
        return asyncio.run(_show_thread(arguments))
    choose_local_model(arguments)
    request = ResearchRequest(**read_request(arguments))
    settings = read_settings(arguments)
    return run_until_interrupted(partial(_follow_up, settings, request, arguments))


def update(arguments: argparse.Namespace) -> int:
    """Bring a finished run up to date, as a run of its own."""
    settings = read_settings(arguments)

    async def begin(researcher: DeepResearcher) -> Session:
        earlier = await researcher.session(arguments.id)
        session = await researcher.begin_update(earlier.id)
        _refuse_unnamed_server(session, earlier.id, "update")
        return session

    return _work(settings, begin, arguments)


def fork(arguments: argparse.Namespace) -> int:
    """Go another way from the end of a round, as a run of its own."""
    settings = read_settings(arguments)

    async def begin(researcher: DeepResearcher) -> Session:
        shared = await researcher.session(arguments.id)
        _refuse_unnamed_server(shared, shared.id, "fork")
        return await researcher.begin_fork(
            shared.id, arguments.direction, after_round=arguments.round, more_rounds=arguments.rounds
        )

    return _work(settings, begin, arguments)


def resume(arguments: argparse.Namespace) -> int:
    """Go on with a run."""
    return run_until_interrupted(partial(_resume, read_settings(arguments), arguments))


def _work(settings: Settings, begin: _Begin, arguments: argparse.Namespace) -> int:
    async def work(leaving: Leaving) -> int:
        async with DeepResearcher(settings) as researcher:
            return await _watch(await begin(researcher), arguments, leaving)

    return run_until_interrupted(work)


async def _watch(
    session: Session, arguments: argparse.Namespace, leaving: Leaving, answer: ReviewAnswer | None = None
) -> int:
    """See a run to its end, with its files in the folder that was named."""
    await session.open_folder(arguments.out)
    return await Watcher(session, arguments, leaving).work_to_end(answer)


async def _follow_up(
    settings: Settings, request: ResearchRequest, arguments: argparse.Namespace, leaving: Leaving
) -> int:
    async with DeepResearcher(settings) as researcher:
        earlier = await researcher.session(arguments.id)
        session = await researcher.ask(earlier.id, request)
        _refuse_unnamed_server(session, earlier.id, "ask")
        if arguments.dry_run:
            print_forecast(await session.forecast(), arguments)
            return 0
        if session.is_reworded and not _is_quiet(arguments):
            print(f"understood as: {plain(session.question)}", file=sys.stderr, flush=True)
        await _warn_unpriced(session, arguments)
        return await _watch(session, arguments, leaving)


async def _show_thread(arguments: argparse.Namespace) -> int:
    async with DeepResearcher(read_settings(arguments)) as researcher:
        look = researcher.close_thread if arguments.close else researcher.thread
        thread = await look(arguments.id)
    print(f"Thread {short_id(thread.id)}, {thread.status}, {format_count(len(thread.queries), 'question')}")
    answers = {answer.query_id: answer for answer in thread.answers}
    for query in thread.queries:
        print(f"\n{short_id(query.id)}  {query.status}  {plain(query.content)}")
        if query.id in answers:
            print(f"  {plain(answers[query.id].opening)}")
    return 0


async def _resume(settings: Settings, arguments: argparse.Namespace, leaving: Leaving) -> int:
    async with DeepResearcher(settings) as researcher:
        session = await researcher.session(arguments.id)
        table = session.waits_for
        answer = await session.accept(read_answer(arguments))
        if session.is_complete:
            await session.open_folder(arguments.out)
            return await Watcher(session, arguments, leaving).print_report()
        _refuse_unnamed_server(session, session.id)
        if table and table.why == "review" and not answer:
            await session.open_folder(arguments.out)
            answer = None if arguments.json else ask_person(table.shown)
            if answer is None:
                return print_waiting(session.id)
        return await _watch(session, arguments, leaving, answer)


def _is_quiet(arguments: argparse.Namespace) -> bool:
    return bool(arguments.quiet or arguments.json)


async def _warn_unpriced(session: Session, arguments: argparse.Namespace) -> None:
    """Before anything is paid: that the usual cap is none for a model without a price."""
    if not _is_quiet(arguments) and (warning := await session.warn_unpriced()):
        print(f"fathom: {plain(warning)}", file=sys.stderr, flush=True)


def _refuse_unnamed_server(session: Session, run_id: str, command: str = "resume") -> None:
    """A key goes only to a server that whoever is at the keyboard has named, or to their own machine."""
    if server := session.unconfirmed_server:
        raise BadInput(
            f"This run asks {server}; confirm with: fathom {command} {short_id(run_id)} --base-url {server}"
        )


def print_forecast(found: Forecast, arguments: argparse.Namespace) -> None:
    """Print what it would cost, for a person or a program."""
    is_asked = "format" in arguments and arguments.format == "json"  # a batch has no such word
    if arguments.json or is_asked:
        print(escape_json(found.model_dump_json(indent=None if arguments.json else 2)))
    else:
        print(safe(describe_forecast(found)))


def describe_forecast(found: Forecast) -> str:
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


_HEARD: dict[str, str] = {
    "pause": "stands still after the step in hand; it goes on with: fathom control {name} go",
    "go": "goes on",
    "stop": "looks no further and writes its report",
    "add": "asks that too, in its next round",
}
_LATER: dict[str, str] = {
    "go": "goes on if somebody still waits with it; if nobody does: fathom resume {name}",
    "stop": "is not running; it will write its report when you go on with: fathom resume {name}",
    "add": "is not running; it will ask that when you go on with: fathom resume {name}",
}
# Somebody may wait with it or not: an order ends no pause of a run that was left.
_PAUSED: dict[str, str] = {
    "go": _LATER["go"],
    "stop": "is paused; it writes its report if somebody still waits with it; "
    "if nobody does: fathom resume {name}",
    "add": "is paused; it asks that too when it goes on: fathom control {name} go; "
    "if nobody waits with it: fathom resume {name}",
}


def control(arguments: argparse.Namespace) -> int:
    """Leave one order for one run, and say what becomes of it."""
    line, word = asyncio.run(_control(arguments)), arguments.order
    words = _HEARD if line.status == "running" else _PAUSED if line.status == "paused" else _LATER
    name = short_id(line.id)
    print(f"Run {name} {words[word].format(name=name)}.")
    return 0


async def _control(arguments: argparse.Namespace) -> RunLine:
    async with DeepResearcher(read_settings(arguments)) as researcher:
        return await researcher.control(arguments.id, arguments.order, arguments.query)


_MAX_SHOWN = 20


def choose_local_model(arguments: argparse.Namespace) -> None:
    """Put the local model that a person chooses, or has chosen before, into the arguments of a command.

    At a terminal one question is asked, and its answer is remembered; elsewhere one line says how to choose.
    """
    settings = read_settings(arguments)
    if _is_configured(arguments, settings) or not settings.local_servers:
        return
    from fathom.llm.servers import find_local_models, load_choice

    before = load_choice(settings.home)
    if before and before.model == NO_MODEL:
        return
    found = asyncio.run(find_local_models(settings.local_servers))
    chosen = before if any(model.choice == before for model in found) else None
    if not chosen and not (arguments.quiet or arguments.json):
        if before:
            _say(f"The model {before.model}, chosen before, is not there now.")
        chosen = _offer(found, settings)
    if chosen and chosen.model != NO_MODEL:
        arguments.model, arguments.base_url = chosen.model, chosen.base_url


def _is_configured(arguments: argparse.Namespace, settings: Settings) -> bool:
    """Whether a model is named, a server or a key is there, or nothing is to be asked at all."""
    named = (
        arguments.model,
        arguments.models,
        arguments.base_url,
        settings.model,
        settings.run.model,
        settings.run.base_url,
    )
    keys = (settings.anthropic_api_key, settings.gemini_api_key)
    return arguments.dry_run or any(named) or any(keys) or settings.has_model


def _offer(found: "list[LocalModel]", settings: Settings) -> "ChosenModel | None":
    if not found:
        return None
    if sys.stdin.isatty() and sys.stderr.isatty():
        return _ask(found[:_MAX_SHOWN], settings)
    servers = " and ".join(dict.fromkeys(model.server for model in found))
    _say(f"No model is used. There is one on this machine ({servers}); to use it: {found[0].choice.options}")
    return None


def _ask(found: "list[LocalModel]", settings: Settings) -> "ChosenModel | None":
    """Return and remember what the person chooses; an empty answer is None and not remembered."""
    from fathom.llm.servers import CHOICE_FILE, ChosenModel, save_choice

    choices = [ChosenModel(model=NO_MODEL), *(model.choice for model in found)]
    _say("No model is configured, but there are models on this machine:")
    for number, model in enumerate(found, start=1):
        print(safe(f"  {number}  {model.choice.model}  ({model.server})"), file=sys.stderr)
    print("  0  none: passages are quoted, nothing is written", file=sys.stderr)
    while True:
        print("Use which one from now on? (number, or Enter to skip) ", end="", file=sys.stderr, flush=True)
        try:
            typed = input().strip()
        except EOFError:
            return None
        if not typed:
            return None
        if typed.isdecimal() and int(typed) < len(choices):
            break
        _say(f"Please type a number from 0 to {len(found)}.")
    chosen = choices[int(typed)]
    save_choice(settings.home, chosen)
    _say(f"Remembered. To be asked again, delete {settings.home / CHOICE_FILE}.")
    return chosen


def _say(words: str) -> None:
    print(f"fathom: {words}", file=sys.stderr, flush=True)
