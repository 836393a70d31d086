"""The views of a run, made from its state: query, plan, results, answer, and the thread they stand in.

Does not know databases or events. What is not in the state is not in a view.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from fathom.search.addresses import host
from fathom.state import Citation, Page, RunConfig, RunState, Section
from fathom.text.tokens import query_terms
from fathom.views import (
    AnswerSection,
    ConversationThread,
    PlanStep,
    ResearchPlan,
    ResearchQuery,
    SearchResult,
    SourceCitation,
    SynthesizedAnswer,
    name_of,
)

IDLE_AFTER = timedelta(minutes=10)
_SNIPPET_CHARS = 300
_KEYWORDS = 12
_SITES = {"arxiv.org": "arxiv", "wikipedia.org": "wikipedia", "ncbi.nlm.nih.gov": "pubmed"}
# A word is what stands between spaces and has a letter or a figure in it, also in Korean; in scripts that
# write none, every character counts.
_WORD = re.compile(r"[぀-ヿ㐀-鿿]|[^\W぀-ヿ㐀-鿿]+(?:[^\s\w]+[^\W぀-ヿ㐀-鿿]+)*")


@dataclass(frozen=True)
class Sight:
    """What a database knows of a run: its state, when it began, when its last step was saved."""

    run: str
    thread: str
    question: str
    state: RunState
    began: datetime
    last: datetime
    is_over: bool
    times: Mapping[str, datetime] = field(default_factory=dict)  # when "questions" or "round 1" came about

    @property
    def run_config(self) -> RunConfig:
        """The run's settings."""
        return RunConfig.model_validate(self.state.get("run_config") or {})


def query_of(at: Sight) -> ResearchQuery:
    """The question: one that stopped and can go on is still being worked on."""
    query = ResearchQuery(
        id=at.run,
        thread_id=at.thread,
        content=at.question,
        search_sources=sources_of(at.run_config),
        created_at=at.began,
        updated_at=at.began,
    )
    if "effort" in at.state or "earlier" in at.state or at.is_over:
        query = query.moved("processing", at.began)
    if not at.is_over:
        return query
    return query.moved("failed" if at.state["report"].status == "failed" else "completed", at.last)


def plan_of(at: Sight) -> ResearchPlan | None:
    """The plan as it stands: a step a sub-question, with what was or will be asked for it."""
    questions = at.state.get("questions", [])
    if not questions:
        return None
    queries = {query.id: query for query in [*at.state.get("asked", []), *at.state.get("queries", [])]}
    sources = sources_of(at.run_config)
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
        id=name_of(at.run, "plan"),
        query_id=at.run,
        strategy=at.state.get("strategy", ""),
        keywords=_distinct(query_terms(" ".join([at.question, *(q.text for q in questions)])))[:_KEYWORDS],
        steps=steps,
        estimated_s=round(expected.expected_s) if (expected := at.state.get("forecast")) else None,
        created_at=at.times.get("questions", at.began),
    )


def results_of(at: Sight) -> list[SearchResult]:
    """Every page that was read, with its best quote."""
    best: dict[str, tuple[float, str]] = {}
    for claim in at.state.get("claims", []):
        for quote in claim.quotes:
            best[quote.page] = max(best.get(quote.page, (-1.0, "")), (claim.relevance, quote.text))
    return [_result(at, page, *best.get(page.sha, (None, ""))) for page in at.state.get("pages", [])]


def _result(at: Sight, page: Page, relevance: float | None, quote: str) -> SearchResult:
    return SearchResult(
        id=name_of(at.run, "result", page.address),
        query_id=at.run,
        source=_source(page.address),
        title=page.title or page.address,
        address=page.address,
        snippet=" ".join(quote.split())[:_SNIPPET_CHARS],
        authors=_distinct((page.author or "").split(", ")),
        published=page.published,
        relevance=relevance,
        created_at=_time(page.fetched, at.began),
    )


def answer_of(at: Sight) -> SynthesizedAnswer | None:
    """The report as it stands."""
    report = at.state.get("report")
    if report is None:
        return None
    numbers = {quote.page: citation.number for citation in report.citations for quote in citation.quotes}
    pages = {claim.id: [quote.page for quote in claim.quotes] for claim in at.state.get("claims", [])}
    sections = [_section(section, pages, numbers) for section in report.sections if section.sentences]
    return SynthesizedAnswer(
        id=name_of(at.run, "answer"),
        query_id=at.run,
        thread_id=at.thread,
        content=report.markdown,
        citations=[_citation(at, citation) for citation in report.citations],
        sections=sections,
        total_sources=len(report.citations),
        by_source=dict(Counter(_source(citation.address) for citation in report.citations)),
        word_count=sum(word_count(f"{section.heading} {section.content}") for section in sections),
        created_at=at.last,
    )


def _section(section: Section, pages: Mapping[str, list[str]], numbers: Mapping[str, int]) -> AnswerSection:
    used = {page for sentence in section.sentences for c in sentence.claims for page in pages.get(c, [])}
    lines = [sentence.text for sentence in section.sentences]
    content = "\n".join(f"- {line}" for line in lines) if section.is_list else " ".join(lines)
    cited = sorted({numbers[page] for page in used & numbers.keys()})
    return AnswerSection(heading=section.title, content=content, citations=cited)


def _citation(at: Sight, citation: Citation) -> SourceCitation:
    return SourceCitation(
        id=name_of(at.run, "result", citation.address),
        number=citation.number,
        title=citation.title or citation.address,
        address=citation.address,
    )


def thread_of(sights: Sequence[Sight], now: datetime, *, is_closed: bool) -> ConversationThread:
    """The thread of these runs, in the order they were begun: idle when nothing happened for ten minutes."""
    last = max(at.last for at in sights)
    thread = ConversationThread(
        id=sights[0].thread,
        queries=[query_of(at) for at in sights],
        answers=[answer for at in sights if at.is_over and (answer := answer_of(at))],
        created_at=sights[0].began,
        updated_at=last,
    )
    if is_closed:
        return thread.moved("closed", last)
    return thread.moved("idle", last) if now - last >= IDLE_AFTER else thread


def sources_of(run_config: RunConfig) -> list[str]:
    """Where a run looks: engines by name, or what kind of sources they are chosen for."""
    named = [*(["local"] if run_config.docs else []), *run_config.engines]
    return _distinct(named) or ["academic" if run_config.academic else "news" if run_config.news else "web"]


def word_count(text: str) -> int:
    """How many words a text has, in any script."""
    return len(_WORD.findall(text))


def _source(address: str) -> str:
    """What kind of place a page is at."""
    name = host(address)
    if not name:
        return "local" if address.startswith("file:") else address.partition(":")[0] or "local"
    return next((known for site, known in _SITES.items() if name == site or name.endswith(f".{site}")), "web")


def _time(written: str, otherwise: datetime) -> datetime:
    """A time that was written down; one without a zone is taken for UTC."""
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        return otherwise
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _distinct(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(word.strip() for word in words if word.strip()))
