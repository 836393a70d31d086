"""Extractor node: fetch one search hit as a page."""

from fathom.errors import ProviderError
from fathom.evidence.sources import find_origins
from fathom.http.urls import short_name
from fathom.nodes.ports import Clock, PagesPort
from fathom.reading import Reader
from fathom.state import Page, Reading
from fathom.text.similarity import make_sketch_async


async def extractor(state: Reading, *, reader: Reader, pages: PagesPort, clock: Clock) -> Reading:
    """Read one source and store its text. A source that cannot be read is recorded as a failure.

    Reads:  hit, round
    Writes: pages, failures
    """
    hit = state["hit"]
    try:
        document = await reader(hit)
    except ProviderError as error:
        return {"failures": [error.failure("reading", hit.address)]}
    page = Page(
        sha=await pages.put(document.text),
        address=hit.address,
        title=document.title or hit.title or short_name(hit.address),
        how=document.how,
        chars=len(document.text),
        fetched=document.fetched or clock().isoformat(timespec="seconds"),
        published=document.published or hit.published,
        author=document.author or ", ".join(hit.authors[:3]) or None,
        publisher=document.publisher,
        doi=hit.doi,
        cited_by=hit.cited_by,
        pdf=hit.pdf,
        engine=hit.engine,
        round=state.get("round", 0),
        abstract=hit.abstract,
        retracted=hit.retracted,
        linked=hit.linked,
        image=hit.image,
        sketch=await make_sketch_async(document.text),
        starts=list(document.pages),
        origins=find_origins(document.text, document.links),
    )
    return {"pages": [page]}
