"""The page: its files, who may use it, documents for its runs, and its requests that are not about one run.

Does not know what a run does. Whatever a name says, nothing outside the roots is listed and nothing outside
the uploads is written.
"""

import asyncio
import hmac
import os
import re
import unicodedata
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from pydantic import ValidationError
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from fathom.demo import LANGUAGES
from fathom.errors import BadInput, FathomError
from fathom.graph.dependencies import refuse_unnamed
from fathom.reading.parsers import READABLE_SUFFIXES
from fathom.request import ResearchRequest
from fathom.researcher import DeepResearcher
from fathom.runs.batch import read_questions
from fathom.runs.queue import open_queue, queue_address
from fathom.settings import Settings
from fathom.state import RunConfig
from fathom.storage import STORAGE_ERRORS
from fathom.web.audits import AuditRequests
from fathom.web.auth import identity_of
from fathom.web.batches import LiveBatches, is_total
from fathom.web.live import LiveRuns
from fathom.web.protection import SAFE, json_reply, read_body, read_bytes, refuse, refuse_error
from fathom.web.run_requests import FORMATS, RunRequests, RunTags

STATIC = Path(__file__).parent / "static"
UPLOADS = "uploads"
COOKIE = "fathom_key"
_KINDS = {".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".svg": "image/svg+xml"}
# What the page may set: neither models nor servers, which are the operator's.
_SETTABLE = frozenset(RunConfig.model_fields) - {"model", "models", "base_url", "context_tokens"}
_DATABASE_AWAY: tuple[type[Exception], ...] = (FathomError, *STORAGE_ERRORS)
_SMALLER = [Middleware(GZipMiddleware)]
MAX_UPLOAD_BYTES = 50_000_000
_MOST_SHOWN = 500
_FOLDER = re.compile(r"[0-9a-f]{32}")
Handler = Callable[[Request], Awaitable[Response]]


class PageApp:
    """The page on one database; `routes` are put at the root of an application or below a prefix."""

    def __init__(self, settings: Settings, *, by_workers: bool = False) -> None:
        self._by_workers = by_workers
        if by_workers:
            queue_address(settings)  # refuses a database that has no queue
        self._uploads = settings.home / UPLOADS
        roots = [*settings.docs_roots, self._uploads]
        self._settings = settings.model_copy(update={"docs_roots": roots})
        self._roots = settings.docs_roots
        self._keys = [key.get_secret_value() for key in settings.api_keys]
        self.researcher = DeepResearcher(self._settings)
        self._live = LiveRuns(self.researcher, settings.home / "runs", self.researcher.shared_events)
        self._batches = LiveBatches(self.researcher, settings.home / "batches", by_workers=by_workers)
        self._audits = AuditRequests(
            self.researcher, settings.home / "audits", roots, self._read_audit_config
        )
        tags = RunTags(settings.home / "tags.json")
        self._runs = RunRequests(self.researcher, self._live, tags, self._read_request)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Keep the database open; runs that are being worked on are left after the step in hand."""
        async with self.researcher, AsyncExitStack() as stack:
            if self._by_workers:
                self._live.queue = await stack.enter_async_context(open_queue(self._settings))
            yield
            await asyncio.gather(self._live.close(), self._batches.close(), self._audits.close())

    def routes(self) -> list[BaseRoute]:
        """Every route of the page, relative to where it is mounted."""
        runs, run, batch = self._runs, "/api/runs/{run}", "/api/batches/{batch}"
        audits, audit = self._audits, "/api/audits/{audit}"
        api: list[tuple[str, str, Handler]] = [
            ("GET", "/api/setup", self._setup),
            ("GET", "/api/diagnosis", self._diagnosis),
            ("GET", "/api/folders", self._folders),
            ("PUT", "/api/uploads", self._upload),
            ("POST", "/api/forecast", self._forecast),
            ("GET", "/api/compare", self._compare),
            ("POST", "/api/demo", runs.begin_demo),
            ("GET", "/api/batches", self._list_batches),
            ("POST", "/api/batches", self._begin_batch),
            ("GET", batch, self._show_batch),
            ("POST", f"{batch}/go-on", self._go_on_with_batch),
            ("POST", f"{batch}/stop", self._stop_batch),
            ("POST", "/api/audits", audits.begin),
            ("POST", "/api/audits/forecast", audits.forecast),
            ("GET", audit, audits.show),
            ("POST", f"{audit}/stop", audits.stop),
            ("GET", audit + "/export/{kind}", audits.export),
            ("GET", "/api/runs", runs.list_latest),
            ("POST", "/api/runs", runs.begin),
            ("GET", run, runs.show),
            ("GET", f"{run}/events", runs.events),
            ("GET", f"{run}/result", runs.result),
            ("GET", run + "/chart/{number:int}", runs.chart),
            ("GET", f"{run}/passage", runs.passage),
            ("GET", f"{run}/thread", runs.thread),
            ("GET", run + "/export/{kind}", runs.export),
            ("POST", f"{run}/tags", runs.tag),
            ("POST", f"{run}/answer", runs.answer),
            ("POST", f"{run}/control", runs.control),
            ("POST", f"{run}/follow-up", runs.follow_up),
            ("POST", f"{run}/update", runs.update),
            ("POST", f"{run}/fork", runs.fork),
        ]
        return [
            Route("/", self._index, methods=["GET"], middleware=_SMALLER),
            Route("/static/{file:path}", self._static, methods=["GET"], middleware=_SMALLER),
            Route("/api/login", self._login, methods=["POST"]),
            Route("/api/health", self._health, methods=["GET"]),
            *(Route(path, self._guard(handler), methods=[method]) for method, path, handler in api),
            Route("/api/{rest:path}", _missing, methods=["GET", "POST", "PUT"]),
        ]

    def _guard(self, handler: Handler) -> Handler:
        """Let in who may, and say what is refused in one sentence."""

        async def answer(request: Request) -> Response:
            if refusal := self.refusal(request):
                return refusal
            try:
                return await handler(request)
            except (ValidationError, FathomError) as error:
                return refuse_error(error)
            except STORAGE_ERRORS as error:
                return refuse(self.researcher.describe_database_error(error), 503, FathomError.code)

        return answer

    def refusal(self, request: Request) -> Response | None:
        """The answer to who may not use the page: whoever has no key where one is needed."""
        if len(self._keys) > 1:
            words = "The page shows every run, so it is off where FATHOM_API_KEYS has several keys."
            return refuse(words, 403)
        given = dict(request.headers.raw)
        cookie = request.cookies.get(COOKIE, "")
        if cookie and b"x-api-key" not in given:
            given[b"x-api-key"] = unquote(cookie).encode()
        if identity_of(given, self._keys) is None:
            return refuse("An API key is needed (FATHOM_API_KEYS).", 401)
        return None

    async def _health(self, _: Request) -> Response:
        """Say whether the database answers; a health check has no key, and learns nothing else."""
        try:
            await self.researcher.runs(1)
        except _DATABASE_AWAY:
            return refuse("The database does not answer.", 503)
        return json_reply({"is_ready": True})

    async def _index(self, _: Request) -> Response:
        return FileResponse(STATIC / "index.html", headers={**SAFE, "cache-control": "no-cache"})

    async def _static(self, request: Request) -> Response:
        path = (STATIC / request.path_params["file"]).absolute()
        is_ours = ".." not in path.parts and path.is_relative_to(STATIC) and path.suffix in _KINDS
        if not is_ours or not await asyncio.to_thread(path.is_file):
            return refuse("There is no such file.", 404)
        headers = {**SAFE, "cache-control": "no-cache"}
        return FileResponse(path, media_type=_KINDS[path.suffix], headers=headers)

    async def _login(self, request: Request) -> Response:
        """Remember a key in a cookie that no script can read and no other site sends."""
        try:
            given = str((await read_body(request)).get("key", ""))
        except BadInput as error:
            return refuse(str(error))
        if not any(hmac.compare_digest(key.encode(), given.encode()) for key in self._keys):
            return refuse("That is not a key of this server.", 401)
        answer = json_reply({"is_known": True})
        answer.set_cookie(
            COOKIE, quote(given), httponly=True, samesite="strict", secure=request.url.scheme == "https"
        )
        return answer

    async def _setup(self, _: Request) -> Response:
        """What is configured, as far as a form needs it; asks nobody."""
        settings = self._settings
        return json_reply(
            {
                "version": version("fathom-research"),
                "model": settings.model_for("write") if settings.has_model else "",
                "usual": settings.run.model_dump(mode="json"),
                "ceilings": settings.ceilings,
                "formats": FORMATS,
                "demo": LANGUAGES,
                "example": await asyncio.to_thread(find_example, self._roots),
                "upload_bytes": MAX_UPLOAD_BYTES,
            }
        )

    async def _diagnosis(self, _: Request) -> Response:
        """Everything that is configured or missing, in words."""
        found = await self.researcher.diagnose()
        return json_reply({"lines": found.lines, "can_keep_runs": found.can_keep_runs})

    async def _folders(self, request: Request) -> Response:
        """Folders below the allowed roots."""
        place = request.query_params.get("path", "")
        return json_reply(await asyncio.to_thread(list_folder, self._roots, place))

    async def _upload(self, request: Request) -> Response:
        """Keep one document; several of one visit go into one folder."""
        words = request.query_params
        path = await asyncio.to_thread(
            new_upload, self._uploads, words.get("folder", ""), words.get("name", "")
        )
        body = await read_bytes(request, MAX_UPLOAD_BYTES)
        await asyncio.to_thread(path.write_bytes, body)
        return json_reply({"folder": path.parent.name, "path": str(path.parent), "name": path.name})

    async def _forecast(self, request: Request) -> Response:
        """What a question would cost."""
        return json_reply(await self.researcher.forecast(await self._read_request(request)))

    async def _compare(self, request: Request) -> Response:
        """Two runs side by side."""
        words = request.query_params
        found = await self.researcher.compare(words.get("first", "-"), words.get("second", "-"))
        return json_reply(asdict(found))

    async def _list_batches(self, _: Request) -> Response:
        return json_reply(await self._batches.list_all())

    async def _begin_batch(self, request: Request) -> Response:
        """Begin a batch: `questions` has one a line, `config` holds for all."""
        given = await read_body(request)
        text, total = given.get("questions", ""), given.get("total_usd")
        if not isinstance(text, str) or not is_total(total):
            raise BadInput("A batch has questions, one a line, and total_usd, a number.")
        questions = read_questions(text, _settings_in(given))
        for one in questions:
            _settings_in({"config": one.request.said})
            await self._refuse_unnamed(one.request)
        return json_reply({"id": await self._batches.begin(questions, total)})

    async def _show_batch(self, request: Request) -> Response:
        return json_reply(await self._batches.table(request.path_params["batch"]))

    async def _go_on_with_batch(self, request: Request) -> Response:
        await self._batches.go_on(request.path_params["batch"])
        return json_reply({"is_heard": True})

    async def _stop_batch(self, request: Request) -> Response:
        await self._batches.stop(request.path_params["batch"])
        return json_reply({"is_heard": True})

    async def _read_request(self, request: Request) -> ResearchRequest:
        """The question and the settings of a form, within what the operator allows."""
        given = await read_body(request)
        asked = ResearchRequest(query=given.get("query", ""), **_settings_in(given))
        await self._refuse_unnamed(asked)
        return asked

    async def _read_audit_config(self, given: dict[str, object]) -> RunConfig:
        """The settings of an audit, within what the operator allows."""
        config = RunConfig.model_validate(_settings_in(given))
        await asyncio.to_thread(refuse_unnamed, self._settings, self._settings.usual(config))
        return config

    async def _refuse_unnamed(self, asked: ResearchRequest) -> None:
        await asyncio.to_thread(refuse_unnamed, self._settings, asked.run_config(self._settings.run))


def _settings_in(given: dict[str, object]) -> dict[str, object]:
    config = given.get("config", {})
    if not isinstance(config, dict):
        raise BadInput("The config of a request is an object.")
    if other := [name for name in config if name not in _SETTABLE]:
        raise BadInput(f"The page cannot set {str(other[0])[:40]!r}.")
    return {name: value for name, value in config.items() if value is not None}


async def _missing(_: Request) -> Response:
    return refuse("There is no such address.", 404)


def redirect(_: Request) -> Response:
    """To the page's own folder, so that its relative addresses work."""
    return RedirectResponse("app/", 307, SAFE)


def list_folder(roots: Sequence[Path], place: str) -> dict[str, Any]:
    """The folders in a place below the roots, and how many documents lie in it; the roots without a place."""
    known = list(dict.fromkeys(root.expanduser().resolve() for root in roots))
    if not place:
        return {"path": "", "parent": None, "documents": 0, "folders": [_named(root) for root in known]}
    path = Path(place).expanduser().resolve()
    root = next((root for root in known if path.is_relative_to(root)), None)
    if root is None:
        raise BadInput(f"{place} is outside the folders that may be read (FATHOM_DOCS_ROOTS).")
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name.lower())[:_MOST_SHOWN]
    except OSError as error:
        raise BadInput(f"{place} cannot be opened: {error.strerror or error}.") from error
    folders = [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    return {
        "path": str(path),
        "parent": "" if path == root else str(path.parent),
        "documents": sum(Path(entry.name).suffix.lower() in READABLE_SUFFIXES for entry in entries),
        "folders": [_named(folder) for folder in folders if not folder.name.startswith(".")],
    }


def find_example(roots: Sequence[Path]) -> dict[str, str] | None:
    """A document in one of the roots, for a question that can be answered here and now."""
    for root in roots:
        path = root.expanduser().resolve()
        try:
            names = sorted(entry.name for entry in os.scandir(path) if entry.is_file())
        except OSError:
            continue
        if found := next((name for name in names if Path(name).suffix.lower() in {".md", ".txt"}), None):
            return {"name": Path(found).stem, "place": str(path / found)}
    return None


def new_upload(uploads: Path, folder: str, name: str) -> Path:
    """Where an uploaded file goes: the folder of this visit, or a new one, and the file's plain name."""
    plain = Path(unicodedata.normalize("NFC", name).replace("\\", "/")).name
    plain = "".join(letter for letter in plain if letter.isprintable() and letter not in '<>:"|?*')[:120]
    if not plain.strip(". ") or Path(plain).suffix.lower() not in READABLE_SUFFIXES:
        raise BadInput(f"{name[:80] or 'This'} cannot be read; send {', '.join(sorted(READABLE_SUFFIXES))}.")
    if folder and not _FOLDER.fullmatch(folder):
        raise BadInput("There is no such folder of uploads.")
    place = uploads / (folder or uuid.uuid4().hex)
    place.mkdir(parents=True, exist_ok=True)
    return place / plain


def _named(folder: Path) -> dict[str, str]:
    return {"name": folder.name or str(folder), "path": str(folder)}
