"""Map the graph's own stream to events, so that every event has really happened."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessage

from fathom import events
from fathom.budget.prices import cost_by, engine_uses
from fathom.events import OutlinePart, PageName, Payload, Progress, Spent
from fathom.llm.roles.writer import prose_so_far
from fathom.planning.effort import apply_effort
from fathom.report.drafting import order_drafts
from fathom.report.editing import summary_title
from fathom.report.rounds import key_findings, summarize_round
from fathom.result import ResearchResult, make_result
from fathom.runs.round_summary import make_round_completed
from fathom.settings.model_names import RECORDED
from fathom.state import Claim, ClaimDraft, Cost, Outline, ResearchState, RunConfig, RunState, Section
from fathom.text.messages import messages_for

_DRAFTS_APART_S = 0.25  # for all parts together; faster is unreadable


def start_payloads(node: str, given: dict[str, Any]) -> Iterator[Payload]:
    """Return the events at the start of a node, from its input."""
    match node:
        case "searcher":
            yield events.SearchStarted(query=given["query"].text)
        case "analyzer":
            page = given["pages"][0]
            yield events.AnalysisStarted(title=page.title, address=page.address)
        case _:
            return


def update_payloads(node: str, given: dict[str, Any], update: dict[str, Any]) -> Iterator[Payload]:
    """The events in one node's update."""
    match node:
        case "intake" if "effort" in update:
            yield events.EffortSized(effort=update["effort"], is_by_words=_is_by_words({**given, **update}))
        case "planner" if update.get("directions"):
            yield events.EffortSized(
                effort=update["effort"], directions=update["directions"], is_by_words=_is_by_words(given)
            )
        case "finish_branch":
            yield events.BranchCompleted(direction=update["directions"][0])
        case "planner" | "intake":
            yield _plan_payload(update)
        case "selector" if "recalled" in update:
            read = [page for page in update["pages"] if page.sha in update["recalled"]]
            yield events.ExtractionStarted(
                pages=[PageName(title=page.title, address=page.address) for page in read]
            )
            # Their texts are at hand, and are taken from there.
            yield from (
                events.ContentExtracted(title=p.title, address=p.address, chars=p.chars) for p in read
            )
        case "analyzer" if update.get("drafts"):
            return  # the event follows when they are verified
        case "verifier" | "retry":
            yield from _verification_payloads(node, given, update)
        case "searcher" | "selector" | "extractor" | "analyzer":
            yield _round_payload(node, given, update)
        case "outline":
            yield events.ReportStarted(sections=[h.title for h in update["outline"].headings])
        case "draft":
            for draft in update["drafts"]:
                yield events.ReportDraft(title=draft.title, text=section_text(draft))
        case "check" if "rewritten" not in given:
            yield from _section_payloads(_settled_at_once(update["drafts"], given))
        case "settle":
            told = {section.id for section in _settled_at_once(given["drafts"], given)}
            yield from _section_payloads([one for one in update["sections"] if one.id not in told])
        case "confirm":
            for section in update["sections"]:
                if section.kind == "summary":
                    yield events.ReportChunk(text=f"## {section.title}\n\n{section_text(section)}\n\n")
        case "publish":
            report = update["report"]
            yield events.ReportWritten(status=report.status, markdown=report.markdown)
        case _:
            return


def _is_by_words(known: dict[str, Any]) -> bool:
    """Whether no model will be asked, as the forecast has it; a demo's replies are those of a model."""
    forecast, run_config = known.get("forecast"), known.get("run_config") or RunConfig()
    return forecast is not None and forecast.calls == 0 and not (run_config.model or "").startswith(RECORDED)


def _settled_at_once(drafts: Sequence[Section], given: dict[str, Any]) -> list[Section]:
    """The first parts of a chapter in which the first check left nothing to rewrite."""
    rewritten, first, settled = set(given.get("rewritten", [])), 0, list[Section]()
    for draft in order_drafts(drafts, given["headings"]):
        places = range(first, first := first + len(draft.sentences))
        status = {sentence.status for sentence in draft.sentences}
        if "unsupported" in status or "supported" not in status or not rewritten.isdisjoint(places):
            break  # what comes later is told later, so that chunks stay in the order of the report
        settled.append(draft)
    return settled


def _section_payloads(sections: Sequence[Section]) -> Iterator[Payload]:
    for section in sections:
        yield events.ReportSection(title=section.title, sentences=[s.text for s in section.sentences])
        yield events.ReportChunk(text=f"## {section.title}\n\n{section_text(section)}\n\n")


def section_text(section: Section) -> str:
    """The words of a section, block by block; citations are numbered only once the report is whole."""
    lines: dict[tuple[int, int | None], list[str]] = {}
    for sentence in section.sentences:
        lines.setdefault((sentence.block, sentence.row), []).append(sentence.text)
    return "\n".join((" | " if row is not None else " ").join(texts) for (_, row), texts in lines.items())


def _plan_payload(update: dict[str, Any]) -> events.PlanGenerated:
    return events.PlanGenerated(
        strategy=update.get("strategy", ""),
        questions=[q.text for q in update["questions"]],
        queries=[q.text for q in update["queries"]],
        families=[q.family for q in update["queries"]],
        effort=update.get("effort"),
        perspectives=list(update.get("perspectives", [])),
        tool=update.get("tool"),
        waiting=[q.text for q in update.get("waiting", [])],
    )


def _round_payload(node: str, given: dict[str, Any], update: dict[str, Any]) -> Payload:
    lost = list(update.get("failures", []))
    pages = update.get("pages", [])
    if node == "searcher":
        hits, costs = update.get("hits", []), update.get("costs", [])
        engines = dict.fromkeys([*(hit.engine for hit in hits), *(cost.model for cost in costs)])
        return events.SearchCompleted(
            query=update["asked"][0].text,
            hits=len(hits),
            engines=[*engines],
            usd=sum(cost.usd for cost in costs),
            lost=lost,
        )
    if node == "selector":
        chosen = [PageName(title=hit.title, address=hit.address) for hit in update["chosen"]]
        return events.ExtractionStarted(pages=chosen)
    if node == "extractor":
        hit = given["hit"]
        title, chars = (pages[0].title, pages[0].chars) if pages else (hit.title, 0)
        return events.ContentExtracted(title=title, address=hit.address, chars=chars, lost=lost)
    page = given["pages"][0]
    return events.AnalysisCompleted(
        title=page.title,
        address=page.address,
        claims=len(update.get("claims", [])),
        rejected=sum(rejected.count for rejected in update.get("rejected", [])),
        statements=[claim.statement for claim in update.get("claims", [])],
        refused=list(update.get("rejected", [])),
        lost=lost,
    )


def _verification_payloads(node: str, given: dict[str, Any], update: dict[str, Any]) -> Iterator[Payload]:
    """Return the analyses completed now: of pages without drafts that are retried."""
    asked, left = _drafts_before_and_after(node, given, update)
    done = {draft.page for draft in asked} - {draft.page for draft in left}
    claims = [*given.get("claims", []), *update.get("claims", [])]
    rejected = [*given.get("rejected", []), *update.get("rejected", [])]
    lost = list(update.get("failures", []))
    for page in [page for page in given["pages"] if page.sha in done]:
        believed = [claim.statement for claim in claims if claim.quotes[0].page == page.sha]
        refused = [entry for entry in rejected if entry.page == page.sha]
        yield events.AnalysisCompleted(
            title=page.title,
            address=page.address,
            claims=len(believed),
            rejected=sum(entry.count for entry in refused),
            statements=believed,
            refused=refused,
            lost=lost,
        )
        lost = []  # told once


def _drafts_before_and_after(
    node: str, given: dict[str, Any], update: dict[str, Any]
) -> tuple[list[ClaimDraft], list[ClaimDraft]]:
    if node == "retry":
        return given["refused"], update["retried"]
    if "retried" in given:
        return given["retried"], []
    return given["drafts"], update["refused"]


def outline_parts(outline: Outline | None) -> list[OutlinePart]:
    """Return the parts of an outline for an event."""
    return [
        OutlinePart(
            title=part.title, aim=part.aim, claims=len(part.claims), lacks=part.lacks, priority=part.priority
        )
        for part in (outline.headings if outline else [])
    ]


@dataclass
class _Streamed:
    """A streamed answer of a model, and how much of it was sent as events."""

    id: str | None
    words: list[str] = field(default_factory=list)
    told: str = ""


class EventMapper:
    """Turns the graph's stream into events, and tracks branches, rounds and costs for that."""

    def __init__(
        self,
        run_id: str,
        run_config: RunConfig,
        paid: Iterable[Cost] = (),
        number: int = 1,
        done: frozenset[str] = frozenset(),
    ) -> None:
        self._run_id, self._began, self._first_config = run_id, time.monotonic(), run_config
        self._config = run_config
        self._limits = {"": run_config.max_rounds}
        self._rounds = {"": number}
        self._branches: dict[str, str] = {}
        self._done = done  # tasks that begin once more on paper only
        self._given: dict[str, dict[str, Any]] = {}
        self._paid = {cost.key: cost for cost in paid}
        self._spent: Spent | None = None  # None: something was paid since it was added up
        self._streamed: dict[str, _Streamed] = {}  # by task
        self._drafted_at = float("-inf")

    @property
    def spent(self) -> Spent:
        """What was paid so far, each call counted once."""
        if self._spent is None or self._spent.budget_usd != self._config.budget_usd:
            self._spent = Spent.on(self._paid.values(), self._config.budget_usd)
        return self._spent

    def event(self, payload: Payload, branch: str = "") -> Progress:
        """One event; of a branch, with its name and its own rounds."""
        return Progress(
            kind=payload.kind,
            run_id=self._run_id,
            round=self._rounds.get(branch, 1),
            limit=self._limits.get(branch, 1),
            elapsed_s=round(time.monotonic() - self._began, 3),
            at=datetime.now(UTC),
            branch=branch,
            spent=self.spent,
            payload=payload,
        )

    def with_config(self, state: ResearchState) -> RunState:
        """The state together with the configuration, as the run has settled it."""
        return {**state, "run_config": self._config}

    def kept(self, state: ResearchState) -> Progress:
        """The report as it now stands, with its ledger."""
        return self.event(events.ReportKept(result=self._result(state)))

    def completed(self, state: ResearchState) -> Progress:
        """The end of the run, with its result if there is a report."""
        judgements = state.get("judgements", [])
        last = judgements[-1] if judgements else None
        return self.event(
            events.Completed(
                status=state["report"].status if "report" in state else "",
                score=last.overall if last else 0.0,
                because=f"{last.stop} ({last.because})" if last and last.stop else "",
                result=self._result(state) if "report" in state else None,
            )
        )

    def drafts(self, message: BaseMessage, about: Mapping[str, Any]) -> Iterator[Progress]:
        """The part of the report that a model is writing, with one piece more of its answer."""
        node, _, task = str(about["langgraph_checkpoint_ns"]).rpartition("|")[2].partition(":")
        given = self._given.get(task)
        if given is None or node not in {"draft", "edit"} or not isinstance(message, AIMessageChunk):
            return
        answer = self._streamed.setdefault(task, _Streamed(message.id))
        if answer.id != message.id:  # another try begins anew
            answer = self._streamed[task] = _Streamed(message.id)
        answer.words += [message.text, *(part["args"] or "" for part in message.tool_call_chunks)]
        now = time.monotonic()
        if now - self._drafted_at < _DRAFTS_APART_S:
            return
        self._drafted_at = now
        part, text = prose_so_far("".join(answer.words))
        if text and text != answer.told:
            answer.told = text
            question, language = given.get("question", ""), self._config.language
            titles = [h.title for h in given.get("headings", []) if part in {"", h.id}]
            title = titles[0] if titles else summary_title(question, language)
            yield self.event(events.ReportDraft(title=title, text=text, is_whole=False))

    def _result(self, state: ResearchState) -> ResearchResult:
        return make_result(self._run_id, self.with_config(state), time.monotonic() - self._began)

    def events(self, place: Sequence[str], task: dict[str, Any]) -> Iterator[Progress]:
        """Yield the events of a task that has started or ended in this part of the graph."""
        task_id = next((part.removeprefix("branch:") for part in place if part.startswith("branch:")), "")
        branch = self._branches.get(task_id, "")
        if "result" not in task:
            self._begins(task)
            for payload in (
                start_payloads(task["name"], task["input"]) if task["id"] not in self._done else ()
            ):
                yield self.event(payload, branch)
            return
        given, update = self._given.pop(task["id"], {}), task["result"]
        self._streamed.pop(task["id"], None)
        if not update:
            if task["name"] == "searcher":  # it was stopped before it started
                yield self.event(events.SearchCompleted(query=given["query"].text, hits=0), branch)
            return
        if costs := update.get("costs"):
            self._paid.update((cost.key, cost) for cost in costs)
            self._spent = None
        if task["name"] == "judge":
            yield from self._round(update, given, branch)
            return
        if not branch and (effort := update.get("effort")):
            self._config = apply_effort(self._first_config, effort)
            self._limits[""] = self._config.max_rounds
        if queries := update.get("queries"):
            self._rounds[branch] = queries[0].round
        if task["name"] == "intake" and self._config.strategy != "loop":
            return  # the planner sends the effort together with the directions
        for payload in update_payloads(task["name"], {**given, "run_config": self._config}, update):
            yield self.event(payload, branch)

    def _begins(self, task: dict[str, Any]) -> None:
        """Remember a task's input for the events of its result, and a branch's direction."""
        self._given[task["id"]] = task["input"]
        if task["name"] == "branch":
            direction = task["input"]["direction"]
            self._branches[task["id"]] = direction.id
            self._limits[direction.id] = direction.rounds

    def _round(self, update: dict[str, Any], given: dict[str, Any], branch: str) -> Iterator[Progress]:
        judgement, findings = update["judgements"][0], update.get("findings", [])
        claims: list[Claim] = [*given.get("claims", []), *update.get("claims", [])]
        say = messages_for(given.get("question", ""), self._config.language)
        self._rounds[branch] = judgement.round
        yield self.event(
            events.SufficiencyEvaluated(judgement=judgement, threshold=self._config.threshold), branch
        )
        over = make_round_completed(
            judgement,
            key_findings(findings, claims),
            summary=summarize_round(judgement, findings, update.get("contradictions", []), say),
            outline=outline_parts(update.get("outline")),
            spent_by=cost_by(list(self._paid.values())),
            engines=engine_uses(self._paid.values()),
        )
        yield self.event(over, branch)
