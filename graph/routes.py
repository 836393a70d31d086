"""Where to go next: pure functions of the state, named for what they decide.

Do not know nodes, only their names; what they may answer is listed where they are used.
"""

from langgraph.graph import END
from langgraph.types import Send

from fathom.state import Reading, ResearchState, Writing


def whom_to_ask(state: ResearchState) -> list[Send] | str:
    """After review: plan again, stop looking, or search with every query at once."""
    if state.get("is_finishing"):
        return "judge"
    if state.get("feedback"):
        return "planner"
    knobs = state["knobs"]
    sends = [Send("searcher", {"query": query, "knobs": knobs}) for query in state.get("queries", [])]
    return sends or "judge"


def what_to_read(state: ResearchState) -> list[Send] | str:
    """After choosing: one reader a page, or straight to the judge."""
    shared = {"question": state["question"], "questions": state["questions"], "knobs": state["knobs"]}
    return [Send("reading", {"hit": hit, **shared}) for hit in state.get("chosen", [])] or "judge"


def is_enough(state: ResearchState) -> str:
    """After judging: another round, the report, or an honest end with nothing."""
    if state["judgements"][-1].stop is None:
        return "planner"
    return "writer" if state.get("claims") else END


def was_read(state: Reading) -> str:
    """After fetching one page: analyse it, or leave."""
    return "analyzer" if state.get("pages") else END


def what_to_write(state: Writing) -> list[Send]:
    """After the outline: one writer a section."""
    claims = {claim.id: claim for claim in state["claims"]}
    return [
        Send(
            "section",
            {
                "question": state["question"],
                "knobs": state["knobs"],
                "heading": heading,
                "claims": [claims[c] for c in heading.claims],
                "findings": [
                    f for f in state.get("findings", []) if not set(f.claims).isdisjoint(heading.claims)
                ],
            },
        )
        for heading in state["outline"].headings
    ]
