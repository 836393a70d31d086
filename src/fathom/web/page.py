"""The page: its files, and the requests it makes, all answered by the public facade.

Does not know what a run does. Every refusal is one sentence and a code, as `{"detail": "…", "code": "…"}`.
"""

import asyncio
import hmac
import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from functools import wraps
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from pydantic import ValidationError
from pydantic_core import to_jsonable_python
from sse_starlette import EventSourceResponse
from starlette.background import BackgroundTask
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from fathom.errors import BadInput, FathomError, RunStopped
from fathom.graph.dependencies import refuse_unnamed
from fathom.request import ResearchRequest, describe_validation_error
from fathom.researcher import DeepResearcher
from fathom.settings.settings import Settings
from fathom.state import ReviewAnswer, RunConfig
from fathom.storage import STORAGE_ERRORS
from fathom.web.auth import identity_of
from fathom.web.documents import MAX_UPLOAD_BYTES, find_example, list_folder, new_upload
from fathom.web.live import LiveRun, LiveRuns
from fathom.web.protection import refusal_code

if TYPE_CHECKING:
    from fathom.session import Session

STATIC = Path(__file__).parent / "static"
UPLOADS = "uploads"
COOKIE = "fathom_key"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SAFE = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
}
_KINDS = {".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".svg": "image/svg+xml"}
# What the page may set: neither models nor servers, which are the operator's.
_SETTABLE = frozenset(RunConfig.model_fields) - {"model", "models", "base_url", "context_tokens"}
_SMALLER = [Middleware(GZipMiddleware)]
_MAX_BODY_BYTES = 1_000_000
_FORMATS = {
    "md": "Markdown",
    "html": "HTML",
    "pdf": "PDF",
    "docx": "Word",
    "json": "JSON",
    "bib": "BibTeX",
    "ris": "RIS",
    "csl.json": "CSL-JSON",
    "zip": "ZIP",
}  # by the endings that `fathom export` knows

Handler = Callable[["PageApp", Request], Awaitable[Response]]


def _answered(handler: Handler) -> Handler:
    """Let in who may, and say what is refused in one sentence."""

    @wraps(handler)
    async def answer(self: "PageApp", request: Request) -> Response:
        try:
            if refusal := self.refusal(request):
                return refusal
            return await handler(self, request)
        except ValidationError as error:
            return _refuse(describe_validation_error(error))
        except BadInput as error:
            is_missing = str(error).startswith("There is no run")
            return _refuse(str(error), 404 if is_missing else 400, error.code)
        except FathomError as error:
            return _refuse(str(error), 409 if isinstance(error, RunStopped) else 502, error.code)
        except STORAGE_ERRORS as error:
            return _refuse(self.researcher.describe_database_error(error), 503, FathomError.code)

    return answer


def _refuse(why: str, status: int = 400, code: str = "") -> JSONResponse:
    return JSONResponse({"detail": why, "code": code or refusal_code(status)}, status, SAFE)


def _json(content: object) -> JSONResponse:
    return JSONResponse(to_jsonable_python(content), headers={**SAFE, "cache-control": "no-store"})


class PageApp:
    """The page on one database; `routes` are put at the root of an application or below a prefix."""

    def __init__(self, settings: Settings) -> None:
        self._uploads = settings.home / UPLOADS
        roots = [*settings.docs_roots, self._uploads]
        self._settings = settings.model_copy(update={"docs_roots": roots})
        self._roots = settings.docs_roots
        self._keys = [key.get_secret_value() for key in settings.api_keys]
        self.researcher = DeepResearcher(self._settings)
        self._live = LiveRuns(self.researcher, settings.home / "runs")

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Keep the database open; runs that are being worked on are left after the step in hand."""
        async with self.researcher:
            yield
            await self._live.close()

    def routes(self) -> list[BaseRoute]:
        """Every route of the page, relative to where it is mounted."""
        here, run = "/api", "/api/runs/{run}"
        api: list[tuple[str, str, Handler]] = [
            ("GET", f"{here}/setup", PageApp.setup),
            ("GET", f"{here}/diagnosis", PageApp.diagnosis),
            ("GET", f"{here}/folders", PageApp.folders),
            ("PUT", f"{here}/uploads", PageApp.upload),
            ("POST", f"{here}/forecast", PageApp.forecast),
            ("GET", f"{here}/compare", PageApp.compare),
            ("GET", f"{here}/runs", PageApp.runs),
            ("POST", f"{here}/runs", PageApp.begin),
            ("GET", run, PageApp.run),
            ("GET", f"{run}/events", PageApp.events),
            ("GET", f"{run}/result", PageApp.result),
            ("GET", f"{run}/passage", PageApp.passage),
            ("GET", f"{run}/thread", PageApp.thread),
            ("GET", run + "/export/{kind}", PageApp.export),
            ("POST", f"{run}/answer", PageApp.answer),
            ("POST", f"{run}/control", PageApp.control),
            ("POST", f"{run}/follow-up", PageApp.follow_up),
            ("POST", f"{run}/update", PageApp.update),
            ("POST", f"{run}/fork", PageApp.fork),
        ]
        return [
            Route("/", self.index, methods=["GET"], middleware=_SMALLER),
            Route("/static/{file:path}", self.static, methods=["GET"], middleware=_SMALLER),
            Route("/api/login", self.login, methods=["POST"]),
            *(Route(path, self._bind(handler), methods=[method]) for method, path, handler in api),
            Route("/api/{rest:path}", self._missing, methods=["GET", "POST", "PUT"]),
        ]

    def _bind(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def bound(request: Request) -> Response:
            return await handler(self, request)

        return bound

    def refusal(self, request: Request) -> Response | None:
        """The answer to who may not use the page: whoever has no key where one is needed."""
        if len(self._keys) > 1:
            words = "The page shows every run, so it is off where FATHOM_API_KEYS has several keys."
            return _refuse(words, 403)
        given = dict(request.headers.raw)
        cookie = request.cookies.get(COOKIE, "")
        if cookie and b"x-api-key" not in given:
            given[b"x-api-key"] = unquote(cookie).encode()
        if identity_of(given, self._keys) is None:
            return _refuse("An API key is needed (FATHOM_API_KEYS).", 401)
        return None

    async def index(self, _: Request) -> Response:
        """The page itself."""
        return FileResponse(STATIC / "index.html", headers={**SAFE, "cache-control": "no-cache"})

    async def static(self, request: Request) -> Response:
        """One of its files."""
        path = (STATIC / request.path_params["file"]).absolute()
        is_ours = ".." not in path.parts and path.is_relative_to(STATIC) and path.suffix in _KINDS
        if not is_ours or not await asyncio.to_thread(path.is_file):
            return _refuse("There is no such file.", 404)
        headers = {**SAFE, "cache-control": "no-cache"}
        return FileResponse(path, media_type=_KINDS[path.suffix], headers=headers)

    async def _missing(self, _: Request) -> Response:
        return _refuse("There is no such address.", 404)

    async def login(self, request: Request) -> Response:
        """Remember a key in a cookie that no script can read and no other site sends."""
        try:
            given = str((await _body(request)).get("key", ""))
        except BadInput as error:
            return _refuse(str(error))
        if not any(hmac.compare_digest(key.encode(), given.encode()) for key in self._keys):
            return _refuse("That is not a key of this server.", 401)
        answer = _json({"is_known": True})
        answer.set_cookie(
            COOKIE, quote(given), httponly=True, samesite="strict", secure=request.url.scheme == "https"
        )
        return answer

    @_answered
    async def setup(self, _: Request) -> Response:
        """What is configured, as far as a form needs it; asks nobody."""
        settings = self._settings
        example = await asyncio.to_thread(find_example, self._roots)
        has_model = settings.has_model
        return _json(
            {
                "version": version("fathom-research"),
                "model": settings.model_for("write") if has_model else "",
                "usual": settings.run.model_dump(mode="json"),
                "ceilings": settings.ceilings,
                "formats": _FORMATS,
                "example": example,
                "upload_bytes": MAX_UPLOAD_BYTES,
            }
        )

    @_answered
    async def diagnosis(self, _: Request) -> Response:
        """Everything that is configured or missing, in words."""
        found = await self.researcher.diagnose()
        return _json({"lines": found.lines, "can_keep_runs": found.can_keep_runs})

    @_answered
    async def folders(self, request: Request) -> Response:
        """Folders below the allowed roots."""
        place = request.query_params.get("path", "")
        return _json(await asyncio.to_thread(list_folder, self._roots, place))

    @_answered
    async def upload(self, request: Request) -> Response:
        """Keep one document; several of one visit go into one folder."""
        words = request.query_params
        path = await asyncio.to_thread(
            new_upload, self._uploads, words.get("folder", ""), words.get("name", "")
        )
        body = await _bytes(request, MAX_UPLOAD_BYTES)
        await asyncio.to_thread(path.write_bytes, body)
        return _json({"folder": path.parent.name, "path": str(path.parent), "name": path.name})

    @_answered
    async def forecast(self, request: Request) -> Response:
        """What a question would cost."""
        asked = await self._request(request)
        found = await self.researcher.forecast(asked)
        return _json(found)

    @_answered
    async def compare(self, request: Request) -> Response:
        """Two runs side by side."""
        words = request.query_params
        found = await self.researcher.compare(words.get("first", "-"), words.get("second", "-"))
        return _json(asdict(found))

    @_answered
    async def runs(self, request: Request) -> Response:
        """The latest runs, or those whose question has all words of `search`."""
        words = request.query_params.get("search", "").casefold().split()
        lines = await self.researcher.runs(500 if words else 60)
        found = [line for line in lines if all(word in line.question.casefold() for word in words)]
        return _json([_line(asdict(line)) for line in found[:60]])

    @_answered
    async def begin(self, request: Request) -> Response:
        """Begin a run."""
        return await self._begun(await self.researcher.begin(await self._request(request)))

    @_answered
    async def run(self, request: Request) -> Response:
        """Where a run stands: its line, its settings, and what is on the table."""
        run_id = request.path_params["run"]
        live = self._live.find(run_id)
        is_here = bool(live and live.is_working)
        line = await self._line(run_id, live)
        if live and (is_here or not line["started"]):
            config, table = live.session.config, None
        else:
            session = await self.researcher.session(run_id)
            config, table = session.config, session.waits_for
        return _json(
            {
                **line,
                "status": "running" if is_here else line["status"],
                "is_here": is_here,
                "problem": live.problem if live else "",
                "config": config.model_dump(mode="json"),
                "waits_for": table,
            }
        )

    @_answered
    async def events(self, request: Request) -> Response:
        """What the run tells, from the event after the last that was seen."""
        run_id = request.path_params["run"]
        live = self._live.find(run_id)
        folder: Path | None
        if live:
            folder = live.folder
        else:
            line = await self.researcher.run(run_id)
            run_id, folder = line.id, Path(line.folder) if line.folder else None
        if folder is None:
            raise BadInput("This run keeps no events; its report can be read.")
        given = request.headers.get("last-event-id") or request.query_params.get("after") or "0"
        seen = int(given) if given.isdecimal() and len(given) < 12 else 0
        return EventSourceResponse(self._live.stream(run_id, folder, seen), headers=SAFE)

    @_answered
    async def result(self, request: Request) -> Response:
        """The report with everything it stands on."""
        found = await self.researcher.result(request.path_params["run"])
        return Response(
            found.model_dump_json(),
            media_type="application/json",
            headers={**SAFE, "cache-control": "no-store"},
        )

    @_answered
    async def passage(self, request: Request) -> Response:
        """A quote in the words around it."""
        words = request.query_params
        start, end = words.get("start", ""), words.get("end", "")
        if not (start.isdecimal() and end.isdecimal()):
            raise BadInput("A passage has a start and an end.")
        found = await self.researcher.passage(
            request.path_params["run"], words.get("page", ""), int(start), int(end)
        )
        return _json(found)

    @_answered
    async def thread(self, request: Request) -> Response:
        """The questions before and after this one."""
        found = await self.researcher.thread(request.path_params["run"])
        return _json([{"id": query.id, "question": query.content} for query in found.queries])

    @_answered
    async def export(self, request: Request) -> Response:
        """The run as a file."""
        kind = request.path_params["kind"]
        if kind not in _FORMATS:
            raise BadInput(f"There is no format {kind[:20]!r}; there are {', '.join(_FORMATS)}.")
        folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="fathom-"))
        path = folder / f"report.{kind}"
        try:
            run_id = await self.researcher.export(request.path_params["run"], path)
        except FathomError:
            await asyncio.to_thread(shutil.rmtree, folder)
            raise
        cleaning = BackgroundTask(asyncio.to_thread, shutil.rmtree, folder)
        name = f"fathom-{run_id[:8]}.{kind}"
        headers = {**SAFE, "content-disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
        return FileResponse(path, headers=headers, background=cleaning)

    @_answered
    async def answer(self, request: Request) -> Response:
        """Answer a plan, or have a run that stands go on; without an action it just goes on."""
        given = await _body(request)
        answer = ReviewAnswer.model_validate(given) if given else None
        await self._live.resume(await self._full(request), answer)
        return _json({"is_heard": True})

    @_answered
    async def control(self, request: Request) -> Response:
        """Pause a run, end its search, or add a query; wherever it works."""
        given, run_id = await _body(request), await self._full(request)
        word, text = given.get("word"), given.get("text", "")
        if word not in ("pause", "stop", "add") or not isinstance(text, str):
            raise BadInput("A run can be told: pause, stop, or add with a text.")
        if word == "add" and not text.strip():
            raise BadInput("The query is empty.")
        live = self._live.find(run_id)
        if live and live.is_working:
            await live.session.signal(word, text.strip())
            return _json({"is_heard": True})
        line = await self.researcher.run(run_id)
        if word == "stop" and line.status != "running":
            await self._live.resume(run_id, ReviewAnswer(action="finish"))
        else:
            await self.researcher.control(run_id, word, text.strip())
        return _json({"is_heard": True})

    @_answered
    async def follow_up(self, request: Request) -> Response:
        """Ask on in the thread of a finished run."""
        asked = await self._request(request)
        return await self._begun(await self.researcher.ask(request.path_params["run"], asked))

    @_answered
    async def update(self, request: Request) -> Response:
        """Bring a finished report up to date."""
        return await self._begun(await self.researcher.begin_update(request.path_params["run"]))

    @_answered
    async def fork(self, request: Request) -> Response:
        """Go another way from the end of a round."""
        given = await _body(request)
        direction, number = given.get("direction"), given.get("after_round")
        if not isinstance(direction, str) or not direction.strip():
            raise BadInput("Say in words where to look instead.")
        if number is not None and not isinstance(number, int):
            raise BadInput("A round is a number.")
        session = await self.researcher.begin_fork(
            request.path_params["run"], direction.strip(), after_round=number
        )
        return await self._begun(session)

    async def _begun(self, session: "Session") -> Response:
        await self._live.work(session)
        return _json({"id": session.id})

    async def _full(self, request: Request) -> str:
        """The full id of the run that is meant."""
        given = str(request.path_params["run"])
        return given if self._live.find(given) else (await self.researcher.run(given)).id

    async def _line(self, run_id: str, live: LiveRun | None) -> dict[str, Any]:
        """The run as the list has it; between its beginning and its first checkpoint only we know of it."""
        try:
            return _line(asdict(await self.researcher.run(run_id)))
        except BadInput:
            if live is None:
                raise
        question = live.session.question
        return {"id": run_id, "status": "stopped", "question": question, "started": "", "has_events": True}

    async def _request(self, request: Request) -> ResearchRequest:
        """The question and the settings of a form, within what the operator allows."""
        given = await _body(request)
        config = given.get("config", {})
        if not isinstance(config, dict):
            raise BadInput("The config of a request is an object.")
        if other := [name for name in config if name not in _SETTABLE]:
            raise BadInput(f"The page cannot set {str(other[0])[:40]!r}.")
        words = {name: value for name, value in config.items() if value is not None}
        asked = ResearchRequest(query=given.get("query", ""), **words)
        await asyncio.to_thread(refuse_unnamed, self._settings, asked.run_config(self._settings.run))
        return asked


def _line(told: dict[str, Any]) -> dict[str, Any]:
    """A run as the page lists it: where its folder is, is not the browser's business."""
    return {name: value for name, value in told.items() if name != "folder"} | {
        "has_events": bool(told.get("folder"))
    }


async def _bytes(request: Request, most: int) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise BadInput(f"That is larger than {most:,} bytes.")
    return bytes(body)


async def _body(request: Request) -> dict[str, Any]:
    """The body, which is an object or nothing."""
    body = await _bytes(request, _MAX_BODY_BYTES)
    try:
        given = json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError):
        raise BadInput("The body is not JSON.") from None
    if not isinstance(given, dict):
        raise BadInput("The body is not an object.")
    return given


def redirect(_: Request) -> Response:
    """To the page's own folder, so that its relative addresses work."""
    return RedirectResponse("app/", 307, SAFE)
