"""Planner node: decide what to find out next, and with which queries."""

from fathom.errors import ProviderError
from fathom.llm.protocol import ResearchModel
from fathom.nodes.ports import Clock, EnginesPort
from fathom.planning.effort import apply_effort, check_question, describe_effort, estimate_effort
from fathom.planning.hypotheses import adopt_hypotheses
from fathom.planning.model_inputs import add_page_structure, distinct_perspectives, make_plan_input
from fathom.planning.queries import mark_academic
from fathom.planning.ranking import rate_families
from fathom.planning.reading_list import add_recall_round, add_thread, is_at_hand, keep_queries_for_gaps
from fathom.planning.round_plan import add_counter_query, decide_round, follow_papers, reuse_scout
from fathom.planning.tree import plan_branches
from fathom.reading import Reader
from fathom.state import SCOUT, Query, ResearchState, RunConfig, ThinkingTool
from fathom.text.messages import messages_for

_MAX_SCOUT_HITS = 8


async def planner(
    state: ResearchState,
    *,
    model: ResearchModel,
    engines: EnginesPort,
    reader: Reader,
    run_config: RunConfig,
    clock: Clock,
) -> ResearchState:
    """Plan one round: queries, or directions where the strategy uses branches.

    The first plan is grounded in a quick search for the question itself. A follow-up is grounded in what its
    thread knows, and searches only after that was used.

    Reads:  known, question, questions, queries, asked, waiting, judgements, claims, findings, pages, chosen,
            lessons, effort, perspectives, hypotheses, contradictions, feedback, said, fork, outline,
            rereads, costs, learned
    Writes: strategy, effort, perspectives, tool, lessons, questions, queries, waiting,
            hypotheses, feedback, hits, asked, failures, costs; with branches read_for, directions
    """
    check_question(state.get("question"))
    worth = state.get("effort") or estimate_effort(state["question"], run_config.depth)
    if run_config.strategy != "loop":
        return plan_branches(state, run_config, worth)
    known, scouted = state.get("known"), ResearchState()
    brief = add_thread(make_plan_input(state, worth, run_config, clock().date()), known)
    if not brief.questions and not is_at_hand(known):
        scouted = await _scout(state["question"], engines, apply_effort(run_config, worth))
        brief, lost = await add_page_structure(brief, scouted.get("hits", [])[:_MAX_SCOUT_HITS], reader)
        scouted["failures"] = [*scouted.get("failures", []), *lost]
    result = await model.plan(brief)
    plan = result.value
    decision = decide_round(brief, plan, rate_families(run_config), is_tireless=run_config.endless)
    if brief.round == 1:
        worth = estimate_effort(state["question"], run_config.depth, plan.kind, decision.chain)
    hypotheses = adopt_hypotheses(state.get("hypotheses", []), plan.hypotheses, brief.round)
    own = distinct_perspectives(plan.perspectives)
    say = messages_for(state["question"], run_config.language)
    queries = keep_queries_for_gaps(
        add_counter_query(decision.queries, brief, hypotheses, run_config.endless), brief, known
    )
    if scouted:
        queries = reuse_scout(queries, state["question"])
    queries = follow_papers(queries, state["question"], run_config.citations)
    if is_at_hand(known):
        queries, worth = [], add_recall_round(worth)
    return {
        **scouted,
        "strategy": " ".join(
            [
                plan.strategy,
                *([describe_effort(worth, run_config, say)] if brief.round == 1 else []),
                *(say.tell("note", note) for note in decision.notes),
            ]
        ),
        "effort": worth,
        "perspectives": own or ([] if plan.is_settled else list(brief.perspectives)),
        "tool": brief.tool or ThinkingTool(name="scientific method", because="no other was named"),
        "lessons": [lesson for lesson in brief.lessons if lesson.round == brief.round - 1],
        "questions": decision.questions,
        "queries": queries,
        "hypotheses": hypotheses,
        "waiting": decision.waiting,
        "feedback": "",
        "failures": [*scouted.get("failures", []), *result.failures],
        "costs": [*scouted.get("costs", []), *result.costs],
    }


async def _scout(question: str, engines: EnginesPort, run_config: RunConfig) -> ResearchState:
    scout = Query(id=SCOUT, text=question, question="", round=1)
    (query,) = follow_papers([mark_academic(scout)], question, run_config.citations)
    try:
        found = await engines.search(query, limit=run_config.max_hits)
    except ProviderError as error:
        failure = error.failure("search", question)
        return {"asked": [query], "failures": [failure], "costs": error.costs}
    return {"asked": [query], "hits": found.hits, "failures": found.failures, "costs": found.costs}
