"""The planner: what to find out next, and with which queries."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from fathom.errors import ProviderError
from fathom.llm.port import Brief, ResearchModel
from fathom.llm.questions import parts_of
from fathom.memory.hypotheses import active, adopted
from fathom.memory.semantic import sure_of
from fathom.memory.working import last_rounds
from fathom.nodes.ports import Clock, Engines, Reader
from fathom.planning.admission import admitted
from fathom.planning.arms import gaps_to_close
from fathom.planning.deciding import decided
from fathom.planning.dependencies import answers
from fathom.planning.directions import plan_directions
from fathom.planning.doubting import with_doubt
from fathom.planning.drift import approach, barren_rounds
from fathom.planning.effort import effort, sized, told
from fathom.planning.following import in_thread, is_at_hand, only_missing, with_a_round_for_recall
from fathom.planning.limits import limits
from fathom.planning.perspectives import Structure, distinct, from_structure, outline, structure
from fathom.planning.reflexion import lessons
from fathom.planning.scoring import served_families
from fathom.planning.thinking import Situation, tool_for
from fathom.state import (
    SCOUT,
    Effort,
    Failure,
    Hit,
    Lesson,
    Query,
    ResearchState,
    RunConfig,
    SubQuestion,
    Tool,
)

_SCOUTED = 8
_STRUCTURES = 3
_STRUCTURE_S = 8.0


async def planner(
    state: ResearchState,
    *,
    model: ResearchModel,
    engines: Engines,
    reader: Reader,
    run_config: RunConfig,
    clock: Clock,
) -> ResearchState:
    """Plan one round: queries, or, where the strategy has branches, the directions they set out in.

    The first plan is grounded in a quick search with the question itself. In a follow-up it is grounded in
    what the thread knows, and nothing is asked before that was looked through.

    Reads:  known, question, questions, queries, asked, waiting, judgements, claims, findings, pages, chosen,
            lessons, effort, perspectives, hypotheses, contradictions, feedback, said, fork, outline,
            rereads, costs
    Writes: strategy, effort, perspectives, tool, lessons, questions, queries, waiting,
            hypotheses, feedback, hits, asked, failures, costs; with branches read_for, directions
    """
    admitted(state.get("question"))
    worth = state.get("effort") or effort(state["question"], run_config.depth)
    if run_config.strategy != "loop":
        return _directions(state, run_config, worth)
    known, scouted = state.get("known"), ResearchState()
    brief = in_thread(_brief(state, worth, run_config, clock().date()), known)
    if not brief.questions and not is_at_hand(known):
        scouted = await _scout(state["question"], engines, sized(run_config, worth))
        brief, lost = await _grounded(brief, scouted.get("hits", []), reader)
        scouted["failures"] = [*scouted.get("failures", []), *lost]
    thought = await model.plan(brief)
    plan = thought.value
    decision = decided(brief, plan, served_families(run_config), is_tireless=run_config.endless)
    if brief.round == 1:
        worth = effort(state["question"], run_config.depth, plan.kind, decision.chain)
    hypotheses = adopted(state.get("hypotheses", []), plan.hypotheses, brief.round)
    own = distinct(plan.perspectives)
    queries = only_missing(with_doubt(decision.queries, brief, hypotheses, run_config.endless), brief, known)
    if is_at_hand(known):
        queries, worth = [], with_a_round_for_recall(worth)
    return {
        **scouted,
        "strategy": " ".join([plan.strategy, *([told(worth)] if brief.round == 1 else []), *decision.notes]),
        "effort": worth,
        "perspectives": own or ([] if plan.is_settled else list(brief.perspectives)),
        "tool": brief.tool or Tool(name="scientific method", because="no other was named"),
        "lessons": [lesson for lesson in brief.lessons if lesson.round == brief.round - 1],
        "questions": decision.questions,
        "queries": queries,
        "hypotheses": hypotheses,
        "waiting": decision.waiting,
        "feedback": "",
        "failures": [*scouted.get("failures", []), *thought.failures],
        "costs": [*scouted.get("costs", []), *thought.costs],
    }


def _directions(state: ResearchState, run_config: RunConfig, worth: Effort) -> ResearchState:
    """The plan of a run with branches: each of them plans its own rounds."""
    question = state["question"]
    directions = plan_directions(question, run_config, worth, state.get("feedback", ""))
    return {
        "effort": worth,
        "strategy": f"{told(worth)} {len(directions)} branches, {run_config.orchestration}.",
        "read_for": [SubQuestion(id=f"W{n}", text=part) for n, part in enumerate(parts_of(question), 1)],
        "directions": directions,
        "queries": [direction.query() for direction in directions],
        "feedback": "",
    }


def _brief(state: ResearchState, worth: Effort, run_config: RunConfig, today: date) -> Brief:
    judgements, claims = state.get("judgements", []), state.get("claims", [])
    questions, fork = state.get("questions", []), state.get("fork")
    needed = {need for q in questions for need in q.needs}
    number = len(judgements) + 1
    return Brief(
        question=state["question"],
        round=number,
        limit=run_config.queries,
        questions=questions,
        asked=state.get("asked", []),
        gaps=gaps_to_close(judgements, state.get("asked", []), claims),
        findings=claims,
        sure=sure_of(state.get("findings", [])),
        feedback=state.get("feedback", ""),
        is_new_way=fork is not None and fork.direction == state.get("feedback"),
        times_said=state.get("said", []).count(state.get("feedback", "")),
        proposed=state.get("queries", []),
        leads=judgements[-1].leads if judgements else [],
        effort=worth,
        tool=_tool(state),
        perspectives=state.get("perspectives", []),
        answers={name: phrase for name, phrase in answers(questions, claims).items() if name in needed},
        waiting=state.get("waiting", []),
        lessons=_learnt(state),
        approach=approach(judgements),
        memory=last_rounds(judgements, state.get("asked", []), claims),
        today=today.isoformat(),
        limits=limits(run_config, number, state.get("costs", [])),
        outline=state.get("outline"),
        hypotheses=active(state.get("hypotheses", [])),
        rereads=[reread for reread in state.get("rereads", []) if reread.round == number],
    )


def _tool(state: ResearchState) -> Tool:
    judgements = state.get("judgements", [])
    return tool_for(
        Situation(
            round=len(judgements) + 1,
            claims=len(state.get("claims", [])),
            barren_rounds=barren_rounds(judgements),
            contradictions=sum(c.settled_by is None for c in state.get("contradictions", [])),
            hypotheses=state.get("hypotheses", []),
            overall=judgements[-1].overall if judgements else 0.0,
        )
    )


def _learnt(state: ResearchState) -> list[Lesson]:
    """What is known of earlier rounds, and what the last one taught."""
    last = len(state.get("judgements", []))
    before = [lesson for lesson in state.get("lessons", []) if lesson.round < last]
    found = (state.get("asked", []), state.get("chosen", []), state.get("pages", []), state.get("claims", []))
    return [*before, *(lessons(*found, last) if last else [])]


async def _scout(question: str, engines: Engines, run_config: RunConfig) -> ResearchState:
    query = Query(id=SCOUT, text=question, question="", round=1)
    try:
        found = await engines.search(query, limit=min(_SCOUTED, run_config.max_sources))
    except ProviderError as error:
        failure = Failure(where="search", what=question, why=str(error))
        return {"asked": [query], "failures": [failure], "costs": error.costs}
    return {"asked": [query], "hits": found.hits, "failures": found.failures, "costs": found.costs}


async def _grounded(brief: Brief, hits: Sequence[Hit], reader: Reader) -> tuple[Brief, list[Failure]]:
    """The brief with what was scouted, and with what the best pages have chapters about, but for a fact."""
    if brief.effort and brief.effort.kind == "fact":
        return replace(brief, scouted=hits), []
    few = hits[:_STRUCTURES]
    read = await asyncio.gather(*(_structure(hit, reader) for hit in few))
    found = [one for one in read if isinstance(one, Structure)]
    grounded = replace(
        brief,
        scouted=hits,
        outlines=[line for one in found if (line := outline(one))],
        perspectives=from_structure(brief.question, found, hits),
    )
    return grounded, [one for one in read if isinstance(one, Failure)]


async def _structure(hit: Hit, reader: Reader) -> Structure | Failure | None:
    """A page's headings; a page that is slow to come is left to be read later, and no plan waits for it."""
    try:
        async with asyncio.timeout(_STRUCTURE_S):
            document = await reader(hit)
    except ProviderError as error:
        return Failure(where="reading", what=hit.address, why=str(error))
    except TimeoutError:
        return None
    return structure(document.title or hit.title, document.text)
