"""What a run tells while it works.

Does not know screens. Made from the graph's own updates, so that nothing is told that did not happen.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from fathom.result import result_of
from fathom.state import ResearchState

Kind = Literal[
    "started",
    "effort sized",
    "plan generated",
    "search started",
    "search completed",
    "extraction started",
    "content extracted",
    "analysis completed",
    "sufficiency evaluated",
    "round completed",
    "branch completed",
    "report started",
    "report section",
    "report written",
    "report kept",
    "checkpoint",
    "completed",
    "failed",
]


@dataclass(frozen=True)
class Progress:
    """One event of a run."""

    kind: Kind
    run_id: str
    round: int
    limit: int
    elapsed_s: float
    payload: dict[str, Any] = field(default_factory=dict)


def told(node: str, update: dict[str, Any]) -> Iterator[tuple[Kind, dict[str, Any]]]:
    """The events in one node's update."""
    lost = [loss.model_dump() for loss in update.get("losses", [])]
    match node:
        case "lead":
            effort = update["effort"]
            directions = [d.model_dump() for d in update.get("directions", [])]
            yield "effort sized", {**effort.model_dump(), "directions": directions}
        case "deliver":
            yield "branch completed", update["directions"][0].model_dump()
        case "planner" | "recheck":
            queries = [q.text for q in update["queries"]]
            number = update["queries"][0].round if queries else 0
            questions = [q.text for q in update["questions"]]
            plan = {"round": number, "questions": questions, "queries": queries}
            yield "plan generated", {**plan, **_way(update)}
        case "searcher":
            found = len(update.get("hits", []))
            yield "search completed", {"query": update["asked"][0].text, "hits": found, "lost": lost}
        case "selector":
            yield "extraction started", {"pages": [hit.title for hit in update["chosen"]]}
        case "extractor":
            pages = update.get("pages", [])
            yield "content extracted", {"title": pages[0].title if pages else "", "lost": lost}
        case "analyzer":
            yield "analysis completed", {"claims": len(update.get("claims", [])), "lost": lost}
        case "judge":
            judgement = update["judgements"][0]
            yield "sufficiency evaluated", judgement.model_dump()
            yield "round completed", {"round": judgement.round, "claims": judgement.claims}
        case "outline":
            yield "report started", {"sections": [h.title for h in update["outline"].headings]}
        case "settle":
            yield "report section", {"title": update["sections"][0].title}
        case "publish":
            report = update["report"]
            yield "report written", {"status": report.status, "markdown": report.markdown}
        case _:
            return


def _way(update: dict[str, Any]) -> dict[str, Any]:
    """How a round was planned: effort, points of view, way of thinking, kinds of queries, what waits."""
    effort, tool, knobs = update.get("effort"), update.get("tool"), update.get("knobs")
    return {
        "effort": effort.model_dump() if effort else {},
        "perspectives": list(update.get("perspectives", [])),
        "tool": tool.model_dump() if tool else {},
        "families": [q.family for q in update["queries"]],
        "waiting": [q.text for q in update.get("waiting", [])],
        "limit": knobs.max_rounds if knobs else 0,
    }


class Teller:
    """Turns the graph's stream into events: it knows which branch works, and in which round."""

    def __init__(self, run_id: str, limit: int) -> None:
        self._run_id, self._began = run_id, time.monotonic()
        self._limits = {"": limit}
        self._rounds: dict[str, int] = {}
        self._branches: dict[str, str] = {}

    def event(self, kind: Kind, payload: dict[str, Any], branch: str = "") -> Progress:
        """One event; of a branch, with its name and its own rounds."""
        if kind == "plan generated" and not branch:
            self._limits[""] = payload.get("limit") or self._limits[""]
        self._rounds[branch] = payload.get("round") or self._rounds.get(branch, 1)
        named = {"branch": branch, **payload} if branch else payload
        elapsed_s = time.monotonic() - self._began
        limit = self._limits.get(branch, 1)
        return Progress(kind, self._run_id, self._rounds.get(branch, 1), limit, elapsed_s, named)

    def kept(self, state: ResearchState) -> Progress:
        """The report as it now stands, with its ledger."""
        result = result_of(self._run_id, state, time.monotonic() - self._began)
        return self.event("report kept", {"result": result})

    def events(self, place: Sequence[str], task: dict[str, Any]) -> Iterator[Progress]:
        """The events in a task that has begun or ended, at this place of the graph."""
        if "result" not in task:
            self._begins(task)
            return
        first = place[0] if place else ""
        branch = self._branches.get(first.removeprefix("branch:"), "") if first.startswith("branch:") else ""
        for kind, payload in told(task["name"], task["result"]) if task["result"] else ():
            yield self.event(kind, payload, branch)

    def _begins(self, task: dict[str, Any]) -> None:
        """From a branch's own task we learn which direction it was sent."""
        if task["name"] == "branch":
            direction = task["input"]["direction"]
            self._branches[task["id"]] = direction.id
            self._limits[direction.id] = direction.rounds
