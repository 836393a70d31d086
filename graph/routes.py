"""Routers: pure functions of the state, named for the decision.

Their possible targets are listed where the graph is built.
"""

from collections.abc import Mapping
from typing import Any

from langgraph.graph import END
from langgraph.types import Send

from fathom.planning.reading_list import has_unread_origins
from fathom.planning.tree import open_directions
from fathom.reading import hit_for_page
from fathom.report.editing import is_summary_due
from fathom.report.outline import group_headings, is_section_current
from fathom.state import (
    Chapter,
    Claim,
    Direction,
    Heading,
    Page,
    Query,
    Reading,
    ReadingRound,
    ResearchState,
    SubQuestion,
    Writing,
)

Route = list[Send] | str
_MAX_LEARNED = 20  # the latest claims of all branches that a new branch is told


def route_after_intake(state: ResearchState) -> Route:
    """Plan; an update repeats its earlier queries instead."""
    if not state.get("earlier"):
        return "planner"
    return _send_searches(state) or "selector"


def route_after_planner(state: ResearchState) -> str:
    """Review the plan; skip the review if the plan needs no search.

    That is so if a follow-up uses what its thread knows, or if only sources named by read pages are left.
    """
    known = state.get("known")
    if known and known.is_at_hand:
        return "selector"
    is_idle = not state.get("queries") and not state.get("directions")
    return "selector" if is_idle and has_unread_origins(state) else "review"


def route_after_review(state: ResearchState) -> Route:
    """Stop searching, plan again, send out branches, or search with all queries concurrently."""
    if state.get("is_finishing"):
        return "judge"
    if state.get("feedback"):
        return "planner"
    if state.get("directions"):
        return "branches" if open_directions(state) else "judge"
    return _send_searches(state) or "judge"


def route_after_branch_planner(state: ResearchState) -> Route:
    """Search with all queries, or read the sources named by pages. A branch has no review."""
    return _send_searches(state) or ("selector" if has_unread_origins(state) else "judge")


def route_after_selector(state: ResearchState) -> Route:
    """Read the chosen pages, stored pages that may say more, and in an update the earlier pages."""
    readings = [*_readings_at_hand(state), *_repeated_readings(state), *_new_readings(state)]
    return [Send("reading", {"readings": readings, **_shared_keys(state)})] if readings else "judge"


def route_after_judge(state: ResearchState) -> str:
    """Start another round or the next branches, write the report, or end because nothing was found."""
    is_over = state["judgements"][-1].stop is not None
    if not is_over and state.get("directions"):
        if open_directions(state):
            return "branches"
        is_over = True
    if state.get("claims") and (is_over or state.get("is_report_due")):
        return "writer"
    return END if is_over else "planner"


def route_after_writer(state: ResearchState) -> str:
    """End; an endless run writes a report after every round and continues."""
    is_over = state["judgements"][-1].stop is not None or bool(state.get("directions"))
    return END if is_over else "planner"


def route_after_coordinator(state: ResearchState) -> Route:
    """Send out the chosen branches; without any, the level is done."""
    return [Send("branch", _branch_state(direction, state)) for direction in state["next_directions"]] or END


def route_after_branch_judge(state: ResearchState) -> str:
    """Start another round, or return the results."""
    return "planner" if state["judgements"][-1].stop is None else "finish_branch"


def route_to_readings(state: ReadingRound) -> Route:
    """Read every page of the round concurrently."""
    return [Send("page", reading) for reading in state["readings"]]


def route_to_page(state: Reading) -> str:
    """Fetch the page, unless its text is stored."""
    return "analyzer" if state.get("pages") else "extractor"


def route_after_extractor(state: Reading) -> str:
    """Analyse a page that was read; a page of an earlier run only if it changed."""
    before, pages = state.get("before"), state.get("pages", [])
    is_as_before = before is not None and [page.sha for page in pages] == [before.sha]
    return "analyzer" if pages and not is_as_before else END


def route_after_verifier(state: ReadingRound) -> str:
    """Retry refused drafts once; then compare pages with those of an earlier run."""
    return "retry" if state.get("refused") and "retried" not in state else _after_claims(state)


def route_after_retry(state: ReadingRound) -> str:
    """Verify restated claims."""
    return "verifier" if state["retried"] else _after_claims(state)


def _after_claims(state: ReadingRound) -> str:
    return "compare" if any("before" in reading for reading in state["readings"]) else END


def route_after_outline(state: Writing) -> Route:
    """Write the chapters whose sections would change, concurrently; without any, only edit or publish."""
    claims = {claim.id: claim for claim in state["claims"]}
    written = {section.id: section for section in state.get("sections", [])}
    headings = [
        heading
        for heading in state["outline"].headings
        if heading.id not in written or not is_section_current(written[heading.id], heading, claims)
    ]
    chapters = group_headings(headings, state["lengths"])
    if chapters:
        return [Send("chapter", _chapter_state(state, own, claims)) for own in chapters]
    return "edit" if is_summary_due(state.get("sections", []), state["outline"]) else "publish"


def route_after_check(state: Chapter) -> str:
    """Rewrite failed sentences once; then settle."""
    sentences = [sentence for draft in state["drafts"] for sentence in draft.sentences]
    is_failed = any(sentence.status == "unsupported" for sentence in sentences)
    return "rewrite" if is_failed and "rewritten" not in state else "settle"


def route_after_rewrite(state: Chapter) -> str:
    """Check the rewritten sentences."""
    return "check" if state["rewritten"] else "settle"


def _chapter_state(state: Writing, headings: list[Heading], claims: Mapping[str, Claim]) -> Chapter:
    own = list(dict.fromkeys(c for heading in headings for c in heading.claims if c in claims))
    pages = {quote.page for c in own for quote in claims[c].quotes}
    return {
        "question": state["question"],
        "run": state.get("run", ""),
        "round": len(state.get("judgements", [])),
        "outline": state["outline"],
        "headings": headings,
        "claims": [claims[c] for c in own],
        "findings": [f for f in state.get("findings", []) if not set(f.claims).isdisjoint(own)],
        "pages": [page for page in state.get("pages", []) if page.sha in pages],
        "lengths": state["lengths"],
        "limits": state.get("limits", []),
    }


def _send_searches(state: ResearchState) -> list[Send]:
    sized = {"effort": state["effort"]} if "effort" in state else {}  # an update has none
    shared = {**sized, **_shared_keys(state)}
    return [Send("searcher", {"query": query, **shared}) for query in state.get("queries", [])]


def _new_readings(state: ResearchState) -> list[dict[str, Any]]:
    asked = {question.text: question for question in [*state.get("read_for", []), *state["questions"]]}
    shared = {"question": state["question"], "questions": list(asked.values()), **_shared_keys(state)}
    queries = {query.id: query for query in state.get("asked", [])}
    return [
        {"hit": hit, **_sought_question(queries.get(hit.query)), **shared} for hit in state.get("chosen", [])
    ]


def _sought_question(query: Query | None) -> dict[str, SubQuestion]:
    """Return the query of a later round as an extra question to read its page for."""
    if query is None or query.round == 1 or not query.question:
        return {}
    return {"sought": SubQuestion(id=query.question, text=query.text)}


def _readings_at_hand(state: ResearchState) -> list[dict[str, Any]]:
    """Return readings of stored pages.

    In a follow-up's first round these are pages of its thread that may say more, later those that may close a
    gap.
    """
    shared = {"question": state["question"], "questions": state["questions"], **_shared_keys(state)}
    pages = {page.sha: page for page in reversed(state.get("pages", []))}
    if not state.get("judgements"):
        again = [sha for sha in pages if sha in set(state.get("recalled", []))]
        return [{"pages": [pages[sha]], **shared} for sha in reversed(again)]
    return [
        # Only for the gap: beside the sub-questions it would not change which passages are shown.
        {**shared, "pages": [pages[reread.page]], "questions": [reread.sought]}
        for reread in state.get("rereads", [])
        if reread.round == shared["round"] and reread.page in pages
    ]


def _repeated_readings(state: ResearchState) -> list[dict[str, Any]]:
    """In an update: return every page of the earlier run, with its known claims."""
    if not state.get("earlier"):
        return []
    shared = {"question": state["question"], "questions": state["questions"], **_shared_keys(state)}
    return [
        {"hit": hit_for_page(page), "before": page, "known": _claims_of(page, state), **shared}
        for page in state["earlier"].pages
    ]


def _claims_of(page: Page, state: ResearchState) -> list[Claim]:
    return [claim for claim in state["earlier"].claims if claim.quotes[0].page == page.sha]


def _shared_keys(state: ResearchState) -> dict[str, Any]:
    """Return what every worker of a round must know: the run, the round, and in a branch its direction."""
    branch = {"direction": state["direction"]} if "direction" in state else {}
    return {"run": state.get("run", ""), "round": len(state.get("judgements", [])) + 1, **branch}


def _branch_state(direction: Direction, state: ResearchState) -> ResearchState:
    """Return the initial state of a branch; in a hand-off with what earlier branches learned and asked."""
    alone: ResearchState = {
        "question": direction.text,
        "run": state["run"],
        "direction": direction,
        "read_for": state.get("read_for", []),
        "visited": state.get("visited", []),
    }
    if not state.get("is_handing_on"):
        latest = state.get("claims", [])[-_MAX_LEARNED:]
        return {**alone, "learned": [claim.model_copy(update={"question": ""}) for claim in latest]}
    claims = [claim for claim in state.get("claims", []) if claim.id in direction.given]
    topics, shas = {c.question for c in claims}, {q.page for c in claims for q in c.quotes}
    known = [question for question in state.get("questions", []) if question.id in topics]
    names = {question.id: f"Q{place}" for place, question in enumerate(known, 1)}
    return {
        **alone,
        "claims": [c.model_copy(update={"question": names.get(c.question, "")}) for c in claims],
        "pages": [page for page in state.get("pages", []) if page.sha in shas],
        "questions": [q.model_copy(update={"id": names[q.id]}) for q in known],
        "asked": [
            q.model_copy(update={"question": names.get(q.question, "")}) for q in state.get("asked", [])
        ],
    }
