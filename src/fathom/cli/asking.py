"""What was said on the command line about a run, as words of a request.

Does not know settings: what was not said is left out, so that the settings may say it.
"""

import argparse
from typing import Any

from fathom.request import FLAGS, ResearchRequest

_OWN = {"query": "question", "exclude_domains": "never"}


def words_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The words of a request that were said, and no others."""
    names = {field: _OWN.get(field, FLAGS.get(field, field)) for field in ResearchRequest.model_fields}
    said = {field: getattr(arguments, name.replace("-", "_"), None) for field, name in names.items()}
    named = [name for name in (arguments.search or "").split(",") if name.strip()]
    said["providers"] = [*named, *(arguments.also or [])] or None
    return {field: value for field, value in said.items() if value is not None}
