"""Build the planner's and the judge's input from the state, and the judgement of a round.

The first plan also gets perspectives from the structure of pages (STORM): what others made chapters of.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from fathom.budget import Account
from fathom.errors import ProviderError
from fathom.evidence import scoring
from fathom.evidence.answer_kinds import (
    is_factual_question,
    list_failing_checks,
    run_checks,
    score_directness,
)
from fathom.evidence.checks import has_phrase
from fathom.evidence.scoring import assess_no_claims, collect_gaps, find_best_new_claims
from fathom.evidence.stopping import RunPosition, count_idle_rounds
from fathom.planning.effort import describe_round_limits
from fathom.planning.hypotheses import active_hypotheses, weigh_hypotheses
from fathom.planning.memory import (
    advise_new_approach,
    choose_tool,
    confidence_by_claim,
    draw_lessons,
    summarize_rounds,
)
from fathom.planning.questions import find_answers
from fathom.planning.reading_list import DIRECT_FROM, origin_hits
from fathom.planning.tree import gaps_to_close
from fathom.reading import Reader
from fathom.state import (
    Effort,
    Failure,
    Hit,
    Hypothesis,
    Judgement,
    Lesson,
    ResearchState,
    RunConfig,
)
from fathom.state.model_io import Assessment, JudgeInput, LinkPaths, ModelResult, PlanInput
from fathom.text.mentions import find_name_words
from fathom.text.normalization import one_line
from fathom.text.ranking import terms
from fathom.text.tokens import has_cjk

_HEADING = re.compile(r"^(#{1,4})\s+(.{1,90})$", re.MULTILINE)
_NUMBERED = re.compile(r"^(?:\d+(?:\.\d+)*[.)]?|[IVX]+\.|제?\d+[장절])\s+")
_MAX_PAGE_HEADINGS = 12
_MAX_PERSPECTIVES = 5
_MAX_HEADING_CHARS = 80


@dataclass(frozen=True)
class PageStructure:
    """A page's title and chapter headings."""

    title: str
    headings: list[str]


def find_headings(text: str) -> list[str]:
    """Return a page's headings in order, without its title and headings that every page has."""
    found = [(marks, _clean(heading)) for marks, heading in _HEADING.findall(text)]
    chapters = found[1:] if found and found[0][0] == "#" else found
    headings = [heading for _, heading in chapters if heading and not has_phrase("usual_heading", heading)]
    return list(dict.fromkeys(headings))[:_MAX_PAGE_HEADINGS]


def read_structure(title: str, text: str) -> PageStructure:
    """Return the structure of a page."""
    return PageStructure(one_line(title)[:_MAX_HEADING_CHARS], find_headings(text))


def describe_structure(page: PageStructure) -> str:
    """Return a page's structure in one line; "" if it has none."""
    return f"{page.title}: {' | '.join(page.headings)}" if page.headings else ""


def derive_perspectives(question: str, pages: Sequence[PageStructure], hits: Sequence[Hit]) -> list[str]:
    """Derive perspectives without a model: headings shared by several pages first; else titles."""
    counts = Counter(frozenset(terms(heading)) for page in pages for heading in page.headings)
    ranked = sorted(
        (-counts[frozenset(terms(heading))], place, heading)
        for page in pages
        for place, heading in enumerate(page.headings)
    )
    named = [heading for *_, heading in ranked] or [_clean(hit.title) for hit in hits]
    return distinct_perspectives(named, terms(question))


def distinct_perspectives(named: Sequence[str], asked: set[str] | None = None) -> list[str]:
    """Return a few perspectives that differ from each other and from the question."""
    kept: list[str] = []
    seen: list[set[str]] = []
    for name in (one_line(name)[:_MAX_HEADING_CHARS] for name in named):
        words = terms(name)
        is_new = words and not words <= (asked or set()) and all(not words <= other for other in seen)
        if is_new and len(kept) < _MAX_PERSPECTIVES:
            kept.append(name)
            seen.append(words)
    return kept


def _clean(heading: str) -> str:
    return _NUMBERED.sub("", one_line(heading.strip("#* ")))


_MAX_STRUCTURES = 3
_STRUCTURE_TIMEOUT_S = 8.0


async def add_page_structure(
    brief: PlanInput, hits: Sequence[Hit], reader: Reader
) -> tuple[PlanInput, list[Failure]]:
    """Add scouted hits and, unless it is a fact question, the structure of the best pages to the input."""
    if brief.effort and brief.effort.kind == "fact":
        return replace(brief, scouted=hits), []
    few = hits[:_MAX_STRUCTURES]
    read = await asyncio.gather(*(_fetch_structure(hit, reader) for hit in few))
    found = [one for one in read if isinstance(one, PageStructure)]
    grounded = replace(
        brief,
        scouted=hits,
        outlines=[line for one in found if (line := describe_structure(one))],
        perspectives=derive_perspectives(brief.question, found, hits),
    )
    return grounded, [one for one in read if isinstance(one, Failure)]


async def _fetch_structure(hit: Hit, reader: Reader) -> PageStructure | Failure | None:
    """Fetch a page's headings; a slow page is skipped so that the plan does not wait."""
    try:
        async with asyncio.timeout(_STRUCTURE_TIMEOUT_S):
            document = await reader(hit)
    except ProviderError as error:
        return error.failure("reading", hit.address)
    except TimeoutError:
        return None
    return read_structure(document.title or hit.title, document.text)


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
        limits=describe_round_limits(run_config, len(before) + 1, state.get("costs", [])),
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
        tool=choose_tool(state, run_config.thinking),
        perspectives=state.get("perspectives", []),
        answers={name: phrase for name, phrase in find_answers(questions, claims).items() if name in needed},
        waiting=state.get("waiting", []),
        lessons=_collect_lessons(state),
        approach=advise_new_approach(judgements),
        memory=summarize_rounds(judgements, state.get("asked", []), claims),
        today=today.isoformat(),
        limits=describe_round_limits(run_config, number, state.get("costs", [])),
        outline=state.get("outline"),
        hypotheses=active_hypotheses(state.get("hypotheses", [])),
        rereads=[reread for reread in state.get("rereads", []) if reread.round == number],
    )


def _collect_lessons(state: ResearchState) -> list[Lesson]:
    """Return lessons of earlier rounds and of the last one."""
    last = len(state.get("judgements", []))
    before = [lesson for lesson in state.get("lessons", []) if lesson.round < last]
    found = (state.get("asked", []), state.get("chosen", []), state.get("pages", []), state.get("claims", []))
    return [*before, *(draw_lessons(*found, last) if last else [])]


_MAX_EVIDENCE_PAGES = 10  # pages a judgement names
_OF_THE_KIND = 0.3  # of an answer of the kind that is asked for, with any verb
_QUICK_PATIENCE = 1  # rounds after which an important gap no longer keeps a quick run going


def assess_without_model(state: ResearchState, language: str | None) -> ModelResult[Assessment] | None:
    """Return an assessment if no model is needed: no claims, or nothing new since the last one."""
    claims, earlier = state.get("claims", []), state.get("earlier")
    if not claims:
        is_rejected = any(not entry.section for entry in state.get("rejected", []))
        is_by_words = (forecast := state.get("forecast")) is not None and forecast.calls == 0
        return ModelResult(
            assess_no_claims(
                state.get("questions", []), language, is_rejected=is_rejected, is_by_words=is_by_words
            )
        )
    if earlier and {claim.id for claim in claims} == {claim.id for claim in earlier.claims}:
        return ModelResult(_repeat_assessment(earlier.judgements[-1]))
    judgements = state.get("judgements", [])
    if not judgements or judgements[-1].is_by_words or not _is_nothing_new(state, judgements[-1]):
        return None
    known = _repeat_assessment(judgements[-1])
    failed = [check.name for check in judgements[-1].checks if not check.is_passed]
    return ModelResult(replace(known, outline=state.get("outline"), failed=failed))


def _repeat_assessment(last: Judgement) -> Assessment:
    """Return the last answer, with the gaps as they were before failed rounds lowered them."""
    gaps = [
        gap.model_copy(update={"priority": gap.lowered_from or gap.priority, "lowered_from": None})
        for gap in last.gaps
    ]
    return Assessment(last.rubric, gaps, confidence=last.confidence, is_by_words=last.is_by_words)


def _is_nothing_new(state: ResearchState, last: Judgement) -> bool:
    """Tell whether no page was read, anew or again, and no claim was found since the last judgement."""
    is_reread = any(one.round > last.round for one in state.get("rereads", []))
    is_same = (last.claims, last.pages) == (len(state.get("claims", [])), len(state.get("pages", [])))
    return is_same and not is_reread


def weigh_round_hypotheses(state: ResearchState, assessment: Assessment) -> list[Hypothesis]:
    """Update the hypotheses with this round's evidence."""
    known = {claim.id: claim for claim in state.get("claims", [])}
    speaking = scoring.map_pages_to_sources(state.get("pages", []))
    number = len(state.get("judgements", [])) + 1
    return weigh_hypotheses(state.get("hypotheses", []), assessment.bearings, known, speaking, number)


def score_round(state: ResearchState, case: JudgeInput, assessment: Assessment, today: date) -> Judgement:
    """Return scores, new claims and gaps of the round, without the decision to stop."""
    claims, read = state.get("claims", []), state.get("pages", [])
    before = state.get("judgements", [])
    parts = {
        "coverage": scoring.score_coverage(case.questions, claims),
        "diversity": scoring.score_diversity(claims, read),
        "quality": scoring.score_quality(assessment.rubric) if claims else 0.0,
        "freshness": scoring.score_freshness(claims, read, today),
    }
    return Judgement(
        round=len(before) + 1,
        **parts,
        overall=scoring.score_overall(**parts),
        rubric=assessment.rubric,
        gaps=collect_gaps(assessment.gaps, case.checks),
        checks=list(case.checks),
        claims=len(claims),
        pages=len(read),
        new_claims=len(claims) - (before[-1].claims if before else 0),
        confidence=min(1.0, max(0.0, assessment.confidence)),
        found=find_best_new_claims(claims, before),
        evidence=case.link_paths.best[:_MAX_EVIDENCE_PAGES] if case.link_paths else [],
        leads=case.link_paths.leads if case.link_paths else [],
        is_by_words=assessment.is_by_words,
    )


def find_position(
    state: ResearchState,
    judgement: Judgement,
    assessment: Assessment,
    run_config: RunConfig,
    account: Account,
) -> RunPosition:
    """Return the run's position for the stop rules; failing checks count by themselves, not as gaps."""
    known = state.get("known")
    is_follow_up = known is not None and known.is_recalled
    return RunPosition(
        round=judgement.round,
        max_rounds=run_config.max_rounds,
        overall=judgement.overall,
        threshold=run_config.threshold,
        diversity=judgement.diversity,
        sources=scoring.count_sources(state.get("claims", []), state.get("pages", [])),
        claims=judgement.claims,
        new_claims=judgement.new_claims,
        gaps=assessment.gaps,
        spent_usd=account.usd,
        budget_usd=run_config.budget_usd,
        reserve=run_config.reserve,
        is_spent=account.is_out,
        is_finishing=state.get("is_finishing", False),
        has_asked=bool(state.get("queries")) or (is_follow_up and judgement.round == 1),
        coverage=judgement.coverage,
        confidence=judgement.confidence,
        gain=judgement.gain,
        failing=list_failing_checks(judgement.checks, state.get("judgements", [])),
        is_endless=run_config.endless,
        idle_rounds=count_idle_rounds([*state.get("judgements", []), judgement]),
        settled=assessment.settled,
        why_not_converged=assessment.why_not_converged,
        is_follow_up=is_follow_up,
        has_unread_origins=bool(origin_hits(state, run_config)),
        patience=_QUICK_PATIENCE if run_config.depth == "quick" else run_config.max_rounds,
        is_by_words=judgement.is_by_words,
        is_at_hand=not judgement.is_by_words or _is_answered_by_words(state),
    )


def _is_answered_by_words(state: ResearchState) -> bool:
    """Tell whether each part that asks for a fact has a claim of that kind about the thing that it names,
    and every part a claim with most words that it has and the thread's questions do not.

    For runs without a model, where a passage with some of the words is all that relevance says.
    """
    known = state.get("known")
    asked_before = terms(" ".join(turn.question for turn in known.turns)) if known else set()
    titles = {page.sha: page.title for page in state.get("pages", [])}
    for asked in state.get("questions", []):
        names = {name.lower() for name in find_name_words(asked.text)}
        said = [
            (quote.text, f"{titles.get(quote.page, '')} {quote.text}")
            for claim in state.get("claims", []) if claim.question == asked.id
            for quote in claim.quotes
        ]  # fmt: skip
        new, told = terms(asked.text) - asked_before, terms(" ".join(around for _, around in said))
        if len(new & told) < (1 if has_cjk(asked.text) else len(new) / 2) and new:
            return False
        # Korean verbs are not compared well, and a place needs no verb.
        is_any_verb = has_cjk(asked.text) or asked.text.lower().startswith("where")
        least = _OF_THE_KIND if is_any_verb else DIRECT_FROM
        if is_factual_question(asked.text) and not any(
            score_directness(asked.text, text) >= least and names <= _whole_words(around)
            for text, around in said
        ):
            return False
    return True


def _whole_words(text: str) -> set[str]:
    """Return the words of prose: a name inside of an identifier or an address is none."""
    return {word.strip(".,;:!?()[]\"'`*“”‘’").removesuffix("'s").lower() for word in text.split()}
