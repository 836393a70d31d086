"""What a run tells while it works.

Does not know screens. Made from the graph's own updates, so that nothing is told that did not happen.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal[
    "started",
    "plan generated",
    "search started",
    "search completed",
    "extraction started",
    "content extracted",
    "analysis completed",
    "sufficiency evaluated",
    "round completed",
    "report started",
    "report section",
    "report written",
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
        case "planner" | "recheck":
            queries = [q.text for q in update["queries"]]
            number = update["queries"][0].round if queries else 0
            questions = [q.text for q in update["questions"]]
            yield "plan generated", {"round": number, "questions": questions, "queries": queries}
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
