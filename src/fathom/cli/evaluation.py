"""`fathom eval`: reports on a folder of tasks, scored, audited and compared.

Does not know how anything is scored.
"""

import argparse
import asyncio
import sys
from pathlib import Path

from fathom import DeepResearcher, EvalRequest
from fathom.cli.arguments import read_request, read_settings
from fathom.cli.interrupts import Leaving, run_until_interrupted
from fathom.cli.local_models import choose_local_model
from fathom.cli.run import describe_forecast, print_forecast
from fathom.cli.text import plain, print_markdown, safe
from fathom.errors import BadInput
from fathom.evaluation.table import render_evaluation
from fathom.state import RunConfig
from fathom.text.json_lines import escape_json

_AGAIN = "interrupted; nothing is lost, run the same command again to go on"


def evaluate(arguments: argparse.Namespace) -> int:
    """Evaluate, print the table, and keep it beside the reports."""
    choose_local_model(arguments)
    settings = read_settings(arguments)
    said = {name: value for name, value in read_request(arguments).items() if name in RunConfig.model_fields}
    request = EvalRequest(
        tasks=arguments.tasks,
        out=str(arguments.out or Path("runs") / f"eval-{Path(arguments.tasks).resolve().stem}"),
        repeats=arguments.repeats,
        others=_read_pairs(arguments.report),
        earlier=arguments.against,
        is_judge_only=arguments.judge_only,
        run_config=RunConfig(**said),
    )
    forecast = asyncio.run(DeepResearcher(settings).forecast_evaluation(request))
    if arguments.dry_run:
        print_forecast(forecast, arguments)
        return 0
    if not (arguments.quiet or arguments.json):
        print(safe(describe_forecast(forecast)), file=sys.stderr, flush=True)

    def tell(words: str) -> None:
        if not (arguments.quiet or arguments.json):
            print(plain(words), file=sys.stderr, flush=True)

    async def work(_: Leaving) -> int:
        async with DeepResearcher(settings) as researcher:
            result = await researcher.evaluate(request, tell)
        table = render_evaluation(result)
        await asyncio.to_thread(_write_files, Path(request.out), result.model_dump_json(indent=2), table)
        if arguments.json:
            print(escape_json(result.model_dump_json(indent=2)))
        else:
            print_markdown(safe(table))
        is_done = result.reports and all(report.race for report in result.reports)
        return 0 if is_done else 1

    return run_until_interrupted(work, _AGAIN)


def _read_pairs(said: list[str]) -> dict[str, str]:
    pairs = [words.partition("=") for words in said]
    for name, sign, place in pairs:
        if not (name and sign and Path(place).exists()):
            raise BadInput(
                f"--report should be NAME=PLACE with a place that is there, not {name}{sign}{place}."
            )
    return {name: place for name, _, place in pairs}


def _write_files(folder: Path, whole: str, table: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "eval.json").write_text(whole, "utf-8")
        (folder / "eval.md").write_text(table, "utf-8")
    except OSError as error:
        raise BadInput(f"{folder} cannot be written: {error.strerror}.") from None
