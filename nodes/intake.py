"""Intake node: the start of every run, also of an update of an earlier run."""

from fathom.http.urls import canonical_address
from fathom.nodes.ports import Forecaster, PageLeasesPort, RunConfigsPort
from fathom.planning.effort import check_question, estimate_effort, refuse_settings, refuse_state
from fathom.state import EarlierRun, Query, ResearchState, RunConfig


async def intake(
    state: ResearchState,
    *,
    run_config: RunConfig,
    run_configs: RunConfigsPort,
    page_leases: PageLeasesPort,
    forecaster: Forecaster,
) -> ResearchState:
    """Name the run and estimate its effort; an update takes over the earlier run's knowledge instead.

    The configuration is stored under the run's name, so that a resume needs no configuration.

    Reads:  question, earlier, run
    Writes: run; effort and forecast, or for an update questions, asked, judgements, rulings,
            outline, sections, queries, visited, offered
    """
    refuse_settings(state)
    refuse_state(state)
    earlier = state.get("earlier")
    question = "" if earlier else check_question(state.get("question"))
    run = await page_leases.begin()
    await run_configs.remember_config(run, run_config.model_dump_json())
    if earlier:
        return {"run": run, **_take_over(earlier)}
    return {
        "run": run,
        "effort": estimate_effort(question, run_config.depth),
        "forecast": await forecaster(question, run),
    }


def _take_over(earlier: EarlierRun) -> ResearchState:
    """Return the earlier run's knowledge, with its queries to ask again; an update needs no planning.

    Earlier hits count as visited, so only new pages are chosen beside those that are read again.
    """
    number = len(earlier.judgements) + 1
    texts = {query.text: query.question for query in earlier.asked}
    outlined: ResearchState = {"outline": earlier.outline} if earlier.outline else {}
    return {
        **outlined,
        "questions": earlier.questions,
        "asked": earlier.asked,
        "judgements": earlier.judgements,
        "rulings": earlier.rulings,
        "sections": earlier.sections,
        "queries": [
            Query(id=f"r{number}q{place}", text=text, question=question, round=number)
            for place, (text, question) in enumerate(texts.items(), start=1)
        ],
        "visited": [*(canonical_address(page.address) for page in earlier.pages), *earlier.offered],
        "offered": earlier.offered,
    }
