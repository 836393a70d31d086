"""Commands for whoever runs Fathom: settings and what is missing, servers and workers, databases.

Does not know what a setting is for, or how a run is worked on. A key is never shown, and neither is what
stands in an address to prove who asks.
"""

import argparse
import asyncio
import json
import re
import signal
import socket
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr

from fathom import BatchStop, DeepResearcher
from fathom.cli.arguments import read_request, read_settings
from fathom.cli.text import safe
from fathom.concurrency import limit_memory_arenas
from fathom.errors import BadInput
from fathom.request import ResearchRequest
from fathom.settings import Settings, is_loopback, read_set_values, setting_names
from fathom.settings.sources import (
    DOTENV,
    RUN_TABLE,
    SETTINGS_FILE,
    VARIABLE_PREFIX,
    SetValue,
    SharedVariable,
)
from fathom.state import RunConfig, short_id
from fathom.text.normalization import dump_json

MASK = "********"
_DEFAULT = "default"
_SPOKEN = "command line"
_WIDEST = 48


@dataclass(frozen=True)
class Line:
    """One setting as it is shown."""

    name: str
    value: Any
    origin: str
    variables: list[str]
    description: str


def show_settings(arguments: argparse.Namespace) -> int:
    """Print the settings."""
    lines = [
        line
        for line in _lines(arguments, read_set_values(arguments.config_file))
        if not arguments.changed or line.origin != _DEFAULT
    ]
    if arguments.json:
        print(dump_json([asdict(line) for line in lines], 2))
        return 0
    here = Path.cwd()
    found = [name for name in (SETTINGS_FILE, DOTENV) if (here / name).is_file()]
    print(f"In {here}: {' and '.join(found) if found else f'no {SETTINGS_FILE} and no {DOTENV}'}\n")
    width = max((len(line.name) for line in lines), default=0)
    values = min(_WIDEST, max((len(_format_value(line)) for line in lines), default=0))
    for line in lines:
        origin = line.origin.removeprefix(f"{here}/")
        print(safe(f"{line.name:{width}}  {_format_value(line):{values}}  {origin}"))
    return 0


def _lines(arguments: argparse.Namespace, set_here: Mapping[str, SetValue]) -> Iterator[Line]:
    words = read_request(arguments)
    settings = read_settings(arguments)
    spoken = {name for name in ("model", "models", "base_url") if name in words}
    settings = settings.model_copy(update={name: words[name] for name in spoken})
    known = setting_names()
    for name in known.settings:
        origin = _SPOKEN if name in spoken else _origin(set_here.get(name))
        yield _line(name, settings, name, origin)
    before = ResearchRequest(query="any").run_config(settings.run)
    run_config = ResearchRequest(**{"query": "any", **words}).run_config(settings.run)
    for name in known.run_config:
        is_spoken = name in words or getattr(run_config, name) != getattr(before, name)
        yield _line(
            f"{RUN_TABLE}.{name}",
            run_config,
            name,
            _SPOKEN if is_spoken else _origin(set_here.get(f"{RUN_TABLE}.{name}")),
        )


def _line(shown_as: str, holder: Settings | RunConfig, name: str, origin: str) -> Line:
    field = type(holder).model_fields[name]
    common = [known.variable for known in field.metadata if isinstance(known, SharedVariable)]
    variables = [*common, f"{VARIABLE_PREFIX}{name.upper()}"]
    return Line(shown_as, _plain(getattr(holder, name)), origin, variables, field.description or "")


def _origin(one: SetValue | None) -> str:
    if one is None:
        return _DEFAULT
    return one.origin if one.value is not None else f"{one.origin} (empty)"


def _plain(value: Any) -> Any:
    """A value that may be shown, as JSON has it."""
    match value:
        case SecretStr():
            return MASK
        case BaseModel():
            return _plain(value.model_dump(mode="json"))
        case Path():
            return str(value)
        case str() if "://" in value:
            return re.sub(r"\?.*", f"?{MASK}", re.sub(r"://[^/@\s]+@", f"://{MASK}@", value))
        case dict():
            return {key: _plain(one) for key, one in value.items()}
        case list():
            return [_plain(one) for one in value]
    return value


def _format_value(line: Line) -> str:
    if line.value is None:
        return "–"
    return line.value if isinstance(line.value, str) else json.dumps(line.value, ensure_ascii=False)


def doctor(arguments: argparse.Namespace) -> int:
    """Print the check-up; exit code 2 when runs could not be kept."""
    found = asyncio.run(DeepResearcher(read_settings(arguments)).diagnose())
    for title, words in found.lines.items():
        print(safe(f"{title:16} {words}"))
    return 0 if found.can_keep_runs else 2


def upgrade(arguments: argparse.Namespace) -> int:
    """Keep the reports, move the old file aside, begin a new one."""
    settings = read_settings(arguments)
    done = asyncio.run(DeepResearcher(settings).upgrade_database(arguments.to))
    print(f"A new database is at {settings.database}; the old one was kept as {done.old}.")
    if done.in_folders:
        print(f"Reports of {len(done.in_folders)} runs are in their folders, as before.")
    for run, folder in done.exported.items():
        print(f"The report of run {short_id(run)} was written to {folder}.")
    for run in done.unreadable:
        print(f"Run {short_id(run)} could not be read; it is still in {done.old}.")
    return 0


def rescue(arguments: argparse.Namespace) -> int:
    """Save what can be read, and say what could not; exit code 1 when a run is lost."""
    settings = read_settings(arguments)
    damaged = Path(arguments.database) if arguments.database else None
    to = Path(arguments.to) if arguments.to else None
    done = asyncio.run(DeepResearcher(settings).rescue_database(damaged, to))
    print(f"{sum(done.rows.rows.values()):,} rows of the database are in {done.folder}.")
    if done.rows.damaged:
        print(f"Rows may be missing in: {', '.join(done.rows.damaged)}.")
    print(f"Runs written to {done.folder / 'runs'}: {len(done.exported)}.")
    for run in done.copied:
        print(f"Run {short_id(run)} could not be read; its research folder was copied.")
    for run in done.lost:
        print(f"Run {short_id(run)} is lost.")
    return 1 if done.lost else 0


_CLOSING_S = 3  # streams that are still open do not keep the server from ending
_ANYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 - names that mean every address


def serve(arguments: argparse.Namespace) -> int:
    """Serve the page until somebody presses Ctrl-C."""
    import uvicorn

    from fathom.web.app import make_page_app

    limit_memory_arenas()

    settings = read_settings(arguments)
    host, port = arguments.host, arguments.port
    if not 0 < port < 65_536:
        raise BadInput("--port should be a number from 1 to 65535.")
    if not is_loopback(host):
        settings = _admit(settings, host)
        _warn(settings, host, port)
    asyncio.run(DeepResearcher(settings).runs(1))  # a database that cannot be read is told now
    app = make_page_app(settings, by_workers=arguments.workers)
    listening = _listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    print(f"Fathom is at http://{shown}:{port}/ (Ctrl-C ends it)", file=sys.stderr, flush=True)
    config = uvicorn.Config(
        app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=_CLOSING_S
    )
    uvicorn.Server(config).run(sockets=[listening])
    return 0


def serve_mcp(arguments: argparse.Namespace) -> int:
    """Serve MCP over standard input and output until the client closes them."""
    from fathom.integrations.mcp_server import make_server

    settings = read_settings(arguments)
    roots = [Path(place).expanduser().resolve() for place in arguments.docs]
    if missing := next((root for root in roots if not root.exists()), None):
        raise BadInput(f"There is no folder {missing}.")
    own = settings.run.model_copy(update={"docs": [str(root) for root in roots]}) if roots else settings.run
    allowed = {"docs_roots": [*settings.docs_roots, *roots], "run": own}
    asyncio.run(make_server(settings.model_copy(update=allowed)).run_stdio_async())
    return 0


def _listen(host: str, port: int) -> socket.socket:
    """Take the port before anything is promised."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        where = host or "this machine"
        why = f"Port {port} of {where} cannot be used ({error.strerror}); name another with --port."
        raise BadInput(why) from error
    return listening


def _admit(settings: Settings, host: str) -> Settings:
    """Have the server answer to the name that was given, if it is one."""
    if host in _ANYWHERE:
        return settings
    return settings.model_copy(update={"allowed_hosts": [*settings.allowed_hosts, host]})


def _warn(settings: Settings, host: str, port: int) -> None:
    """Say loudly who can now reach the page."""
    who = "whoever has the key" if settings.api_keys else "EVERYBODY who reaches it, without a key,"
    names = ", ".join(settings.allowed_hosts)
    for line in (
        f"WARNING: {host or 'every address'}:{port} can be reached from other machines.",
        f"WARNING: {who} can spend your budget and read every run and the folders in FATHOM_DOCS_ROOTS.",
        f"WARNING: there is no encryption. The page answers to: {names} (FATHOM_ALLOWED_HOSTS).",
    ):
        print(line, file=sys.stderr)


_MOST_AT_ONCE = 100


def worker(arguments: argparse.Namespace) -> int:
    """Work on the queue until somebody ends it; a second signal does not wait for the steps in hand."""
    if not 1 <= arguments.at_once <= _MOST_AT_ONCE:
        raise BadInput(f"--at-once should be from 1 to {_MOST_AT_ONCE}.")
    limit_memory_arenas()
    return asyncio.run(_work(DeepResearcher(read_settings(arguments)), arguments.at_once))


async def _work(researcher: DeepResearcher, at_once: int) -> int:
    stop, loop = BatchStop(), asyncio.get_running_loop()
    working = asyncio.ensure_future(researcher.work(at_once, stop=stop))

    def leave() -> None:
        if stop.is_requested:
            working.cancel()
        stop.request()

    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, leave)
    print(f"fathom: a worker on {researcher.settings.database}, {at_once} runs at a time", file=sys.stderr)
    try:
        await working
    except asyncio.CancelledError:
        return 130
    return 0


def migrate(arguments: argparse.Namespace) -> int:
    """Copy the file in the home into the database of the settings."""
    researcher = DeepResearcher(read_settings(arguments))
    done = asyncio.run(researcher.migrate())
    told = f"Copied {done.runs} runs, {done.rows} rows and {done.papers} papers"
    print(f"{told} to {researcher.settings.database}.")
    return 0
