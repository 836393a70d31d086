"""Watched reports: updated on a schedule, with a digest of the changes.

Two processes that check at the same time do not make the same update twice.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

from fathom.errors import BadInput, FathomError
from fathom.http.client import BodyTooLarge, send_request
from fathom.result import ResearchResult
from fathom.runs.prune import parse_age
from fathom.state import Change, short_id
from fathom.storage import STORAGE_ERRORS, Storage
from fathom.storage.records import Watch

DIGEST_FILE = "digest.md"
_SHORTEST_S = 3600.0
_RETRY_S = 3600.0  # an update that failed is tried again after this, or at the usual time if that is sooner
_WEBHOOK_S = 20.0
_LOOK_EVERY_S = 60.0
_MAX_ANSWER_BYTES = 100_000
_AWAY: tuple[type[Exception], ...] = (FathomError, OSError, *STORAGE_ERRORS)
_log = logging.getLogger(__name__)
Update = Callable[[Watch], Awaitable[tuple[ResearchResult, Path | None]]]


@dataclass(frozen=True)
class WatchOutcome:
    """One update of a watched report: its result, or why there is none."""

    watch: Watch
    digest: str = ""
    result: ResearchResult | None = None


def make_watch(run: str, every: str, webhook: str, allowed_hosts: Sequence[str], now: float) -> Watch:
    """Return a new watch, first due after its interval; raise BadInput if the operator does not allow it."""
    every_s = parse_age(every)
    if every_s < _SHORTEST_S:
        raise BadInput("A report can be watched every hour (1h) at most.")
    if webhook:
        parts = urlsplit(webhook)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadInput(f"{webhook[:80]!r} is not an address of a webhook.")
        if parts.hostname not in allowed_hosts:
            raise BadInput(f"{parts.hostname} was not allowed by the operator (FATHOM_WEBHOOK_HOSTS).")
    return Watch(run=run, latest=run, every_s=every_s, due=now + every_s, webhook=webhook)


async def run_due(
    storage: Storage, update: Update, now: Callable[[], float], allowed_hosts: Sequence[str]
) -> AsyncIterator[WatchOutcome]:
    """Update every report that is due, one after another, and yield the outcomes."""
    for due in [watch for watch in await storage.watches.every() if watch.due <= now()]:
        lock = await storage.locks.acquire(f"watch-{due.run}")
        if lock is None:
            continue  # another process updates it
        try:
            current = next((watch for watch in await storage.watches.every() if watch.run == due.run), None)
            if current and current.due <= now():
                yield await _update(storage, current, update, now, allowed_hosts)
        finally:
            await lock.release()


async def keep_watching(run_watches: Callable[[], Awaitable[Sequence[WatchOutcome]]]) -> None:
    """Check every minute for reports that are due, until cancelled; retries an unreachable database."""
    while True:
        try:
            for outcome in await run_watches():
                _log.info("Watched run %s: %s", outcome.watch.run, outcome.watch.problem or "updated")
        except _AWAY as error:
            _log.warning("Watched reports could not be looked at: %s", type(error).__name__)
        await asyncio.sleep(_LOOK_EVERY_S)


async def _update(
    storage: Storage, watch: Watch, update: Update, now: Callable[[], float], allowed_hosts: Sequence[str]
) -> WatchOutcome:
    try:
        result, folder = await update(watch)
    except FathomError as error:
        failed = replace(watch, due=now() + min(_RETRY_S, watch.every_s), problem=str(error))
        await storage.watches.settle(watch.run, failed.latest, failed.due, failed.problem)
        return WatchOutcome(failed)
    done = replace(watch, latest=result.run_id, due=now() + watch.every_s, problem="")
    await storage.watches.settle(
        watch.run, done.latest, done.due, ""
    )  # it is paid for, even if the webhook fails
    digest = make_digest(result)
    problem = await asyncio.to_thread(_write_digest, folder, digest) if folder else ""
    if watch.webhook:
        problem = await _tell(watch, result, digest, allowed_hosts) or problem
    if problem:
        await storage.watches.settle(watch.run, done.latest, done.due, problem)
    return WatchOutcome(replace(done, problem=problem), digest, result)


def _write_digest(folder: Path, digest: str) -> str:
    try:
        (folder / DIGEST_FILE).write_text(digest, "utf-8")
    except OSError as error:
        return f"{folder / DIGEST_FILE} cannot be written: {error.strerror or error}."
    return ""


def make_digest(result: ResearchResult) -> str:
    """Return the changes since the last update as Markdown: pages, claims and parts of the report."""
    changes = [change for change in (result.update.changes if result.update else []) if _is_told(change)]
    since = result.update.since if result.update else ""
    lines = [f"# What changed since {since}", "", result.question, ""]
    lines += [
        f"- {change.kind}: {change.what}" + (f" ({change.why})" if change.why else "") for change in changes
    ]
    if not changes:
        lines.append("Nothing changed.")
    return "\n".join([*lines, "", f"The whole report: fathom show {short_id(result.run_id)}", ""])


def _is_told(change: Change) -> bool:
    return change.kind != "section untouched"


async def _tell(watch: Watch, result: ResearchResult, digest: str, allowed_hosts: Sequence[str]) -> str:
    """Post the digest to the webhook; return the error, if any."""
    host = urlsplit(watch.webhook).hostname
    if host not in allowed_hosts:
        return f"{host} is no longer allowed (FATHOM_WEBHOOK_HOSTS)."
    changes = [change.model_dump() for change in (result.update.changes if result.update else [])]
    told = {"run_id": result.run_id, "watched": watch.run, "question": result.question}
    body = json.dumps({**told, "digest": digest, "changes": changes}, ensure_ascii=False).encode()
    headers = {"content-type": "application/json"}
    try:
        async with asyncio.timeout(_WEBHOOK_S):
            answer = await send_request(
                "POST", watch.webhook, max_bytes=_MAX_ANSWER_BYTES, content=body, headers=headers
            )
    except (httpx2.HTTPError, FathomError, BodyTooLarge, TimeoutError) as error:
        return f"The webhook could not be reached ({type(error).__name__})."
    return "" if answer.is_success else f"The webhook answered {answer.status_code}."
