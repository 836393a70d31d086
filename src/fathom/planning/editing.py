"""A plan as a person changes it: words become queries and sub-questions.

Does not know how the words are asked for. What stood in the plan before keeps its name.
"""

from collections.abc import Mapping, Sequence

from fathom.state import Query, ResearchState, SubQuestion


def as_queries(texts: Sequence[str], state: ResearchState, first: int = 1) -> list[Query]:
    """A person's queries; one that was in the plan keeps its sub-question, or is the branch it was."""
    number = len(state.get("judgements", [])) + 1
    planned = {q.text: q for q in state.get("queries", [])}
    branches = planned if state.get("directions") else {}
    name = "w" if branches else f"r{number}q"  # a wish, beside directions that have names of their own
    kept = [text.strip() for text in texts if text.strip()]
    return [
        branches.get(text)
        or Query(id=f"{name}{n}", text=text, question=_about(planned.get(text), state), round=number)
        for n, text in enumerate(kept, first)
    ]


def wished(added: Mapping[int, str], state: ResearchState) -> list[Query]:
    """The queries that a person added while the run worked, and that the plan does not have yet."""
    number = len(state.get("judgements", [])) + 1
    planned = {q.text for q in state.get("queries", [])} | {q.id for q in state.get("queries", [])}
    about = "" if state.get("directions") else _about(None, state)
    queries = [
        Query(id=f"a{order}", text=text, question=about, round=number) for order, text in added.items()
    ]
    return [query for query in queries if planned.isdisjoint({query.id, query.text})]


def as_questions(texts: Sequence[str], state: ResearchState) -> list[SubQuestion]:
    """A person's sub-questions; one that was there keeps its id, and one with evidence stays in any case."""
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


def _about(query: Query | None, state: ResearchState) -> str:
    """The sub-question a query is asked for: its own, or else the first."""
    ids = [question.id for question in state.get("questions", [])]
    if query and (query.question in ids or not ids):
        return query.question
    return next(iter(ids), "")
