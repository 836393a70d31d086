"""Commands that serve others: the page, MCP, and workers on a queue; all on the usual database.

Does not know what is served, or how a run is worked on.
"""

import argparse
import asyncio
import signal
import socket
import sys
from ipaddress import ip_address
from pathlib import Path

from fathom import BatchStop, DeepResearcher
from fathom.cli.arguments import read_settings
from fathom.errors import BadInput
from fathom.settings.settings import Settings

_CLOSING_S = 3  # streams that are still open do not keep the server from ending
_ANYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 - names that mean every address


def serve(arguments: argparse.Namespace) -> int:
    """Serve the page until somebody presses Ctrl-C."""
    import uvicorn

    from fathom import DeepResearcher
    from fathom.web.app import make_page_app

    settings = read_settings(arguments)
    host, port = arguments.host, arguments.port
    if not 0 < port < 65_536:
        raise BadInput("--port should be a number from 1 to 65535.")
    if not _is_loopback(host):
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


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


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
