"""Turn a model's plan into the round's decision: sub-questions, queries to ask now, queries that wait.

The plan is advice; the code decides.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

from fathom.planning.hypotheses import leading_hypothesis
from fathom.planning.memory import is_overused
from fathom.planning.queries import (
    QueryCandidate,
    QueryTheme,
    angle_queries,
    broaden_topic,
    collect_candidates,
    counter_queries,
    find_new_names,
    normalize_query,
    queries_from_other_angles,
)
from fathom.planning.questions import (
    drop_placeholders,
    drop_unsound_needs,
    fill_answers,
    find_answers,
    is_askable,
    longest_chain,
)
from fathom.planning.ranking import choose_queries, drop_repeats, make_scoring_context, order_open_questions
from fathom.search.routing import links_wanted
from fathom.state import SCOUT, Family, Hypothesis, LinkKind, Plan, Query, Reason, ResearchState, SubQuestion
from fathom.state.model_io import PlanInput
from fathom.text.ranking import terms

_MOST_QUESTIONS = 8
_MOST_WAITING = 20
_MOST_NAMES_TOLD = 5


@dataclass(frozen=True)
class RoundDecision:
    """What a round does."""

    questions: list[SubQuestion]
    queries: list[Query]
    waiting: list[Query] = field(default_factory=list)
    notes: list[Reason] = field(default_factory=list)  # changes to the plan, with reasons
    chain: int = 1


def decide_round(
    brief: PlanInput, plan: Plan, served: Mapping[Family, float], is_tireless: bool = False
) -> RoundDecision:
    """Decide on a plan; round 1 always has a query."""
    questions, ids = merge_questions(brief, plan)
    past = [q for q in brief.asked if q.id != SCOUT]
    own = [_use_own_ids(query, ids, questions[0].id) for query in plan.queries]
    settled = _keep_unasked(own, past, brief.limit) if plan.is_settled else []
    if settled or (plan.is_settled and not is_tireless):
        return RoundDecision(
            questions, _number_queries(settled or _fallback_queries(brief, questions), brief.round)
        )
    # Queries that waited for an answer come first: they were the planner's next step.
    own = [*(query for query in brief.waiting if query.question in {q.id for q in questions}), *own]
    ready, waiting = _split_waiting(own, questions, brief)
    queries, notes = _choose_worthwhile(ready, questions, past, brief, plan, served)
    if brief.round == 1:  # later rounds narrow down by what was found
        queries = sorted(queries, key=lambda query: len(terms(query.text)))
        notes.append(Reason(phrase="broad"))
    elif names := _names_used(queries, find_new_names(brief.question, brief.findings)):
        notes.append(Reason(phrase="narrower", values={"names": ", ".join(names)}))
    return RoundDecision(
        questions,
        _number_queries(queries or _fallback_queries(brief, questions), brief.round),
        waiting[:_MOST_WAITING],
        notes,
        longest_chain(questions),
    )


def _names_used(queries: Sequence[Query], names: Sequence[str]) -> list[str]:
    said = set().union(*(terms(query.text) for query in queries))
    return [name for name in names if terms(name) <= said][:_MOST_NAMES_TOLD]


def merge_questions(brief: PlanInput, plan: Plan) -> tuple[list[SubQuestion], dict[str, str]]:
    """Merge new sub-questions into the known ones, and map the plan's ids to final ids.

    Known ones stay, new ones get the next free id, and none repeats the question itself.
    """
    kept = {normalize_query(q.text): q for q in brief.questions}
    ids: dict[str, str] = {}
    for offered in plan.questions:
        text = offered.text.strip()
        if text and normalize_query(text) not in kept and len(kept) < _MOST_QUESTIONS:
            kept[normalize_query(text)] = offered.model_copy(
                update={"id": _free_id(kept.values()), "text": text}
            )
        if normalize_query(text) in kept:
            ids[offered.id] = kept[normalize_query(text)].id
    words = terms(brief.question)
    if not brief.questions and not any(words & terms(q.text) for q in kept.values()):
        kept[normalize_query(brief.question)] = SubQuestion(id=_free_id(kept.values()), text=brief.question)
    known = {q.id: q.id for q in brief.questions}  # a shown id keeps its meaning
    ids |= known
    renamed = [
        q if q.id in known else q.model_copy(update={"needs": [ids.get(need, "") for need in q.needs]})
        for q in kept.values()
    ]
    return drop_unsound_needs(renamed), ids


def _free_id(questions: Collection[SubQuestion]) -> str:
    """Return the next unused id, also after a user removed some."""
    taken = {question.id for question in questions}
    return next(name for n in count(len(questions) + 1) if (name := f"Q{n}") not in taken)


def _use_own_ids(query: Query, ids: Mapping[str, str], fallback: str) -> Query:
    text = " ".join(query.text.split())
    for offered, ours in ids.items():
        text = text.replace(f"{{{offered}}}", f"{{\0{ours}}}")
    question = ids.get(query.question) or fallback
    return query.model_copy(update={"text": text.replace("\0", ""), "question": question})


def _keep_unasked(own: list[Query], past: list[Query], limit: int) -> list[Query]:
    """Return the model's own choice without queries asked before word for word."""
    seen = {normalize_query(q.text) for q in past} | {""}
    found: list[Query] = []
    for query in own:
        if normalize_query(query.text) not in seen and len(found) < limit:
            seen.add(normalize_query(query.text))
            found.append(query)
    return found


def _split_waiting(
    own: list[Query], questions: list[SubQuestion], brief: PlanInput
) -> tuple[list[Query], list[Query]]:
    """Split queries into those that can be asked, with answers filled in, and those that wait."""
    known = find_answers(questions, brief.findings)
    needs = {q.id: q.needs for q in questions}
    ready: list[Query] = []
    waiting: dict[str, Query] = {}
    for query in own:
        now = fill_answers(query, needs.get(query.question, []), known)
        if now:
            ready.append(now)
        else:
            waiting.setdefault(normalize_query(query.text), query)
    if not ready and waiting and not any(is_askable(q, known) and q.id not in known for q in questions):
        first = waiting.pop(next(iter(waiting)))
        ready = [first.model_copy(update={"text": drop_placeholders(first.text) or brief.question})]
    return ready, list(waiting.values())


def _choose_worthwhile(
    ready: list[Query],
    questions: list[SubQuestion],
    past: list[Query],
    brief: PlanInput,
    plan: Plan,
    served: Mapping[Family, float],
) -> tuple[list[Query], list[Reason]]:
    """Return the planner's new queries in its order with generated ones, and notes on changes."""
    is_doubting = bool(brief.findings)
    at = make_scoring_context(questions, brief.findings, brief.gaps, past, brief.lessons, served, is_doubting)
    known = find_answers(questions, brief.findings)
    askable = [q for q in questions if is_askable(q, known)]
    unanswered = [q for q in askable if at.openness[q.id] > 0.5 or q.id in at.wanted]
    turn = order_open_questions([q.id for q in unanswered], past, brief.findings, at.wanted)
    by_id = {q.id: _fill_question(q, known) for q in questions}
    seen_from = plan.perspectives or brief.perspectives
    found_names = find_new_names(brief.question, brief.findings)
    wanted = [by_id[name] for name in turn or by_id]
    theme = QueryTheme(brief.question, brief.round, wanted, seen_from, found_names)
    notes = [brief.approach] if brief.approach else []
    offered = collect_candidates([*_broader_query(brief, theme), *ready], theme)
    kept = _drop_overused(offered, past, notes)
    if sum(c.origin == "model" for c in kept) < sum(c.origin == "model" for c in offered):
        notes.append(Reason(phrase="angle"))
    picked = choose_queries(kept, at, brief.limit, turn)
    if len(picked) < brief.limit and not _names_used(picked, found_names):
        picked += [c.query for c in kept if _names_used([c.query], found_names)][:1]
    if not picked and brief.round > 1:
        notes.append(Reason(phrase="turned"))
        turned = drop_repeats(queries_from_other_angles(theme, brief.findings, past), past)
        picked = choose_queries([QueryCandidate(query, "code") for query in turned], at, brief.limit, turn)
    return picked, notes


def _drop_overused(
    offered: list[QueryCandidate], past: list[Query], notes: list[Reason]
) -> list[QueryCandidate]:
    """Drop repeats, and patterns tried three times if anything else is left."""
    new = {normalize_query(q.text) for q in drop_repeats([c.query for c in offered], past)}
    kept = [c for c in offered if normalize_query(c.query.text) in new]
    unworn = [c for c in kept if not is_overused(c.query, past)]
    if any(c.origin == "model" and c not in unworn for c in kept):
        notes.append(Reason(phrase="overused"))
    return unworn


def _broader_query(brief: PlanInput, theme: QueryTheme) -> list[Query]:
    """Return the broader question itself after many rounds without anything new."""
    if not brief.approach:
        return []
    name = theme.open_questions[0].id
    return [Query(id="", text=broaden_topic(brief.question), question=name, round=brief.round)]


def _fill_question(question: SubQuestion, known: Mapping[str, str]) -> SubQuestion:
    query = Query(id="", text=question.text, question=question.id, round=1)
    now = fill_answers(query, question.needs, known)
    return question.model_copy(update={"text": now.text if now else drop_placeholders(question.text)})


def _fallback_queries(brief: PlanInput, questions: list[SubQuestion]) -> list[Query]:
    """Return the question itself, if the first plan has nothing better."""
    if brief.round > 1:
        return []
    return [Query(id="", text=brief.question, question=questions[0].id, round=1)]


def _number_queries(queries: list[Query], number: int) -> list[Query]:
    return [
        query.model_copy(update={"id": f"r{number}q{place}", "round": number})
        for place, query in enumerate(queries, 1)
    ]


def reuse_scout(queries: Sequence[Query], question: str) -> list[Query]:
    """Let a query that repeats the scouted question have its very words: its answer is known and free."""
    whole = normalize_query(question)
    return [
        q.model_copy(update={"text": question}) if normalize_query(q.text) == whole else q for q in queries
    ]


def follow_papers(queries: Sequence[Query], question: str, when: Literal["auto", "on", "off"]) -> list[Query]:
    """Let queries ask for the papers around those they find, if the question or the query calls for it."""
    if when == "off":
        return list(queries)
    asked: list[LinkKind] = ["citations", "references"] if when == "on" else links_wanted(question)
    wanted = [list(dict.fromkeys([*asked, *links_wanted(query.text)])) for query in queries]
    return [q.model_copy(update={"links": w}) if w else q for q, w in zip(queries, wanted, strict=True)]


_MAX_OTHER_QUERIES = 3


def add_counter_query(
    queries: Sequence[Query], brief: PlanInput, hypotheses: Sequence[Hypothesis], is_endless: bool
) -> list[Query]:
    """Add a query for counter-evidence; in an endless run without any, add other angles."""
    leader = leading_hypothesis(hypotheses)
    is_needed = is_endless or (leader is not None and bool(queries))
    if brief.round == 1 or not brief.questions or not is_needed:
        return list(queries)
    asked = [*brief.asked, *queries]
    kept = list(queries)
    if not kept:
        kept = _queries_for_gap(
            angle_queries(brief.question, brief.findings, asked, _MAX_OTHER_QUERIES), brief, "web"
        )
    if not any(query.family == "counter" for query in kept):
        texts = counter_queries([leader] if leader else [], brief.findings, [*asked, *kept], 1)
        room = max(1, brief.limit - 1)
        kept = [*kept[:room], *_queries_for_gap(texts, brief, "counter")][: brief.limit]
    return [query.model_copy(update={"id": f"r{brief.round}q{n}"}) for n, query in enumerate(kept, 1)]


def _queries_for_gap(texts: Sequence[str], brief: PlanInput, family: Family) -> list[Query]:
    question = brief.gaps[0].question if brief.gaps and brief.gaps[0].question else brief.questions[0].id
    return [Query(id="", text=text, question=question, round=brief.round, family=family) for text in texts]


def queries_from_person(texts: Sequence[str], state: ResearchState, first: int = 1) -> list[Query]:
    """Return a user's queries; one from the plan keeps its sub-question or branch."""
    number = len(state.get("judgements", [])) + 1
    planned = {q.text: q for q in state.get("queries", [])}
    branches = planned if state.get("directions") else {}
    name = "w" if branches else f"r{number}q"  # a user's query, beside directions with their own ids
    kept = [text.strip() for text in texts if text.strip()]
    return [
        branches.get(text)
        or Query(id=f"{name}{n}", text=text, question=_question_of(planned.get(text), state), round=number)
        for n, text in enumerate(kept, first)
    ]


def queries_added_meanwhile(added: Mapping[int, str], state: ResearchState) -> list[Query]:
    """Return queries that a user added during the run and that are not in the plan yet."""
    number = len(state.get("judgements", [])) + 1
    planned = {q.text for q in state.get("queries", [])} | {q.id for q in state.get("queries", [])}
    about = "" if state.get("directions") else _question_of(None, state)
    queries = [
        Query(id=f"a{order}", text=text, question=about, round=number) for order, text in added.items()
    ]
    return [query for query in queries if planned.isdisjoint({query.id, query.text})]


def questions_from_person(texts: Sequence[str], state: ResearchState) -> list[SubQuestion]:
    """Return a user's sub-questions; known ones keep their ids, and those with evidence always stay."""
    known = state.get("questions", [])
    used = {claim.question for claim in state.get("claims", [])}
    wanted = dict.fromkeys(" ".join(text.split()) for text in texts if text.strip())
    kept = [question for question in known if question.text in wanted or question.id in used]
    names = {question.text for question in kept}
    taken = {question.id for question in known}
    free = (name for number in range(1, len(taken) + len(wanted) + 1) if (name := f"Q{number}") not in taken)
    new = [SubQuestion(id=next(free), text=text) for text in wanted if text not in names]
    left = {question.id for question in [*kept, *new]}
    return [q.model_copy(update={"needs": [need for need in q.needs if need in left]}) for q in [*kept, *new]]


def _question_of(query: Query | None, state: ResearchState) -> str:
    """Return the sub-question of a query, by default the first."""
    ids = [question.id for question in state.get("questions", [])]
    if query and (query.question in ids or not ids):
        return query.question
    return next(iter(ids), "")
