"""Look elsewhere for statements that their own sources do not carry, and offer what is found."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from fathom.audit.passages import SourcePassages
from fathom.audit.records import AuditVerdict, Correction, ReportStatement
from fathom.audit.sources import read_hit
from fathom.audit.verifier import AuditLog
from fathom.errors import ProviderError
from fathom.nodes.ports import EnginesPort
from fathom.reading.protocol import Reader
from fathom.state import Failure, Hit, Query

_HITS = 3
_MOST_CHARS = 300

Verify = Callable[[Sequence[ReportStatement], dict[str, SourcePassages]], Awaitable[list[AuditVerdict]]]


async def find_corrections(
    statements: Sequence[ReportStatement],
    engines: EnginesPort,
    reader: Reader,
    verify: Verify,
    log: AuditLog,
) -> dict[str, Correction]:
    """Search for each statement, read the best hits, and return what supports or contradicts it, by id."""
    hits = await asyncio.gather(*(_search(one, engines, log) for one in statements))
    wanted = {hit.address: hit for found in hits for hit in found}
    texts = await asyncio.gather(*(read_hit(reader, hit) for hit in wanted.values()))
    passages = {
        address: SourcePassages(text)
        for address, text in zip(wanted, texts, strict=True)
        if text and text.page
    }
    asked = [
        one.model_copy(update={"cites": keys})
        for one, found in zip(statements, hits, strict=True)
        if (keys := [hit.address for hit in found if hit.address in passages])
    ]
    corrections = {}
    for verdict in await verify(asked, passages):
        if verdict.quote is None or verdict.verdict not in {"supported", "contradicted"}:
            continue
        page = passages[verdict.source].page
        corrections[verdict.statement] = Correction(
            verdict="supported" if verdict.verdict == "supported" else "contradicted",
            title=page.title,
            address=page.address,
            quote=verdict.quote,
        )
    return corrections


async def _search(statement: ReportStatement, engines: EnginesPort, log: AuditLog) -> list[Hit]:
    query = Query(id=statement.id, text=statement.text[:_MOST_CHARS], question="", round=1)
    try:
        found = await engines.search(query, limit=_HITS)
    except ProviderError as error:
        log.failures.append(Failure(where="search", what=query.text, why=str(error)))
        log.costs += error.costs
        return []
    log.failures += found.failures
    log.costs += found.costs
    return found.hits[:_HITS]
