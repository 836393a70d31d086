"""Verify a report again, against the stored pages or the live ones.

Nothing in the file is trusted: only folders of a run of our own are read again, and pages of the web only
through the guard.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from fathom.errors import BadInput, ProviderError, Unreadable
from fathom.evidence.checks.derivation import Passage
from fathom.evidence.claims import LivePage, QuoteStatus, check_stored_quote
from fathom.evidence.grounding import load_passages
from fathom.graph.dependencies import standard_dependencies
from fathom.reading import Reader, hit_for_page
from fathom.report.ledger import Ledger, read_ledger
from fathom.report.verify import Verification, cited_quotes, verify_report
from fathom.runs.executor import open_runs
from fathom.settings import Settings
from fathom.state import Page, Quote, RunConfig
from fathom.storage import STORAGE_ERRORS, database_exists, open_storage
from fathom.storage.records import DamagedRecord

_AT_ONCE = 10
_DAMAGED = "\0"  # no page's text: its hash is another


async def verify_again(
    settings: Settings, report: Path | Ledger, *, is_online: bool = False, docs: Sequence[str] = ()
) -> Verification:
    """Check every sentence, quote, position and page of a report.json, and the report.md beside it."""
    if isinstance(report, Path):
        ledger = await asyncio.to_thread(read_ledger, report)
        beside = await asyncio.to_thread(_read_beside, report)
    else:
        ledger, beside = report, None
    texts = await stored_texts(ledger, settings)
    if is_online:
        run_config = RunConfig(docs=[*docs, *await _own_folders(ledger, settings)], fresh=True)
        make = standard_dependencies(settings.with_allowed(run_config))
        fates = await live_fates(ledger, (await asyncio.to_thread(make, run_config)).reader)
    else:
        fates = stored_fates(ledger, texts)
    evidence = await _evidence(ledger, texts)
    return verify_report(ledger, lambda quote: fates[quote.model_dump_json()], beside, evidence)


def _read_beside(path: Path) -> str | None:
    """The report.md in the same folder, if the file is called as a run calls it."""
    other = path.with_name("report.md")
    if path.name != "report.json" or not other.is_file():
        return None
    try:
        return other.read_text("utf-8", "replace")
    except OSError as error:
        raise BadInput(f"{other} cannot be read: {error.strerror}.") from None


async def _own_folders(ledger: Ledger, settings: Settings) -> list[str]:
    """The folders of the run that wrote the report, as our own database remembers them."""
    if not database_exists(settings.database):
        return []
    async with open_runs(settings) as runs:
        run_config = (await runs.snapshot(ledger.run_id)).values.get("run_config")
    return list(getattr(run_config, "docs", []))


async def stored_texts(ledger: Ledger, settings: Settings) -> dict[str, str]:
    """The texts of the cited pages that the database still has, by hash; a damaged one is no page's text."""
    kept = open_storage(settings.database).pages
    texts: dict[str, str] = {}
    for sha in {quote.page for quote in cited_quotes(ledger)} if database_exists(settings.database) else ():
        try:
            texts[sha] = await kept.get(sha)
        except Unreadable:
            continue
        except DamagedRecord:
            texts[sha] = _DAMAGED
        except STORAGE_ERRORS as error:
            raise BadInput(f"The database {settings.database} cannot be read: {error}.") from error
    return texts


def stored_fates(ledger: Ledger, texts: Mapping[str, str]) -> dict[str, QuoteStatus]:
    """The fate of every quote in the texts of the database."""
    return {q.model_dump_json(): check_stored_quote(q, texts.get(q.page)) for q in cited_quotes(ledger)}


async def _evidence(ledger: Ledger, texts: dict[str, str]) -> dict[str, Passage]:
    """Return the quotes of each claim, with context where the page's text is stored."""

    async def get(sha: str) -> str:
        return texts[sha]

    known = [c for c in ledger.claims if all(texts.get(q.page, _DAMAGED) != _DAMAGED for q in c.quotes)]
    return await load_passages(known, ledger.sources, get)


async def live_fates(ledger: Ledger, reader: Reader) -> dict[str, QuoteStatus]:
    """The fate of every quote in the pages as they are today."""
    quotes: dict[str, list[Quote]] = {}
    for quote in cited_quotes(ledger):
        quotes.setdefault(quote.page, []).append(quote)
    places = {page.sha: page for page in ledger.sources}
    turns = asyncio.Semaphore(_AT_ONCE)

    async def fates_in(sha: str) -> dict[str, QuoteStatus]:
        async with turns:
            live = await _live(places.get(sha), reader)
        found = [(q, live if isinstance(live, QuoteStatus) else live.fate(q)) for q in quotes[sha]]
        return {quote.model_dump_json(): fate for quote, fate in found}

    every = await asyncio.gather(*(fates_in(sha) for sha in quotes))
    return {name: fate for fates in every for name, fate in fates.items()}


async def _live(page: Page | None, reader: Reader) -> LivePage | QuoteStatus:
    if page is None:
        return QuoteStatus("gone", "its page is not among the sources")
    try:
        document = await reader(hit_for_page(page))
    except ProviderError as error:
        return QuoteStatus("gone", f"{error}")
    if page.how == "pdf" and document.how != "pdf":
        return QuoteStatus("gone", "only another form of it can be read now")
    return await asyncio.to_thread(LivePage, page.sha, document.text)
