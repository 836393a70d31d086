"""The recheck: how an update begins, with every page and every query of the earlier run once more."""

from fathom.nodes.ports import Commons
from fathom.search.addresses import canonical
from fathom.state import Knobs, Query, ResearchState


async def recheck(state: ResearchState, *, knobs: Knobs, commons: Commons) -> ResearchState:
    """Ask the earlier queries again for what is new since; nobody has to plan or think for that.

    What was found before is not new, and what was read is read again beside what the queries find.

    Reads:  earlier
    Writes: knobs, run, questions, asked, judgements, rulings, outline, sections, queries,
            visited, offered
    """
    earlier = state["earlier"]
    number = len(earlier.judgements) + 1
    texts = {query.text: query.question for query in earlier.asked}
    outlined: ResearchState = {"outline": earlier.outline} if earlier.outline else {}
    return {
        **outlined,
        "knobs": knobs,
        "run": await commons.begin(),
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
