"""Commands that look at what was found: list, show, compare, export, verify, watch and remove runs.

Does not know how runs are made. Imports nothing heavy: a list should come at once.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from fathom import DeepResearcher, RunLine
from fathom.cli.arguments import read_settings
from fathom.cli.text import check_format, cut, pad, plain, print_markdown, print_result, safe
from fathom.errors import BadInput
from fathom.state import short_id
from fathom.text.messages import format_count
from fathom.text.normalization import dump_json

if TYPE_CHECKING:
    from fathom import Comparison, PruneResult, Verification
    from fathom.cli.terminal import Leaving
    from fathom.runs.compare import ComparedFinding, ComparedSource, Pair
import time

NOT_SOUND = 5
_QUESTION_CELLS = 60
_KIN = ("updates", "follows", "forks")


def list_runs(arguments: argparse.Namespace) -> int:
    """Print the latest runs."""
    lines = asyncio.run(_list(arguments))
    if arguments.json:
        rows = [{**asdict(line), "started": line.started.isoformat()} for line in lines]
        print(dump_json(rows, 2))
    elif lines:
        print(_table(lines, is_full=arguments.full))
    else:
        print('No runs yet. Try: fathom "your question" --docs FOLDER')
    return 0


async def _list(arguments: argparse.Namespace) -> list[RunLine]:
    async with DeepResearcher(read_settings(arguments)) as researcher:
        return await researcher.runs()


def _table(lines: Sequence[RunLine], *, is_full: bool = False) -> str:
    """Runs, one a line, the columns aligned in any script."""
    width = 36 if is_full else 13
    rows = [f"{'ID':{width}}  {'STATUS':18}  {'AGE':>5}  {'COST':>9}  QUESTION"]
    for line in lines:
        about = f"{pad(line.status, 18)}  {_age(line.started):>5}  ${line.cost_usd:8.4f}"
        name = line.id if is_full else short_id(line.id)
        kin = "".join(f" ({word} {short_id(other)})" for word in _KIN if (other := getattr(line, word)))
        rows.append(f"{name:{width}}  {about}  {cut(plain(line.question), _QUESTION_CELLS)}{kin}")
    return "\n".join(rows)


def _age(started: datetime) -> str:
    seconds = (datetime.now(UTC) - started).total_seconds()
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size:.0f}{unit}"
    return f"{max(0, seconds):.0f}s"


def show(arguments: argparse.Namespace) -> int:
    """Print one report, or a part of what a run knows."""
    check_format(arguments.format)
    asyncio.run(_show(arguments))
    return 0


async def _show(arguments: argparse.Namespace) -> None:
    async with DeepResearcher(read_settings(arguments)) as researcher:
        if arguments.part:
            print_page = partial(print, end="") if arguments.part == "bib" else print_markdown
            print_page(await researcher.page(arguments.id, arguments.part))
        elif arguments.round is not None:
            print_markdown(await researcher.round_page(arguments.id, arguments.round))
        else:
            result = await researcher.result(arguments.id)
            # What a run that goes on has found since is in no report yet: the two would not match.
            if arguments.format != "markdown" and not (await researcher.session(result.run_id)).is_complete:
                name = short_id(result.run_id)
                raise BadInput(
                    f"Run {name} is not finished: its report.json is where it is written,"
                    f" or end it with: fathom resume {name} --finish"
                )
            print_result(result, arguments.format)


def diff(arguments: argparse.Namespace) -> int:
    """Print how two runs differ."""
    found = asyncio.run(DeepResearcher(read_settings(arguments)).compare(arguments.first, arguments.second))
    if arguments.json:
        print(dump_json(asdict(found), 2))
    else:
        print(safe("\n".join(_describe_comparison(found))))
    return 0


def _describe_comparison(found: "Comparison") -> list[str]:
    one, two = short_id(found.runs.first), short_id(found.runs.second)
    lines = [f"- {one}  {plain(found.questions.first)}"]
    lines += [
        f"+ {two}  {plain(found.questions.second)}" if not found.questions.is_same else f"+ {two}  the same"
    ]
    went = [("-", found.directions.first), ("+", found.directions.second)]
    lines += [f"{sign} goes another way: {plain(words)}" for sign, words in went if words]
    for title, pair in (("status", found.statuses), ("rounds", found.rounds)):
        lines.append(f"  {title}: {_change(cast('Pair[object]', pair))}")
    first, second = (f"${usd:.4f}" for usd in (found.cost_usd.first, found.cost_usd.second))
    lines.append(f"  cost: {first if first == second else f'{first} → {second}'}")
    if found.settings:
        lines += ["", "Settings"]
        lines += [f"  {name}: {_change(pair)}" for name, pair in found.settings.items()]
    lines += ["", f"Sources ({found.shared_sources} in both)"]
    lines += [*_sources("-", found.sources.first), *_sources("+", found.sources.second)]
    lines += ["", f"Findings ({found.same} in both, held alike)"]
    lines += [_finding("-", held) for held in found.gone]
    lines += [_finding("+", held) for held in found.added]
    for both in found.changed:
        lines.append(
            f"~ {_confidence(both.first)} → {_confidence(both.second)}  {plain(both.second.statement)}"
        )
    return lines


def _change(pair: "Pair[object]") -> str:
    return f"{pair.first}" if pair.is_same else f"{pair.first} → {pair.second}"


def _sources(sign: str, sources: "Sequence[ComparedSource]") -> list[str]:
    return [f"{sign} {plain(source.title)}  <{plain(source.address)}>" for source in sources]


def _finding(sign: str, held: "ComparedFinding") -> str:
    return f"{sign} {_confidence(held)}  {plain(held.statement)}"


def _confidence(held: "ComparedFinding") -> str:
    return f"{held.tag} ({held.confidence:.2f})"


def export(arguments: argparse.Namespace) -> int:
    """Write a run to a file or a folder."""
    researcher = DeepResearcher(read_settings(arguments))
    run_id = asyncio.run(researcher.export(arguments.id, arguments.to, is_replaced=arguments.force))
    print(f"Run {short_id(run_id)} is in {Path(arguments.to)}")
    return 0


def clean(arguments: argparse.Namespace) -> int:
    """Show what would go, ask, and take it away."""
    if arguments.keep is not None and arguments.keep < 0:
        raise BadInput("--keep should be a number of runs, 0 or more.")
    return asyncio.run(_clean(arguments))


async def _clean(arguments: argparse.Namespace) -> int:
    async with DeepResearcher(read_settings(arguments)) as researcher:
        choice = await researcher.choose_old(arguments.older_than, keep=arguments.keep)
        if choice.gone:
            print(_table(choice.gone))
        is_asked = choice.gone and not (arguments.dry_run or arguments.yes)
        if is_asked and not _is_agreed(len(choice.gone)):
            print("Nothing was removed.")
            return 0
        _print_cleaned(await researcher.clean(choice=choice, is_dry=arguments.dry_run), arguments.dry_run)
    return 0


def _is_agreed(number: int) -> bool:
    if not sys.stdin.isatty():
        raise BadInput("Nobody is here to ask; say --yes to remove these runs, or --dry-run to look only.")
    answer = input(f"Remove {format_count(number, 'run')} for good? Research folders stay. [y/N] ")
    return answer.strip().lower() in {"y", "yes"}


def _print_cleaned(result: "PruneResult", is_dry: bool) -> None:
    words = "Would remove" if is_dry else "Removed"
    held = _size(result.swept.bytes)
    print(f"{words} {format_count(len(result.gone), 'run')}: {result.swept.rows} rows, {held} of content.")
    if not is_dry:
        print(f"On disk: {_size(result.before_bytes)} before, {_size(result.after_bytes)} now.")
    if result.busy:
        print(f"Left alone, because somebody works on them: {format_count(len(result.busy), 'run')}.")
    if result.why_not_shrunk:
        print(f"Not all room is back yet: {result.why_not_shrunk}.")


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} KB"


def verify(arguments: argparse.Namespace) -> int:
    """Check one report; exit code 5 when anything in it does not hold."""
    from fathom.cli.terminal import run_until_interrupted

    async def work(_: "Leaving") -> int:
        researcher = DeepResearcher(read_settings(arguments))
        found = await researcher.verify(arguments.report, is_online=arguments.online, docs=arguments.docs)
        _print_verification(found, arguments)
        return 0 if found.is_sound else NOT_SOUND

    return run_until_interrupted(work, "interrupted; nothing was changed")


def _print_verification(found: "Verification", arguments: argparse.Namespace) -> None:
    if arguments.json:
        counts = {name: found.count(name) for name in ("supported", "inference", "changed", "gone")}
        whole = {"is_sound": found.is_sound, "summary": found.summary, **counts, **asdict(found)}
        print(dump_json(whole, 2))
        return
    for checked in found.sentences:
        if arguments.quiet and checked.standing == "supported":
            continue
        print(f"{checked.label:10} {plain(checked.text)}")
        if checked.why:
            print(f"{'':10} because {plain(checked.why)}")
    for note in found.notes:
        print(f"{'note':10} {plain(note)}")
    for fault in found.faults:
        print(f"{'fault':10} {plain(fault)}")
    marked = f" {found.marked} more are marked as without support." if found.marked else ""
    print(f"{found.summary}{marked}")


RUNS_FOLDER = Path("runs")


def watch(arguments: argparse.Namespace) -> int:
    """Watch a report, stop watching it, update all that are due, or list them."""
    return asyncio.run(_watch(arguments))


async def _watch(arguments: argparse.Namespace) -> int:
    asked = [bool(arguments.every), arguments.stop, arguments.run_due]
    if sum(asked) > 1:
        raise BadInput("Say one of --every, --stop and --run-due.")
    if arguments.webhook and not arguments.every:
        raise BadInput("--webhook goes with --every.")
    researcher = DeepResearcher(read_settings(arguments), out=arguments.out or RUNS_FOLDER)
    async with researcher:
        if arguments.run_due:
            return await _run_due(researcher)
        if arguments.every or arguments.stop:
            if not arguments.run_id:
                raise BadInput("Name the run: fathom watch ID --every 7d")
            if arguments.stop:
                await researcher.unwatch(arguments.run_id)
                print(f"Run {short_id(arguments.run_id)} is no longer watched.")
                return 0
            made = await researcher.watch(arguments.run_id, arguments.every, webhook=arguments.webhook or "")
            print(f"Run {short_id(made.run)} is watched; the next update is due {_when(made.due)}.")
            print("Workers do it by themselves; without workers, have cron call: fathom watch --run-due")
            return 0
        return await _list_watches(researcher, arguments.run_id or "")


async def _list_watches(researcher: DeepResearcher, run_id: str) -> int:
    watches = [one for one in await researcher.watches() if one.run.startswith(run_id)]
    if not watches and run_id:
        print(f"Run {run_id} is not watched. Watch it with: fathom watch {run_id} --every 7d")
    elif not watches:
        print("No report is watched. Watch one with: fathom watch ID --every 7d")
    for one in watches:
        every = (
            f"every {one.every_s / 86400:g} days"
            if one.every_s >= 86400
            else f"every {one.every_s / 3600:g} h"
        )
        print(f"{short_id(one.run)}  {every}, next {_when(one.due)}, latest update {short_id(one.latest)}")
        if one.problem:
            print(f"          last time: {plain(one.problem)}")
    return 0


async def _run_due(researcher: DeepResearcher) -> int:
    outcomes = await researcher.run_watches(time.time)
    for outcome in outcomes:
        name = short_id(outcome.watch.run)
        if outcome.result is None:
            print(f"{name}  failed: {plain(outcome.watch.problem)}")
            continue
        print(f"{name}  updated as {short_id(outcome.result.run_id)}")
        print(safe(outcome.digest))
        if outcome.watch.problem:
            print(f"{name}  {plain(outcome.watch.problem)}")
    if not outcomes:
        print("Nothing is due.")
    return 1 if any(outcome.watch.problem for outcome in outcomes) else 0


def _when(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
