"""The round as it is carried out: which sub-questions there are, what is asked now and what waits.

Does not know minds or engines: a plan goes in as advice, a decision comes out.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import count

from fathom.llm.port import Brief
from fathom.planning.angles import angles, broader
from fathom.planning.candidates import Candidate, Theme, candidates
from fathom.planning.choosing import chosen, in_turn
from fathom.planning.dependencies import answers, chain, is_askable, sound, without_places, written
from fathom.planning.drift import is_worn
from fathom.planning.repeats import fresh, plain
from fathom.planning.scoring import view
from fathom.state import SCOUT, Family, Plan, Query, SubQuestion
from fathom.text.ranking import terms

_MOST_QUESTIONS = 8
_MOST_WAITING = 20


@dataclass(frozen=True)
class Decision:
    """What a round does."""

    questions: list[SubQuestion]
    queries: list[Query]
    waiting: list[Query] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what was changed, and why
    chain: int = 1


def decided(brief: Brief, plan: Plan, served: Mapping[Family, float], is_tireless: bool = False) -> Decision:
    """The decision on a plan; in round 1 never without a query."""
    questions, ids = distinct_questions(brief, plan)
    past = [q for q in brief.asked if q.id != SCOUT]
    own = [_named(query, ids, questions[0].id) for query in plan.queries]
    settled = _settled(own, past, brief.limit) if plan.is_settled else []
    if settled or (plan.is_settled and not is_tireless):
        return Decision(questions, _numbered(settled or _first(brief, questions), brief.round))
    # What waited for an answer comes first: it was the planner's own next step before this round.
    own = [*(query for query in brief.waiting if query.question in {q.id for q in questions}), *own]
    ready, waiting = _split(own, questions, brief)
    queries, notes = _worth_asking(ready, questions, past, brief, plan, served)
    return Decision(
        questions,
        _numbered(queries or _first(brief, questions), brief.round),
        waiting[:_MOST_WAITING],
        notes,
        chain(questions),
    )


def distinct_questions(brief: Brief, plan: Plan) -> tuple[list[SubQuestion], dict[str, str]]:
    """What was asked before stays, what is new gets the next free id, and never beside the question; and
    what the plan's own ids mean."""
    kept = {plain(q.text): q for q in brief.questions}
    ids: dict[str, str] = {}
    for offered in plan.questions:
        text = offered.text.strip()
        if text and plain(text) not in kept and len(kept) < _MOST_QUESTIONS:
            kept[plain(text)] = offered.model_copy(update={"id": _free_id(kept.values()), "text": text})
        if plain(text) in kept:
            ids[offered.id] = kept[plain(text)].id
    words = terms(brief.question)
    if not brief.questions and not any(words & terms(q.text) for q in kept.values()):
        kept[plain(brief.question)] = SubQuestion(id=_free_id(kept.values()), text=brief.question)
    known = {q.id: q.id for q in brief.questions}  # an id that was shown means what it meant
    ids |= known
    renamed = [
        q if q.id in known else q.model_copy(update={"needs": [ids.get(need, "") for need in q.needs]})
        for q in kept.values()
    ]
    return sound(renamed), ids


def _free_id(questions: Collection[SubQuestion]) -> str:
    """The next id that no sub-question has, also when a person took some out."""
    taken = {question.id for question in questions}
    return next(name for n in count(len(questions) + 1) if (name := f"Q{n}") not in taken)


def _named(query: Query, ids: Mapping[str, str], fallback: str) -> Query:
    text = " ".join(query.text.split())
    for offered, ours in ids.items():
        text = text.replace(f"{{{offered}}}", f"{{\0{ours}}}")
    question = ids.get(query.question) or fallback
    return query.model_copy(update={"text": text.replace("\0", ""), "question": question})


def _settled(own: list[Query], past: list[Query], limit: int) -> list[Query]:
    """A mind's own choice, without what was asked word for word."""
    seen = {plain(q.text) for q in past} | {""}
    found: list[Query] = []
    for query in own:
        if plain(query.text) not in seen and len(found) < limit:
            seen.add(plain(query.text))
            found.append(query)
    return found


def _split(own: list[Query], questions: list[SubQuestion], brief: Brief) -> tuple[list[Query], list[Query]]:
    """Queries that can be asked, with the answers they waited for, and those that go on waiting."""
    known = answers(questions, brief.findings)
    needs = {q.id: q.needs for q in questions}
    ready: list[Query] = []
    waiting: dict[str, Query] = {}
    for query in own:
        now = written(query, needs.get(query.question, []), known)
        if now:
            ready.append(now)
        else:
            waiting.setdefault(plain(query.text), query)
    if not ready and waiting and not any(is_askable(q, known) and q.id not in known for q in questions):
        first = waiting.pop(next(iter(waiting)))
        ready = [first.model_copy(update={"text": without_places(first.text) or brief.question})]
    return ready, list(waiting.values())


def _worth_asking(
    ready: list[Query],
    questions: list[SubQuestion],
    past: list[Query],
    brief: Brief,
    plan: Plan,
    served: Mapping[Family, float],
) -> tuple[list[Query], list[str]]:
    """The planner's own queries that were not asked before, in its order, with what code adds to them; and
    what was changed for that."""
    is_doubting = bool(brief.findings)
    at = view(questions, brief.findings, brief.gaps, past, brief.lessons, served, is_doubting)
    known = answers(questions, brief.findings)
    askable = [q for q in questions if is_askable(q, known)]
    unanswered = [q for q in askable if at.openness[q.id] > 0.5 or q.id in at.wanted]
    turn = in_turn([q.id for q in unanswered], past, brief.findings, at.wanted)
    by_id = {q.id: _with_answers(q, known) for q in questions}
    seen_from = plan.perspectives or brief.perspectives
    theme = Theme(brief.question, brief.round, [by_id[name] for name in turn or by_id], seen_from)
    notes = [brief.approach] if brief.approach else []
    offered = candidates([*_stepped_back(brief, theme), *ready], theme)
    kept = _unworn(offered, past, notes)
    if sum(c.origin == "mind" for c in kept) < sum(c.origin == "mind" for c in offered):
        notes.append("What was asked before is asked from another angle.")
    picked = chosen(kept, at, brief.limit, turn)
    if not picked and brief.round > 1:
        notes.append("Everything proposed was asked before; the angle is changed.")
        turned = fresh(angles(theme, brief.findings, past), past)
        picked = chosen([Candidate(query, "code") for query in turned], at, brief.limit, turn)
    return picked, list(dict.fromkeys(notes))


def _unworn(offered: list[Candidate], past: list[Query], notes: list[str]) -> list[Candidate]:
    """Without repeats, and without a pattern that was tried three times, if anything else is left."""
    new = {plain(q.text) for q in fresh([c.query for c in offered], past)}
    kept = [c for c in offered if plain(c.query.text) in new]
    unworn = [c for c in kept if not is_worn(c.query, past)]
    if any(c.origin == "mind" and c not in unworn for c in kept):
        notes.append("The same pattern was tried three times; the strategy is changed.")
    return unworn


def _stepped_back(brief: Brief, theme: Theme) -> list[Query]:
    """After many rounds with nothing new, the broader question itself."""
    if not brief.approach:
        return []
    name = theme.open_questions[0].id
    return [Query(id="", text=broader(brief.question), question=name, round=brief.round)]


def _with_answers(question: SubQuestion, known: Mapping[str, str]) -> SubQuestion:
    query = Query(id="", text=question.text, question=question.id, round=1)
    now = written(query, question.needs, known)
    return question.model_copy(update={"text": now.text if now else without_places(question.text)})


def _first(brief: Brief, questions: list[SubQuestion]) -> list[Query]:
    """The question itself, when the first plan has nothing better."""
    if brief.round > 1:
        return []
    return [Query(id="", text=brief.question, question=questions[0].id, round=1)]


def _numbered(queries: list[Query], number: int) -> list[Query]:
    return [
        query.model_copy(update={"id": f"r{number}q{place}", "round": number})
        for place, query in enumerate(queries, 1)
    ]
