"""The planner: what to find out next, and with which queries."""

from fathom.errors import BadInput, ProviderError
from fathom.minds.port import Brief, Mind
from fathom.nodes.ports import Engines
from fathom.state import MAX_QUESTION_CHARS, Knobs, Loss, Plan, Query, ResearchState, SubQuestion
from fathom.text.ranking import terms

SCOUT = "scout"
_SCOUTED = 8
_MOST_QUESTIONS = 8


async def planner(state: ResearchState, *, mind: Mind, engines: Engines, knobs: Knobs) -> ResearchState:
    """Plan one round; the first plan is grounded in a quick search with the question itself.

    Reads:  question, questions, queries, asked, judgements, claims, feedback
    Writes: knobs, strategy, questions, queries, feedback, hits, asked, losses, charges
    """
    _refuse_no_question(state)
    judgements = state.get("judgements", [])
    scouted = {} if state.get("questions") else await _scout(state["question"], engines, knobs)
    brief = Brief(
        question=state["question"],
        round=len(judgements) + 1,
        limit=knobs.queries,
        questions=state.get("questions", []),
        asked=state.get("asked", []),
        gaps=judgements[-1].gaps if judgements else [],
        findings=state.get("claims", []),
        scouted=scouted.get("hits", []),
        feedback=state.get("feedback", ""),
        proposed=state.get("queries", []),
        leads=judgements[-1].leads if judgements else [],
    )
    thought = await mind.plan(brief)
    questions = _distinct_questions(brief, thought.value)
    return {
        **scouted,
        "knobs": knobs,
        "strategy": thought.value.strategy,
        "questions": questions,
        "queries": _new_queries(brief, thought.value, questions),
        "feedback": "",
        "losses": [*scouted.get("losses", []), *thought.losses],
        "charges": [*scouted.get("charges", []), *thought.charges],
    }


def _refuse_no_question(state: ResearchState) -> None:
    """A server starts a run with whatever it was sent."""
    question: object = state.get("question")
    if not isinstance(question, str) or not question.strip():
        raise BadInput("The question is empty.")
    if len(question) > MAX_QUESTION_CHARS:
        raise BadInput(f"The question is longer than {MAX_QUESTION_CHARS} characters.")


async def _scout(question: str, engines: Engines, knobs: Knobs) -> ResearchState:
    query = Query(id=SCOUT, text=question, question="", round=1)
    try:
        found = await engines.search(query, limit=min(_SCOUTED, knobs.max_sources))
    except ProviderError as error:
        return {"asked": [query], "losses": [Loss(where="search", what=question, why=str(error))]}
    return {"asked": [query], "hits": found.hits, "losses": found.losses, "charges": found.charges}


def _distinct_questions(brief: Brief, plan: Plan) -> list[SubQuestion]:
    """What was asked before stays; what is new gets the next free id. Never beside the question."""
    kept = {_folded(q.text): q for q in brief.questions}
    for offered in plan.questions:
        text = offered.text.strip()
        if text and _folded(text) not in kept and len(kept) < _MOST_QUESTIONS:
            kept[_folded(text)] = SubQuestion(id=f"Q{len(kept) + 1}", text=text)
    words = terms(brief.question)
    if not brief.questions and not any(words & terms(q.text) for q in kept.values()):
        kept[_folded(brief.question)] = SubQuestion(id=f"Q{len(kept) + 1}", text=brief.question)
    return list(kept.values())


def _new_queries(brief: Brief, plan: Plan, questions: list[SubQuestion]) -> list[Query]:
    """The plan's queries that were not asked before, as many as allowed; in round 1 never none."""
    by_text = {_folded(q.text): q.id for q in questions}
    ids = {offered.id: by_text.get(_folded(offered.text), "") for offered in plan.questions}
    ids |= {q.id: q.id for q in brief.questions}
    seen = {_folded(q.text) for q in brief.asked if q.id != SCOUT}
    queries: list[Query] = []
    for offered in plan.queries:
        text = " ".join(offered.text.split())
        if not text or _folded(text) in seen or len(queries) == brief.limit:
            continue
        seen.add(_folded(text))
        name = f"r{brief.round}q{len(queries) + 1}"
        question = ids.get(offered.question) or questions[0].id
        queries.append(Query(id=name, text=text, question=question, round=brief.round))
    if not queries and brief.round == 1:
        queries = [Query(id="r1q1", text=brief.question, question=questions[0].id, round=1)]
    return queries


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip("?.!")
