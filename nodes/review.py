"""Review node: let a user review the plan, if the run asks for it or the user paused."""

from collections.abc import Mapping

from langgraph.types import Overwrite, interrupt

from fathom.nodes.ports import BudgetPort, ControlSignalsPort
from fathom.planning.round_plan import queries_added_meanwhile, queries_from_person, questions_from_person
from fathom.report.rounds import review_details
from fathom.state import ResearchState, ReviewAnswer, RunConfig


async def review(
    state: ResearchState, *, run_config: RunConfig, signals: ControlSignalsPort, budget: BudgetPort
) -> ResearchState:
    """Interrupt with the plan and apply the answer; pass through when no review is wanted.

    Queries that a user added meanwhile join the plan, and a user's stop ends the search. Nothing before the
    interrupt may cost money, since the node runs again from its start.

    Reads:  question, strategy, effort, perspectives, tool, questions, queries, waiting, claims, findings,
            judgements, directions, said, recalled, contradictions, outline, forecast
    Writes: queries, questions, feedback, said, is_finishing
    """
    if await signals.is_stopping():
        return {"is_finishing": True}
    number = len(state.get("judgements", [])) + 1
    added = await signals.added(number)
    state = {**state, "queries": [*state.get("queries", []), *queries_added_meanwhile(added, state)]}
    is_pausing, is_wanted = await signals.is_pausing(f"review {number}"), _is_wanted(state, run_config)
    if not is_pausing and not is_wanted:
        return _keep_added(added, state)
    spent_usd = (await budget.account()).usd
    shown = review_details(state, run_config, spent_usd, why="review" if is_wanted else "paused")
    answer = ReviewAnswer.model_validate(interrupt(shown, response_schema=ReviewAnswer))
    match answer.action:
        case "finish":
            return {"is_finishing": True}
        case "feedback":
            words = answer.text.strip()
            return {"feedback": words, "said": [*state.get("said", []), words]}
        case "edit":
            return _apply_edit(answer, state)
        case "add":
            queries = state["queries"]
            return {"queries": [*queries, *queries_from_person([answer.text], state, first=len(queries) + 1)]}
        case "approve":
            return _keep_added(added, state)


def _is_wanted(state: ResearchState, run_config: RunConfig) -> bool:
    # A follow-up spends its first round on stored pages: its first plan to search is the second.
    is_first = len(state.get("judgements", [])) == (1 if "recalled" in state else 0)
    return run_config.review == "rounds" or (run_config.review == "plan" and is_first)


def _keep_added(added: Mapping[int, str], state: ResearchState) -> ResearchState:
    return {"queries": state["queries"]} if added else {}


def _apply_edit(answer: ReviewAnswer, state: ResearchState) -> ResearchState:
    """Apply the user's edits to the plan. Branches have their own sub-questions, unknown at this point."""
    texts = [query for query in answer.queries if query.strip()]
    if not any(question.strip() for question in answer.questions) or state.get("directions"):
        return {"queries": queries_from_person(texts, state)} if texts else {"queries": state["queries"]}
    questions = questions_from_person(answer.questions, state)
    state = {**state, "questions": questions}
    queries = queries_from_person(texts or [query.text for query in state["queries"]], state)
    return {"queries": queries, "questions": Overwrite(questions)}  # type: ignore[typeddict-item]
