"""The command that puts two runs side by side.

Does not know how they are compared.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import cast

from fathom.cli.cells import plain
from fathom.cli.options import settings_of
from fathom.ids import short_id
from fathom.runs.compare import ComparedFinding, ComparedRun, ComparedSource, Comparison, Pair, compare_runs
from fathom.runs.executor import Runs, open_runs
from fathom.state import RunState


def diff(arguments: argparse.Namespace) -> int:
    """Print how two runs differ."""
    found = asyncio.run(_compared(arguments))
    if arguments.json:
        print(json.dumps(asdict(found), indent=2, ensure_ascii=False))
    else:
        print("\n".join(_lines(found)))
    return 0


async def _compared(arguments: argparse.Namespace) -> Comparison:
    async with open_runs(settings_of(arguments)) as runs:
        return compare_runs(await _side(runs, arguments.first), await _side(runs, arguments.second))


async def _side(runs: Runs, name: str) -> ComparedRun:
    run_id = await runs.find(name)
    state = cast(RunState, (await runs.snapshot(run_id)).values)
    line = await runs.line(run_id)
    return ComparedRun(run_id, state, line.status, round(line.cost_usd, 6))


def _lines(found: Comparison) -> list[str]:
    one, two = short_id(found.runs.first), short_id(found.runs.second)
    lines = [f"- {one}  {plain(found.questions.first)}"]
    lines += [
        f"+ {two}  {plain(found.questions.second)}" if not found.questions.is_same else f"+ {two}  the same"
    ]
    went = [("-", found.directions.first), ("+", found.directions.second)]
    lines += [f"{sign} goes another way: {plain(words)}" for sign, words in went if words]
    cost = Pair(f"${found.cost_usd.first:.4f}", f"${found.cost_usd.second:.4f}")
    for title, pair in (("status", found.statuses), ("rounds", found.rounds), ("cost", cost)):
        lines.append(f"  {title}: {_change(cast(Pair[object], pair))}")
    if found.settings:
        lines += ["", "Settings"]
        lines += [f"  {name}: {_change(pair)}" for name, pair in found.settings.items()]
    lines += ["", f"Sources ({found.shared_sources} in both)"]
    lines += [*_sources("-", found.sources.first), *_sources("+", found.sources.second)]
    lines += ["", f"Findings ({found.same} in both, held alike)"]
    lines += [_finding("-", held) for held in found.gone]
    lines += [_finding("+", held) for held in found.added]
    for both in found.changed:
        lines.append(f"~ {_held(both.first)} → {_held(both.second)}  {plain(both.second.statement)}")
    return lines


def _change(pair: Pair[object]) -> str:
    return f"{pair.first}" if pair.is_same else f"{pair.first} → {pair.second}"


def _sources(sign: str, sources: Sequence[ComparedSource]) -> list[str]:
    return [f"{sign} {plain(source.title)}  <{plain(source.address)}>" for source in sources]


def _finding(sign: str, held: ComparedFinding) -> str:
    return f"{sign} {_held(held)}  {plain(held.statement)}"


def _held(held: ComparedFinding) -> str:
    return f"{held.tag} ({held.confidence:.2f})"
