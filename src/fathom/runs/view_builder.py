"""The views of a run, made from its state: query, plan, results, answer, and the thread they stand in.

Views contain only what is in the state.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from fathom.errors import BadInput
from fathom.events import Progress
from fathom.http.urls import canonical_address, parse_host
from fathom.runs import EVENTS, folder_of, run_times
from fathom.runs.agent_states import (
    agent_messages_from_events,
    agent_messages_from_state,
    agent_states_from_events,
    agent_states_from_state,
)
from fathom.runs.executor import Runs, has_ended
from fathom.runs.views import (
    AnswerSection,
    ConversationThread,
    PlanStep,
    ResearchPlan,
    ResearchQuery,
    RunViews,
    SearchResult,
    SourceCitation,
    SynthesizedAnswer,
    ViewedRun,
    stable_id,
)
from fathom.search.routing import resolve_engine_name
from fathom.state import Hit, Page, RunConfig, RunState, Section, load_hits, short_id
from fathom.text.tokens import query_terms

IDLE_AFTER = timedelta(minutes=10)
_SNIPPET_CHARS = 300
_MOST_KEYWORDS = 12
_SITES = {"arxiv.org": "arxiv", "wikipedia.org": "wikipedia", "ncbi.nlm.nih.gov": "pubmed"}

# A word is what stands between spaces and has a letter or a figure in it, also in Korean; in scripts that
# write none, every character counts.
_WORD = re.compile(r"[぀-ヿ㐀-鿿]|[^\W぀-ヿ㐀-鿿]+(?:[^\s\w]+[^\W぀-ヿ㐀-鿿]+)*")


def view_query(at: ViewedRun) -> ResearchQuery:
    """The question: one that stopped and can go on is still being worked on."""
    query = ResearchQuery(
        id=at.run,
        thread_id=at.thread,
        content=at.question,
        search_sources=search_sources(at.run_config),
        created_at=at.began,
        updated_at=at.began,
    )
    if "effort" in at.state or "earlier" in at.state or at.is_over:
        query = query.moved("processing", at.began)
    if not at.is_over:
        return query
    return query.moved("failed" if at.state["report"].status == "failed" else "completed", at.last)


def view_plan(at: ViewedRun) -> ResearchPlan | None:
    """Return the current plan: one step per sub-question, with its queries."""
    questions = at.state.get("questions", [])
    if not questions:
        return None
    queries = {query.id: query for query in [*at.state.get("asked", []), *at.state.get("queries", [])]}
    sources = search_sources(at.run_config)
    steps = [
        PlanStep(
            number=number,
            description=question.text,
            sources=sources,
            keywords=_distinct(query.text for query in queries.values() if query.question == question.id),
        )
        for number, question in enumerate(questions, 1)
    ]
    return ResearchPlan(
        id=stable_id(at.run, "plan"),
        query_id=at.run,
        strategy=at.state.get("strategy", ""),
        keywords=_distinct(query_terms(" ".join([at.question, *(q.text for q in questions)])))[
            :_MOST_KEYWORDS
        ],
        steps=steps,
        estimated_s=round(expected.expected_s) if (expected := at.state.get("forecast")) else None,
        created_at=at.times.get("questions", at.began),
    )


def view_results(at: ViewedRun) -> list[SearchResult]:
    """Return every page that was read, with its best quote; then the results that were not read."""
    best: dict[str, tuple[float, str]] = {}
    for claim in at.state.get("claims", []):
        for quote in claim.quotes:
            best[quote.page] = max(best.get(quote.page, (-1.0, "")), (claim.relevance, quote.text))
    pages = at.state.get("pages", [])
    read = {canonical_address(page.address) for page in pages}
    unread = {canonical_address(hit.address): hit for hit in at.found}
    return [
        *(_view_page(at, page, *best.get(page.sha, (None, ""))) for page in pages),
        *(
            _view_result(at, hit, hit.snippet, hit.authors, at.last, is_read=False)
            for address, hit in unread.items()
            if address not in read
        ),
    ]


def _view_result(
    at: ViewedRun, place: Page | Hit, snippet: str, authors: Iterable[str], when: datetime, **more: Any
) -> SearchResult:
    return SearchResult(
        id=stable_id(at.run, "result", place.address),
        query_id=at.run,
        source=_kind_of_place(place.address),
        engine=place.engine,
        title=place.title or place.address,
        address=place.address,
        snippet=snippet[:_SNIPPET_CHARS],
        authors=_distinct(authors),
        published=place.published,
        pdf=place.pdf or None,
        image=place.image or None,
        retracted=place.retracted,
        created_at=when,
        **more,
    )


def _view_page(at: ViewedRun, page: Page, relevance: float | None, quote: str) -> SearchResult:
    authors, read = (page.author or "").split(", "), _parse_time(page.fetched, at.began)
    return _view_result(at, page, " ".join(quote.split()), authors, read, relevance=relevance)


def view_answer(at: ViewedRun) -> SynthesizedAnswer | None:
    """The report as it stands."""
    report = at.state.get("report")
    if report is None:
        return None
    numbers = {quote.page: citation.number for citation in report.citations for quote in citation.quotes}
    pages = {claim.id: [quote.page for quote in claim.quotes] for claim in at.state.get("claims", [])}
    engines = {page.sha: page.engine for page in at.state.get("pages", [])}
    sections = [_view_section(section, pages, numbers) for section in report.sections if section.sentences]
    return SynthesizedAnswer(
        id=stable_id(at.run, "answer"),
        query_id=at.run,
        thread_id=at.thread,
        content=report.markdown,
        citations=[
            SourceCitation(
                id=stable_id(at.run, "result", one.address),
                number=one.number,
                title=one.title or one.address,
                address=one.address,
            )
            for one in report.citations
        ],
        sections=sections,
        total_sources=len(report.citations),
        by_source=dict(Counter(_kind_of_place(citation.address) for citation in report.citations)),
        by_engine=dict(Counter(engines.get(citation.page) or "unknown" for citation in report.citations)),
        word_count=sum(word_count(f"{section.heading} {section.content}") for section in sections),
        created_at=at.last,
    )


def _view_section(
    section: Section, pages: Mapping[str, list[str]], numbers: Mapping[str, int]
) -> AnswerSection:
    used = {page for sentence in section.sentences for c in sentence.claims for page in pages.get(c, [])}
    lines = [sentence.text for sentence in section.sentences]
    content = "\n".join(f"- {line}" for line in lines) if section.is_list else " ".join(lines)
    cited = sorted({numbers[page] for page in used & numbers.keys()})
    return AnswerSection(heading=section.title, content=content, citations=cited)


def view_thread(sights: Sequence[ViewedRun], now: datetime, *, is_closed: bool) -> ConversationThread:
    """Return the thread of these runs in order; it is idle after ten minutes without activity."""
    last = max(at.last for at in sights)
    thread = ConversationThread(
        id=sights[0].thread,
        session_id=sights[0].run_config.session_id or "",
        queries=[view_query(at) for at in sights],
        answers=[answer for at in sights if at.is_over and (answer := view_answer(at))],
        created_at=sights[0].began,
        updated_at=last,
    )
    if is_closed:
        return thread.moved("closed", last)
    return thread.moved("idle", last) if now - last >= IDLE_AFTER else thread


def search_sources(run_config: RunConfig) -> list[str]:
    """Return where a run searches: engines by name, or kinds of sources."""
    named = [*(["local"] if run_config.docs else []), *map(resolve_engine_name, run_config.engines)]
    return _distinct(named) or ["academic" if run_config.academic else "news" if run_config.news else "web"]


def word_count(text: str) -> int:
    """How many words a text has, in any script."""
    return len(_WORD.findall(text))


def _kind_of_place(address: str) -> str:
    """Return the kind of source of a page."""
    name = parse_host(address)
    if not name:
        return "local" if address.startswith("file:") else address.partition(":")[0] or "local"
    return next((known for site, known in _SITES.items() if name == site or name.endswith(f".{site}")), "web")


def _parse_time(written: str, otherwise: datetime) -> datetime:
    """A time that was written down; one without a zone is taken for UTC."""
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        return otherwise
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _distinct(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(word.strip() for word in words if word.strip()))


async def load_thread(runs: Runs, run_id: str) -> ConversationThread:
    """The thread a run stands in: every question and answer, in the order they were asked."""
    threads = runs.storage.threads
    root = await threads.thread_of(run_id)
    there = set(await runs.storage.checkpoints.run_ids())
    members = [one for one, _ in await threads.runs_of(root) if one in there]
    sights = [await _load_viewed_run(runs, one, root) for one in members]
    return view_thread(sights, datetime.now(UTC), is_closed=await threads.is_closed(root))


async def close_thread(runs: Runs, run_id: str) -> ConversationThread:
    """The thread of a run, closed: nothing more is asked in it. Closing it again is refused."""
    found = await load_thread(runs, run_id)
    closed = found.moved("closed", max(datetime.now(UTC), found.updated_at))
    await runs.storage.threads.close(found.id)
    return closed


async def load_views(runs: Runs, run_id: str) -> RunViews:
    """Everything there is to see of one run; from its events, where they were written down."""
    root = await runs.storage.threads.thread_of(run_id)
    at = await _load_viewed_run(runs, run_id, root, await _step_times(runs, run_id))
    events = await _load_events(runs, run_id)
    return RunViews(
        query=view_query(at),
        plan=view_plan(at),
        results=view_results(at),
        answer=view_answer(at),
        agents=agent_states_from_events(run_id, events, at.began) if events else agent_states_from_state(at),
        messages=agent_messages_from_events(run_id, events) if events else agent_messages_from_state(at),
    )


async def _load_viewed_run(
    runs: Runs, run_id: str, root: str, times: dict[str, datetime] | None = None
) -> ViewedRun:
    snapshot = await runs.snapshot(run_id)
    began, last = await run_times(runs.storage, run_id)
    question = str(snapshot.values.get("question", ""))
    if not question:
        raise BadInput(f"Run {short_id(run_id)} was begun without a question: there is nothing to see.")
    state = cast(RunState, snapshot.values)
    is_over = has_ended(snapshot)
    texts = [await runs.storage.pages.find(sha) for sha in state.get("results", [])]
    found = [hit for text in texts if text for hit in load_hits(text)]
    return ViewedRun(run_id, root, question, state, began, last, is_over, found, times or {})


async def _step_times(runs: Runs, run_id: str) -> dict[str, datetime]:
    """When the plan was first there, and each judged round."""
    seen: list[tuple[datetime, list[str]]] = []
    async for snapshot in runs.steps(run_id):  # the newest first
        judged = [f"round {judgement.round}" for judgement in snapshot.values.get("judgements", [])]
        plan = ["questions"] if snapshot.values.get("questions") else []
        seen.append((datetime.fromisoformat(snapshot.created_at or ""), [*plan, *judged]))
    found: dict[str, datetime] = {}
    for at, names in sorted(seen, reverse=True):
        found |= dict.fromkeys(names, at)
    return found


async def _load_events(runs: Runs, run_id: str) -> list[Progress]:
    folder = await folder_of(runs.storage, run_id)
    return await asyncio.to_thread(_read_events, folder / EVENTS) if folder else []


def _read_events(path: Path) -> list[Progress]:
    """The events in a file; a line that is none, or of another version, is left out."""
    found: list[Progress] = []
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    for line in lines:
        try:
            found.append(Progress.model_validate_json(line))
        except ValidationError:
            continue
    return found
