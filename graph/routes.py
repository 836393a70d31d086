"""Where to go next: pure functions of the state, named for what they decide.

Do not know nodes, only their names; what they may answer is listed where they are used.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import END
from langgraph.types import Send

from fathom.report.outlining import is_current
from fathom.search.addresses import hit_of
from fathom.state import (
    Chapter,
    Claim,
    Direction,
    Heading,
    Page,
    Query,
    Reading,
    ResearchState,
    SubQuestion,
    Writing,
)

_LEARNINGS = 20
S = TypeVar("S")


def at_once(route: Callable[[S], list[Send] | str]) -> Runnable[S, list[Send] | str]:
    """A route that is taken where the graph runs.

    LangGraph would give a plain function a thread, and a coroutine a task and a trace of its own.
    """
    return _AtOnce(route)


class _AtOnce(Runnable[S, list[Send] | str]):
    def __init__(self, route: Callable[[S], list[Send] | str]) -> None:
        self.name = route.__name__
        self._route = route

    def invoke(self, input: S, config: RunnableConfig | None = None, **given: Any) -> list[Send] | str:  # noqa: A002, ARG002 - as LangGraph calls it
        return self._route(input)

    async def ainvoke(self, input: S, config: RunnableConfig | None = None, **given: Any) -> list[Send] | str:  # noqa: A002, ARG002
        return self._route(input)


def where_to_begin(state: ResearchState) -> str:
    """At the start: with the question, or with what an earlier run knew."""
    return "recheck" if state.get("earlier") else "lead"


def what_to_ask_again(state: ResearchState) -> list[Send] | str:
    """In an update: every earlier query at once."""
    return _searches(state) or "selector"


def one_or_many(state: ResearchState) -> str:
    """After the lead: one loop plans its first round; branches are shown before they start."""
    return "planner" if state["run_config"].strategy == "loop" else "review"


def what_is_at_hand(state: ResearchState) -> str:
    """After planning: a follow-up looks through what its thread knows before anything is searched."""
    known = state.get("known")
    return "recall" if known and known.is_at_hand else "review"


def what_to_recall(state: ResearchState) -> list[Send] | str:
    """After recalling: the pages at hand that may say more are read again, from their stored texts."""
    again = set(state.get("recalled", []))
    shared = {"question": state["question"], "questions": state["questions"], **_settings(state)}
    read = [page for page in state.get("pages", []) if page.sha in again]
    return [Send("reading", {"pages": [page], **shared}) for page in read] or "judge"


def whom_to_ask(state: ResearchState) -> list[Send] | str:
    """After review: plan again, stop looking, search with every query at once, or send out branches."""
    if state.get("is_finishing"):
        return "judge"
    if state["run_config"].strategy != "loop":
        return "lead" if state.get("feedback") else which_branches(state)
    if state.get("feedback"):
        return "planner"
    return _searches(state) or "judge"


def which_branches(state: ResearchState) -> list[Send] | str:
    """Around branches: those of this level that are not back yet, all or the next one; or the judge."""
    run_config = state["run_config"]
    known = {direction.id: direction for direction in state.get("directions", [])}
    level = len(state.get("judgements", [])) + 1
    # A level waits until the one before it was judged; what a person added takes after its first neighbour.
    sent = [_towards(query, known) for query in state.get("queries", []) if query.round == level]
    waiting = [direction for direction in sent if direction.status == "open"]
    if not waiting or state.get("is_spent") or state.get("is_finishing"):
        return "judge"
    if run_config.orchestration != "concurrent":
        waiting = waiting[:1]
    return [Send("branch", _with_what(direction, state)) for direction in waiting]


def what_to_search(state: ResearchState) -> list[Send] | str:
    """After planning in a branch: search with every query at once."""
    return _searches(state) or "judge"


def what_to_read(state: ResearchState) -> list[Send] | str:
    """After choosing: one reader a page, those of an earlier run again, or straight to the judge."""
    return [*_read_again(state), *_readings(state, "reading")] or "judge"


def what_to_study(state: ResearchState) -> list[Send] | str:
    """After choosing in a branch: the same."""
    return _readings(state, "study") or "judge"


def is_enough(state: ResearchState) -> list[Send] | str:
    """After judging: another round or other branches, the report, or an honest end with nothing."""
    if state["judgements"][-1].stop is None:
        if state["run_config"].strategy == "loop":
            # Without an end, the report is made current after every round.
            return "writer" if state["run_config"].endless and state.get("claims") else "planner"
        if (branches := which_branches(state)) != "judge":
            return branches
    return "writer" if state.get("claims") else END


def is_going_on(state: ResearchState) -> str:
    """After writing: the end, or another round when the run was told to go on without one."""
    is_endless = state["run_config"].endless and state["run_config"].strategy == "loop"
    return "planner" if is_endless and state["judgements"][-1].stop is None else END


def has_looked_enough(state: ResearchState) -> str:
    """After judging in a branch: another round, or back with what was found."""
    return "planner" if state["judgements"][-1].stop is None else "deliver"


def was_fetched(state: Reading) -> str:
    """Before reading one page: fetch it, unless its text is at hand."""
    return "analyzer" if state.get("pages") else "extractor"


def was_read(state: Reading) -> str:
    """After fetching one page: analyse it if it is new or says something else, or leave."""
    before, pages = state.get("before"), state.get("pages")
    if before and (not pages or pages[0].sha == before.sha):
        return "compare"
    return "analyzer" if pages else END


def was_known(state: Reading) -> str:
    """After analysing one page: compare it with what an earlier run knew of it, or leave."""
    return "compare" if state.get("before") else END


def what_to_write(state: Writing) -> list[Send] | str:
    """After the outline: one writer a heading, but none for a section that is as it would be written now."""
    claims = {claim.id: claim for claim in state["claims"]}
    written = {section.id: section for section in state.get("sections", [])}
    headings = [
        heading
        for heading in state["outline"].headings
        if heading.id not in written or not is_current(written[heading.id], heading, claims)
    ]
    return [Send("chapter", _chapter(state, heading, claims)) for heading in headings] or "publish"


def _chapter(state: Writing, heading: Heading, claims: Mapping[str, Claim]) -> Chapter:
    findings = [f for f in state.get("findings", []) if not set(f.claims).isdisjoint(heading.claims)]
    return {
        "question": state["question"],
        "run_config": state["run_config"],
        "run": state.get("run", ""),
        "round": len(state.get("judgements", [])),
        "heading": heading,
        "claims": [claims[c] for c in heading.claims],
        "findings": findings,
    }


def is_carried(state: Chapter) -> str:
    """After a check: what failed is written again once; then it is settled."""
    is_failed = any(sentence.status == "unsupported" for sentence in state["draft"].sentences)
    return "rewrite" if is_failed and "rewritten" not in state else "settle"


def was_rewritten(state: Chapter) -> str:
    """After rewriting: what is new is checked again."""
    return "check" if state["rewritten"] else "settle"


def _searches(state: ResearchState) -> list[Send]:
    return [Send("searcher", {"query": query, **_settings(state)}) for query in state.get("queries", [])]


def _readings(state: ResearchState, node: str) -> list[Send]:
    asked = {question.text: question for question in [*state.get("read_for", []), *state["questions"]]}
    shared = {"question": state["question"], "questions": list(asked.values()), **_settings(state)}
    queries = {query.id: query for query in state.get("asked", [])}
    return [
        Send(node, {"hit": hit, **_sought(queries.get(hit.query)), **shared})
        for hit in state.get("chosen", [])
    ]


def _sought(query: Query | None) -> dict[str, SubQuestion]:
    """What a page of a later round is read for beside the sub-questions: what it was searched with."""
    if query is None or query.round == 1 or not query.question:
        return {}
    return {"sought": SubQuestion(id=query.question, text=query.text)}


def _read_again(state: ResearchState) -> list[Send]:
    """Every page of an earlier run, with what was known of it."""
    if not state.get("earlier"):
        return []
    shared = {"question": state["question"], "questions": state["questions"], **_settings(state)}
    return [
        Send("reading", {"hit": hit_of(page), "before": page, "known": _drawn_from(page, state), **shared})
        for page in state["earlier"].pages
    ]


def _drawn_from(page: Page, state: ResearchState) -> list[Claim]:
    return [claim for claim in state["earlier"].claims if claim.quotes[0].page == page.sha]


def _settings(state: ResearchState) -> dict[str, Any]:
    """What every worker of a round must know: the run, its knobs, the round, the branch it works for."""
    branch = {"direction": state["direction"]} if "direction" in state else {}
    number = len(state.get("judgements", [])) + 1
    return {"run_config": state["run_config"], "run": state.get("run", ""), "round": number, **branch}


def _towards(query: Query, known: Mapping[str, Direction]) -> Direction:
    if query.id in known:
        return known[query.id]
    like = next(iter(known.values()))
    return like.model_copy(
        update={"id": query.id, "text": query.text, "angle": "a person's wish", "status": "open"}
    )


def _with_what(direction: Direction, state: ResearchState) -> ResearchState:
    """What a branch sets out with; in a hand-off also the latest that the branches before it learnt."""
    bag: ResearchState = {
        "question": direction.text,
        "run_config": state["run_config"],
        "run": state["run"],
        "direction": direction,
        "read_for": state.get("read_for", []),
        "visited": state.get("visited", []),
    }
    if state["run_config"].orchestration != "handoff":
        return bag
    claims = state.get("claims", [])[-_LEARNINGS:]
    topics, shas = {c.question for c in claims}, {q.page for c in claims for q in c.quotes}
    known = [question for question in state.get("questions", []) if question.id in topics]
    names = {question.id: f"Q{place}" for place, question in enumerate(known, 1)}
    return {
        **bag,
        "direction": direction.model_copy(update={"given": [claim.id for claim in claims]}),
        "claims": [c.model_copy(update={"question": names.get(c.question, "")}) for c in claims],
        "pages": [page for page in state.get("pages", []) if page.sha in shas],
        "questions": [q.model_copy(update={"id": names[q.id]}) for q in known],
        "asked": [
            q.model_copy(update={"question": names.get(q.question, "")}) for q in state.get("asked", [])
        ],
    }
