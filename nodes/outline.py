"""Outline node: plan the report before it is written."""

from fathom.evidence.corroboration import make_points
from fathom.llm.protocol import ResearchModel
from fathom.planning.effort import estimate_effort
from fathom.report.limits import describe_limits
from fathom.report.outline import check_outline, revise_outline, word_shares, word_target
from fathom.state import RunConfig, Writing
from fathom.text.messages import KOREAN, messages_for


async def outline(state: Writing, *, model: ResearchModel, run_config: RunConfig) -> Writing:
    """Return headings with their claims, their lengths, and the limits.

    An existing outline is kept and extended with new claims, at no cost.

    Reads:  question, questions, claims, findings, outline, effort, pages, judgements, contradictions
    Writes: outline, lengths, limits, failures, costs
    """
    question, questions, claims = state["question"], state.get("questions", []), state["claims"]
    points = make_points(claims, state.get("findings", []))
    kind = state["effort"].kind if "effort" in state else estimate_effort(question, run_config.depth).kind
    earlier = state.get("outline")
    update: Writing = {}
    if earlier and earlier.question == question:
        made = revise_outline(earlier, claims, questions)
    else:
        result = await model.outline(question, questions, points)
        made = check_outline(result.value, question, questions, claims)
        update = {"failures": result.failures, "costs": result.costs}
    is_korean = messages_for(question, run_config.language) is KOREAN
    words = word_target(run_config.length, kind, len(points), is_korean=is_korean)
    return {
        **update,
        "outline": made,
        "lengths": word_shares(words, made.headings),
        "limits": describe_limits({**state, "outline": made}),
    }
