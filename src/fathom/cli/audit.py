"""Commands that judge reports: `fathom audit` checks one against what it cites, `fathom eval` scores many.

Does not know how anything is decided or scored.
"""

import argparse
import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fathom import AuditEvent, AuditRequest, AuditResult, DeepResearcher, EvalRequest
from fathom.audit import render_html, render_markdown, summarize
from fathom.cli.arguments import read_request, read_settings
from fathom.cli.run import choose_local_model, describe_forecast, print_forecast
from fathom.cli.terminal import Leaving, run_until_interrupted
from fathom.cli.text import cut, dollars, plain, print_markdown, safe
from fathom.errors import BadInput
from fathom.evaluation import render_evaluation
from fathom.request import ResearchRequest
from fathom.state import RunConfig
from fathom.text.normalization import escape_json

FOUND_FAULTS = 5
AGAIN = "interrupted; nothing is lost, run the same command again to go on"
_FORMS = ("markdown", "html", "json")
_LINE_CELLS = 100
_CONFIG = ("docs", "engines", "model", "models", "base_url", "context_tokens", "budget_usd", "fresh")


def audit(arguments: argparse.Namespace) -> int:
    """Audit one report; exit code 5 when something is contradicted or invented."""
    if arguments.format not in _FORMS:
        raise BadInput(f"There is no format {arguments.format!r}; known are {', '.join(_FORMS)}.")
    choose_local_model(arguments)
    said = {name: value for name in _CONFIG if (value := getattr(arguments, name)) is not None}
    settings = read_settings(arguments)
    body = sys.stdin.buffer.read() if arguments.report == "-" else None
    request = AuditRequest(
        report=arguments.report, body=body, is_searched=arguments.search, run_config=_read_config(said)
    )
    if arguments.dry_run:
        print_forecast(asyncio.run(DeepResearcher(settings).forecast_audit(request)), arguments)
        return 0

    async def work(_: Leaving) -> int:
        async with DeepResearcher(settings) as researcher:
            async for event in researcher.stream_audit(request):
                _show_event(event, arguments)
                result = event.result or None
        assert result is not None
        texts = {
            "audit.json": result.model_dump_json(indent=2),
            "audit.html": render_html(result),
            "audit.md": render_markdown(result),
        }
        await asyncio.to_thread(_write_files, Path(arguments.out or Path("runs") / result.id), texts)
        if not arguments.json:
            _print_result(result, arguments)
        return FOUND_FAULTS if result.has_alarms else 0

    return run_until_interrupted(work, AGAIN)


def _read_config(said: Mapping[str, Any]) -> RunConfig:
    """Return what was said about the run; BadInput, in one sentence, for what makes no sense."""
    ResearchRequest(query="audit", **said)
    return RunConfig(**said)


def _show_event(event: AuditEvent, arguments: argparse.Namespace) -> None:
    if arguments.json:
        print(escape_json(event.model_dump_json()), flush=True)
    elif not arguments.quiet and event.kind != "completed":
        count = f" {event.done}/{event.total}" if event.total else ""
        spent = f"  {dollars(event.usd)}" if event.usd else ""
        line = f"{event.kind}{count}  {plain(event.what)}".rstrip()
        print(f"{cut(line, _LINE_CELLS)}{spent}", file=sys.stderr, flush=True)


def _write_files(folder: Path, texts: Mapping[str, str]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, "utf-8")
    except OSError as error:
        raise BadInput(f"{folder} cannot be written: {error.strerror}.") from None


def _print_result(result: AuditResult, arguments: argparse.Namespace) -> None:
    if arguments.format == "json":
        print(escape_json(result.model_dump_json(indent=2)))
    elif arguments.format == "html":
        print(safe(render_html(result)), end="")
    elif arguments.quiet:
        print(safe(summarize(result)))
    else:
        print_markdown(safe(render_markdown(result)))
    if not arguments.quiet:
        place = Path(arguments.out or Path("runs") / result.id)
        print(f"In colours: {place / 'audit.html'}", file=sys.stderr)


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
        run_config=_read_config(said),
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
        texts = {"eval.json": result.model_dump_json(indent=2), "eval.md": table}
        await asyncio.to_thread(_write_files, Path(request.out), texts)
        if arguments.json:
            print(escape_json(result.model_dump_json(indent=2)))
        else:
            print_markdown(safe(table))
        is_done = result.reports and all(report.race for report in result.reports)
        return 0 if is_done else 1

    return run_until_interrupted(work, AGAIN)


def _read_pairs(said: list[str]) -> dict[str, str]:
    pairs = [words.partition("=") for words in said]
    for name, sign, place in pairs:
        if not (name and sign and Path(place).exists()):
            raise BadInput(
                f"--report should be NAME=PLACE with a place that is there, not {name}{sign}{place}."
            )
    return {name: place for name, _, place in pairs}
