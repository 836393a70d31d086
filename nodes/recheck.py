"""The recheck: how an update begins, with every page and every query of the earlier run once more."""

from fathom.nodes.ports import PageLeases
from fathom.search.addresses import canonical
from fathom.state import Query, ResearchState, RunConfig


async def recheck(state: ResearchState, *, run_config: RunConfig, page_leases: PageLeases) -> ResearchState:
    """Ask the earlier queries again for what is new since; nobody has to plan or think for that.

    What was found before is not new, and what was read is read again beside what the queries find.

    Reads:  earlier
    Writes: run_config, run, questions, asked, judgements, rulings, outline, sections, queries,
            visited, offered
    """
    earlier = state["earlier"]
    number = len(earlier.judgements) + 1
    texts = {query.text: query.question for query in earlier.asked}
    outlined: ResearchState = {"outline": earlier.outline} if earlier.outline else {}
    return {
        **outlined,
        "run_config": run_config,
        "run": await page_leases.begin(),
        "questions": earlier.questions,
        "asked": earlier.asked,
        "judgements": earlier.judgements,
        "rulings": earlier.rulings,
        "sections": earlier.sections,
        "queries": [
            Query(id=f"r{number}q{place}", text=text, question=question, round=number)
            for place, (text, question) in enumerate(texts.items(), start=1)
        ],
        "visited": [*(canonical(page.address) for page in earlier.pages), *earlier.offered],
        "offered": earlier.offered,
    }
