"""What a run remembers, as files: every search, the last rounds, and everything that was found.

Three tiers: `working_memory.json` has what the planner sees of the last rounds, `search_history.json` every
query with what it brought, `archival/` all claims, pages and refusals, one a line. Does not write the files.
"""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from fathom.planning.memory import RECENT_ROUNDS, summarize_rounds
from fathom.state import Lesson, RunState
from fathom.text.json_lines import dump_json, escape_json

LATEST_LEARNINGS = 20
ARCHIVE = "archival"


def render_memory(state: RunState) -> dict[str, str]:
    """The files of a run's memory by name."""
    return {
        "search_history.json": _as_json(_search_history(state)),
        "working_memory.json": _as_json(_working_memory(state)),
        f"{ARCHIVE}/claims.jsonl": _as_lines(state.get("claims", [])),
        f"{ARCHIVE}/pages.jsonl": _as_lines(state.get("pages", [])),
        f"{ARCHIVE}/rejected.jsonl": _as_lines(state.get("rejected", [])),
    }


def _search_history(state: RunState) -> list[dict[str, Any]]:
    lessons: dict[str, Lesson] = {lesson.query: lesson for lesson in state.get("lessons", [])}
    return [
        {
            "id": query.id,
            "round": query.round,
            "query": query.text,
            "question": query.question,
            "kind": query.family,
            "pages": lessons[query.id].pages if query.id in lessons else None,
            "new_claims": lessons[query.id].claims if query.id in lessons else None,
        }
        for query in state.get("asked", [])
    ]


def _working_memory(state: RunState) -> dict[str, Any]:
    judgements, claims = state.get("judgements", []), state.get("claims", [])
    return {
        "rounds": summarize_rounds(judgements[-RECENT_ROUNDS:], state.get("asked", []), claims),
        "learnings": [claim.statement for claim in claims[-LATEST_LEARNINGS:]],
        "gaps": [gap.description for gap in judgements[-1].gaps] if judgements else [],
        "hypotheses": [one.statement for one in state.get("hypotheses", []) if one.status == "active"],
        "next_queries": [query.text for query in state.get("queries", [])],
    }


def _as_json(value: object) -> str:
    return dump_json(value, indent=1) + "\n"


def _as_lines(records: Iterable[BaseModel]) -> str:
    return "".join(f"{escape_json(record.model_dump_json())}\n" for record in records)
