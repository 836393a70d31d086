"""What was said on the command line about a run, as words of a request.

Does not know settings: what was not said is left out, so that the settings may say it.
"""

import argparse
from typing import Any

# What the command line calls a field of a request, where that differs.
_FIELDS = {
    "question": "query",
    "format": "output_format",
    "rounds": "max_rounds",
    "sources": "max_sources",
    "queries": "max_queries",
    "budget": "budget_usd",
    "time_limit": "time_limit_s",
    "context": "context_tokens",
    "only": "include_domains",
    "never": "exclude_domains",
}
_SAME = (
    "depth", "language", "unsupported", "reserve", "reuse", "threshold", "endless", "strategy", "branches",
    "breadth", "orchestration", "since", "until", "source_language", "fresh", "academic", "news", "docs",
    "model", "base_url", "review",
)  # fmt: skip


def words_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The words of a request that were said, and no others."""
    said = {_FIELDS.get(name, name): getattr(arguments, name, None) for name in (*_FIELDS, *_SAME)}
    named = [name for name in (arguments.search or "").split(",") if name.strip()]
    said["providers"] = [*named, *(arguments.also or [])] or None
    return {name: value for name, value in said.items() if value is not None}
