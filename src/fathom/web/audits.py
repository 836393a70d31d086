"""Audits of the page: somebody's report against what it cites, in the background, and its requests.

Does not know how anything is decided. Whoever asks over the network names an address of the web, which is
fetched behind the guard, or a file below the allowed folders; results are kept in a folder for each audit.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit
from uuid import uuid4

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from fathom.audit import AuditEvent, AuditResult, render_html, summarize
from fathom.audit.auditor import MAX_REPORT_BYTES, AuditRequest
from fathom.errors import BadInput
from fathom.researcher import DeepResearcher
from fathom.state import RunConfig
from fathom.web.live import LiveWork, leave_work
from fathom.web.protection import SAFE, json_reply, read_body

RESULT_FILE = "audit.json"
FORMS = {"html": "text/html", "json": "application/json"}
_ID = re.compile(r"[0-9a-f]{12}")
ConfigReader = Callable[[dict[str, Any]], Awaitable[RunConfig]]


@dataclass(kw_only=True)
class LiveAudit(LiveWork):
    """An audit that this server works on."""

    advice: ClassVar[str] = "begin the audit again"
    cancelled: ClassVar[str] = "The audit was stopped; begin it again to go on, nothing is paid for twice."

    last: AuditEvent | None = None


class AuditRequests:
    """Works on audits in the background, and answers for them."""

    def __init__(
        self, researcher: DeepResearcher, folders: Path, roots: Sequence[Path], read_config: ConfigReader
    ) -> None:
        self._researcher, self._folders, self._roots = researcher, folders, roots
        self._read_config = read_config
        self._live: dict[str, LiveAudit] = {}

    async def forecast(self, request: Request) -> Response:
        """What an audit would cost; the report is read, its sources are not."""
        return json_reply(await self._researcher.forecast_audit(await self._read(request)))

    async def begin(self, request: Request) -> Response:
        """Begin an audit."""
        asked, name, live = await self._read(request), uuid4().hex[:12], LiveAudit()
        self._live[name] = live
        live.start(self._work(live, self._folders / name / RESULT_FILE, asked))
        return json_reply({"id": name})

    async def show(self, request: Request) -> Response:
        """How far an audit is, and its result; the summary is in the language of whoever reads it."""
        name = request.path_params["audit"]
        live, result = self._live.get(name), await self._find(name)
        language = request.query_params.get("language", "")
        told: dict[str, Any] = {"is_working": bool(live and live.is_working)}
        told |= {"problem": live.problem if live else "", "last": None, "result": result, "summary": []}
        if live and live.last:
            told["last"] = live.last.model_dump(exclude={"result"})
        if result:
            known = language if language in ("en", "ko") else result.language
            told["summary"] = summarize(result.model_copy(update={"language": known})).split("\n")
            told["counts"] = result.counts
        return json_reply(told)

    async def stop(self, request: Request) -> Response:
        """Stop an audit; the same one again pays for nothing twice."""
        live = self._live.get(request.path_params["audit"])
        if not live or not live.is_working or live.task is None:
            raise BadInput("Nobody works on this audit here.")
        live.task.cancel()
        return json_reply({"is_heard": True})

    async def export(self, request: Request) -> Response:
        """The audit as a file."""
        name, kind = request.path_params["audit"], request.path_params["kind"]
        if kind not in FORMS:
            raise BadInput(f"There is no format {kind[:20]!r}; there are {', '.join(FORMS)}.")
        result = await self._find(name)
        if result is None:
            raise BadInput("This audit is not finished.")
        text = render_html(result) if kind == "html" else result.model_dump_json(indent=2)
        file = quote(f"fathom-audit-{name}.{kind}")
        headers = {**SAFE, "content-disposition": f"attachment; filename*=UTF-8''{file}"}
        return Response(text, media_type=FORMS[kind], headers=headers)

    async def close(self) -> None:
        """Leave every audit."""
        await leave_work(self._live.values(), patience_s=0)

    async def _read(self, request: Request) -> AuditRequest:
        """The report of a form: its text, an address of the web, or a file below the allowed folders."""
        given = await read_body(request)
        text, place = given.get("text", ""), given.get("report", "")
        if not isinstance(text, str) or not isinstance(place, str) or bool(text.strip()) == bool(place):
            raise BadInput("An audit has the text of a report, or its address.")
        config = await self._read_config(given)
        is_searched = given.get("is_searched") is True
        if text.strip():
            body, place = text.encode("utf-8", "replace"), "-"
        elif _is_web_address(place):
            return AuditRequest(report=place, is_searched=is_searched, run_config=config)
        else:
            body, place = await asyncio.to_thread(_read_file, self._roots, place)
        return AuditRequest(report=place, body=body, is_searched=is_searched, run_config=config)

    async def _work(self, live: LiveAudit, path: Path, asked: AuditRequest) -> None:
        async for event in self._researcher.stream_audit(asked):
            if event.result:
                path.parent.mkdir(parents=True, exist_ok=True)
                await asyncio.to_thread(path.write_text, event.result.model_dump_json(), "utf-8")
            live.last = event

    async def _find(self, name: str) -> AuditResult | None:
        """The result, or None while it is not there; BadInput if nobody knows the audit."""
        if _ID.fullmatch(name):
            try:
                text = await asyncio.to_thread((self._folders / name / RESULT_FILE).read_text, "utf-8")
                return AuditResult.model_validate_json(text)
            except (OSError, ValidationError):
                if name in self._live:
                    return None
        raise BadInput("There is no audit of this id.")


def _is_web_address(place: str) -> bool:
    try:
        return urlsplit(place).scheme in {"http", "https"}
    except ValueError:
        return False


def _read_file(roots: Sequence[Path], place: str) -> tuple[bytes, str]:
    """The bytes and the name of a file below the roots; whatever leads out of them is refused."""
    try:
        path = Path(place).expanduser().resolve()
        if not any(path.is_relative_to(root.expanduser().resolve()) for root in roots):
            raise BadInput(f"{place[:200]} is outside the folders that may be read (FATHOM_DOCS_ROOTS).")
        with path.open("rb") as file:
            return file.read(MAX_REPORT_BYTES + 1), path.name
    except (OSError, RuntimeError, ValueError):
        raise BadInput(f"{place[:200]!r} cannot be read.") from None
