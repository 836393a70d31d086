"""The requests about one run: where it stands, what it tells, what it found, and how to steer or hand it on.

Does not know the page's files. All is answered by the public facade.
"""

import asyncio
import json
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sse_starlette import EventSourceResponse
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from fathom.errors import BadInput, FathomError
from fathom.report.formats.chart import PlacedChart, draw_chart, place_charts
from fathom.report.rerender import prepare_any
from fathom.request import ResearchRequest
from fathom.researcher import DeepResearcher
from fathom.result import ResearchResult
from fathom.state import ReviewAnswer
from fathom.storage.files import replace_file
from fathom.text.normalization import one_line
from fathom.web.live import LiveRun, LiveRuns
from fathom.web.protection import SAFE, json_reply, read_body

if TYPE_CHECKING:
    from fathom.session import Session

FORMATS = {
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

MOST_TAGS, _LONGEST = 20, 40
ReadRequest = Callable[[Request], Awaitable[ResearchRequest]]


class RunTags:
    """The tags of every run, by its full id, in one small file that is replaced whole."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, Lock()

    def read(self) -> dict[str, list[str]]:
        """Return all tags; a file that somebody else wrote counts as none."""
        try:
            told: Any = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        given = told if isinstance(told, dict) else {}
        return {run: [str(tag) for tag in tags] for run, tags in given.items() if isinstance(tags, list)}

    def write(self, run: str, tags: object) -> list[str]:
        """Replace the tags of one run; return them as they are kept."""
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise BadInput("Tags are a list of words.")
        kept = list(dict.fromkeys(word for tag in tags if (word := one_line(tag).strip(" #,"))))
        if len(kept) > MOST_TAGS or any(len(tag) > _LONGEST for tag in kept):
            raise BadInput(f"A run has at most {MOST_TAGS} tags of at most {_LONGEST} letters.")
        with self._lock:
            every = {**self.read(), run: kept}
            told = {run: tags for run, tags in every.items() if tags}
            replace_file(self._path, json.dumps(told, ensure_ascii=False))
        return kept


class RunRequests:
    """Answers requests about runs of one database."""

    def __init__(
        self, researcher: DeepResearcher, live: LiveRuns, tags: RunTags, read_request: ReadRequest
    ) -> None:
        self._researcher, self._live, self._tags, self._read = researcher, live, tags, read_request

    async def list_latest(self, request: Request) -> Response:
        """The latest runs, or those whose question or tags have all words of `search`."""
        words = request.query_params.get("search", "").casefold().split()
        tags = await asyncio.to_thread(self._tags.read)
        found = []
        for line in await self._researcher.runs(500 if words else 60):
            own = tags.get(line.id, [])
            told = " ".join([line.question, *(f"#{tag}" for tag in own)]).casefold()
            if all(word in told for word in words):
                found.append(_describe_line(asdict(line), own))
        return json_reply(found[:60])

    async def show(self, request: Request) -> Response:
        """Where a run stands: its line, its settings, and what is on the table."""
        run_id = request.path_params["run"]
        live = self._live.find(run_id)
        is_here = bool(live and live.is_working)
        line = await self._line(run_id, live)
        if live and (is_here or not line["started"]):
            config, table = live.session.config, None
        else:
            session = await self._researcher.session(run_id)
            config, table = session.config, session.waits_for
        return json_reply(
            {
                **line,
                "status": "running" if is_here else line["status"],
                "is_here": is_here,
                "problem": live.problem if live else "",
                "config": config.model_dump(mode="json"),
                "waits_for": table,
            }
        )

    async def events(self, request: Request) -> Response:
        """What the run tells, from the event after the last that was seen."""
        run_id = request.path_params["run"]
        live = self._live.find(run_id)
        folder: Path | None
        if live:
            folder = live.folder
        else:
            line = await self._researcher.run(run_id)
            run_id, folder = line.id, Path(line.folder) if line.folder else None
        if folder is None and not self._researcher.shared_events:
            raise BadInput("This run keeps no events; its report can be read.")
        given = request.headers.get("last-event-id") or request.query_params.get("after") or "0"
        seen = int(given) if given.isdecimal() and len(given) < 12 else 0
        return EventSourceResponse(self._live.stream(run_id, folder, seen), headers=SAFE)

    async def result(self, request: Request) -> Response:
        """The report with everything it stands on."""
        found = await self._researcher.result(request.path_params["run"])
        return json_reply(await asyncio.to_thread(describe_result, found))

    async def chart(self, request: Request) -> Response:
        """One chart of the report as a picture, for a wide or narrow window, in the light or dark."""
        found = await self._researcher.result(request.path_params["run"])
        charts = place_charts(await asyncio.to_thread(prepare_any, found))
        number = request.path_params["number"]
        if number >= len(charts):
            raise BadInput("The report has no such chart.")
        words = request.query_params
        drawn = draw_chart(charts[number].chart, is_narrow="narrow" in words, is_dark="dark" in words)
        return Response(drawn, media_type="image/svg+xml", headers=SAFE)

    async def passage(self, request: Request) -> Response:
        """A quote in the words around it."""
        words = request.query_params
        start, end = words.get("start", ""), words.get("end", "")
        if not (start.isdecimal() and end.isdecimal()):
            raise BadInput("A passage has a start and an end.")
        found = await self._researcher.passage(
            request.path_params["run"], words.get("page", ""), int(start), int(end)
        )
        return json_reply(found)

    async def thread(self, request: Request) -> Response:
        """The questions before and after this one."""
        found = await self._researcher.thread(request.path_params["run"])
        return json_reply([{"id": query.id, "question": query.content} for query in found.queries])

    async def export(self, request: Request) -> Response:
        """The run as a file."""
        kind = request.path_params["kind"]
        if kind not in FORMATS:
            raise BadInput(f"There is no format {kind[:20]!r}; there are {', '.join(FORMATS)}.")
        folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="fathom-"))
        path = folder / f"report.{kind}"
        try:
            run_id = await self._researcher.export(request.path_params["run"], path)
        except FathomError:
            await asyncio.to_thread(shutil.rmtree, folder)
            raise
        cleaning = BackgroundTask(asyncio.to_thread, shutil.rmtree, folder)
        name = f"fathom-{run_id[:8]}.{kind}"
        headers = {**SAFE, "content-disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
        return FileResponse(path, headers=headers, background=cleaning)

    async def tag(self, request: Request) -> Response:
        """Replace the tags of a run."""
        given, run_id = await read_body(request), await self._full(request)
        return json_reply({"tags": await asyncio.to_thread(self._tags.write, run_id, given.get("tags"))})

    async def begin(self, request: Request) -> Response:
        """Begin a run."""
        return await self._begun(await self._researcher.begin(await self._read(request)))

    async def begin_demo(self, request: Request) -> Response:
        """Begin the demo."""
        language = (await read_body(request)).get("language", "en")
        return await self._begun(await self._researcher.begin_demo(str(language)[:20]))

    async def answer(self, request: Request) -> Response:
        """Answer a plan, or have a run that stands go on; without an action it just goes on."""
        given = await read_body(request)
        answer = ReviewAnswer.model_validate(given) if given else None
        await self._live.resume(await self._full(request), answer)
        return json_reply({"is_heard": True})

    async def control(self, request: Request) -> Response:
        """Pause a run, end its search, or add a query; wherever it works."""
        given, run_id = await read_body(request), await self._full(request)
        word, text = given.get("word"), given.get("text", "")
        if word not in ("pause", "stop", "add") or not isinstance(text, str):
            raise BadInput("The order must be pause, stop, or add with a query.")
        if word == "add" and not text.strip():
            raise BadInput("The query is empty.")
        live = self._live.find(run_id)
        if live and live.is_working:
            await live.session.signal(word, text.strip())
            return json_reply({"is_heard": True})
        line = await self._researcher.run(run_id)
        if word == "stop" and line.status != "running":
            await self._live.resume(run_id, ReviewAnswer(action="finish"))
        else:
            await self._researcher.control(run_id, word, text.strip())
        return json_reply({"is_heard": True})

    async def follow_up(self, request: Request) -> Response:
        """Ask on in the thread of a finished run."""
        asked = await self._read(request)
        return await self._begun(await self._researcher.ask(request.path_params["run"], asked))

    async def update(self, request: Request) -> Response:
        """Bring a finished report up to date."""
        return await self._begun(await self._researcher.begin_update(request.path_params["run"]))

    async def fork(self, request: Request) -> Response:
        """Go another way from the end of a round."""
        given = await read_body(request)
        direction, number = given.get("direction"), given.get("after_round")
        if not isinstance(direction, str) or not direction.strip():
            raise BadInput("Say in words where to look instead.")
        if number is not None and not isinstance(number, int):
            raise BadInput("A round is a number.")
        session = await self._researcher.begin_fork(
            request.path_params["run"], direction.strip(), after_round=number
        )
        return await self._begun(session)

    async def _begun(self, session: "Session") -> Response:
        await self._live.work(session)
        return json_reply({"id": session.id})

    async def _full(self, request: Request) -> str:
        """The full id of the run that is meant."""
        given = str(request.path_params["run"])
        return given if self._live.find(given) else (await self._researcher.run(given)).id

    async def _line(self, run_id: str, live: LiveRun | None) -> dict[str, Any]:
        """The run as the list has it; between its beginning and its first checkpoint only we know of it."""
        tags = (await asyncio.to_thread(self._tags.read)).get(run_id, [])
        try:
            return _describe_line(asdict(await self._researcher.run(run_id)), tags)
        except BadInput:
            if live is None:
                raise
        told = {"id": run_id, "status": "stopped", "question": live.session.question, "started": ""}
        return {**told, "has_events": True, "tags": tags}


def _describe_line(told: dict[str, Any], tags: list[str]) -> dict[str, Any]:
    """A run as the page lists it: where its folder is, is not the browser's business."""
    shown = {name: value for name, value in told.items() if name != "folder"}
    return shown | {"has_events": bool(told.get("folder")), "tags": tags}


def describe_result(found: ResearchResult) -> dict[str, Any]:
    """A result as the page reads it: where its charts go, and where the sign of an inference stands.

    `signs` names a part, `part/place of the sentence`, or `part:place of the table:column`.
    """
    report = prepare_any(found)
    signs = [part.id for part in report.sections if report.is_inference_at(part)]
    for part in report.sections:
        signs += [f"{part.id}/{n}" for n, one in enumerate(part.sentences) if report.is_inference_at(one)]
        signs += [
            f"{part.id}:{place}:{column}"
            for place, block in enumerate(part.blocks)
            for column in range(len(block.columns))
            if report.is_inferred_column(block, column)
        ]
    charts = [_describe_chart(one) for one in place_charts(report)]
    return {**found.model_dump(mode="json"), "charts": charts, "signs": signs}


def _describe_chart(placed: PlacedChart) -> dict[str, Any]:
    chart = placed.chart
    told = {"title": chart.title, "description": chart.description, "cited": chart.cited}
    return {"section": placed.section, "block": placed.block, **told}
