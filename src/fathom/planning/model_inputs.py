"""Build the planner's and the judge's input from the state."""

from datetime import date

from fathom.evidence.question_checks import run_checks
from fathom.planning.bandit import gaps_to_close
from fathom.planning.dependencies import find_answers
from fathom.planning.effort import describe_limits
from fathom.planning.hypotheses import active_hypotheses
from fathom.planning.memory import confidence_by_claim, summarize_rounds
from fathom.planning.reflexion import (
    TOOL_NAMES,
    RoundSituation,
    advise_new_approach,
    choose_tool,
    count_barren_rounds,
    draw_lessons,
)
from fathom.state import Effort, Lesson, ResearchState, RunConfig, ThinkingTool
from fathom.state.depth import Thinking
from fathom.state.model_io import JudgeInput, LinkPaths, PlanInput


def make_judge_input(
    state: ResearchState, link_paths: LinkPaths, run_config: RunConfig, today: date
) -> JudgeInput:
    """Build the judge's input, before claims are compared with each other."""
    question, claims, read = state["question"], state.get("claims", []), state.get("pages", [])
    before, present = state.get("judgements", []), state.get("outline")
    return JudgeInput(
        question,
        state.get("questions", []),
        claims,
        checks=run_checks(question, claims, read, today, before, run_config.language),
        hypotheses=active_hypotheses(state.get("hypotheses", [])),
        link_paths=link_paths,
        before=before[-1].evidence if before else [],
        pages=read,
        rejected=state.get("rejected", []),
        gaps=before[-1].gaps if before else [],
        outline=present if present and present.question == question else None,
        kind=effort.kind if (effort := state.get("effort")) else "survey",
        limits=describe_limits(run_config, len(before) + 1, state.get("costs", [])),
        today=today.isoformat(),
        language=run_config.language,
    )


def make_plan_input(state: ResearchState, worth: Effort, run_config: RunConfig, today: date) -> PlanInput:
    """Build the planner's input for this round."""
    judgements, claims = state.get("judgements", []), state.get("claims", [])
    questions, fork = state.get("questions", []), state.get("fork")
    needed = {need for q in questions for need in q.needs}
    number = len(judgements) + 1
    return PlanInput(
        question=state["question"],
        round=number,
        limit=run_config.queries,
        questions=questions,
        asked=state.get("asked", []),
        gaps=gaps_to_close(judgements, state.get("asked", []), claims),
        findings=[*state.get("learned", []), *claims],
        sure=confidence_by_claim(state.get("findings", [])),
        feedback=state.get("feedback", ""),
        is_new_way=fork is not None and fork.direction == state.get("feedback"),
        times_said=state.get("said", []).count(state.get("feedback", "")),
        proposed=state.get("queries", []),
        leads=judgements[-1].leads if judgements else [],
        effort=worth,
        tool=_choose_tool_for(state, run_config.thinking),
        perspectives=state.get("perspectives", []),
        answers={name: phrase for name, phrase in find_answers(questions, claims).items() if name in needed},
        waiting=state.get("waiting", []),
        lessons=_collect_lessons(state),
        approach=advise_new_approach(judgements),
        memory=summarize_rounds(judgements, state.get("asked", []), claims),
        today=today.isoformat(),
        limits=describe_limits(run_config, number, state.get("costs", [])),
        outline=state.get("outline"),
        hypotheses=active_hypotheses(state.get("hypotheses", [])),
        rereads=[reread for reread in state.get("rereads", []) if reread.round == number],
    )


def _choose_tool_for(state: ResearchState, wanted: Thinking) -> ThinkingTool:
    if wanted != "auto":
        return ThinkingTool(name=TOOL_NAMES[wanted], because="the run asks for it")
    judgements = state.get("judgements", [])
    return choose_tool(
        RoundSituation(
            round=len(judgements) + 1,
            claims=len(state.get("claims", [])),
            barren_rounds=count_barren_rounds(judgements),
            contradictions=sum(c.is_open for c in state.get("contradictions", [])),
            hypotheses=state.get("hypotheses", []),
            overall=judgements[-1].overall if judgements else 0.0,
        )
    )


def _collect_lessons(state: ResearchState) -> list[Lesson]:
    """Return lessons of earlier rounds and of the last one."""
    last = len(state.get("judgements", []))
    before = [lesson for lesson in state.get("lessons", []) if lesson.round < last]
    found = (state.get("asked", []), state.get("chosen", []), state.get("pages", []), state.get("claims", []))
    return [*before, *(draw_lessons(*found, last) if last else [])]
