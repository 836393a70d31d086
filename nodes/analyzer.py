"""The analyzer: what one page says about the sub-questions, with quotes that are really there."""

from fathom.errors import ProviderError
from fathom.evidence.claims import as_claims, grounded
from fathom.evidence.origins import keep_used_origins
from fathom.llm.port import ResearchModel, Thought
from fathom.nodes.ports import Pages
from fathom.state import Cost, Failure, Reading, Verdict


async def analyzer(state: Reading, *, model: ResearchModel, pages: Pages) -> Reading:
    """Draw claims from the page, ground them, verify them; keep what holds and count what does not.

    Reads:  hit, pages, question, questions, sought
    Writes: pages, claims, rejected, failures, costs
    """
    page = state["pages"][0]
    costs: list[Cost] = []
    failures: list[Failure] = []
    try:
        text = await pages.get(page.sha)
        read = await model.read(state["question"], state["questions"], page.title, text, state.get("sought"))
        costs, failures = [*read.costs], [*read.failures]
        drafts, refused = grounded(read.value, page, text, state["questions"])
        doubtful = [d.evidence for d in drafts if not d.is_self_evident]
        verified = await model.verify(doubtful) if doubtful else Thought[list[Verdict]]([])
    except ProviderError as error:
        failure = Failure(where="analysis", what=page.title, why=str(error))
        return {"failures": [*failures, failure], "costs": [*costs, *error.costs]}
    claims, rejected = as_claims(drafts, verified.value, page)
    return {
        "pages": [keep_used_origins(page, claims)] if "hit" in state else [],
        "claims": claims,
        "rejected": [*refused, *rejected],
        "failures": [*failures, *verified.failures],
        "costs": [*costs, *verified.costs],
    }
