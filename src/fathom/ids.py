"""A run's id as people see it.

Does not know runs.
"""

import uuid

_SHORT = 8
_SHORT_BY_TIME = 13


def short_id(run_id: str) -> str:
    """The first characters of an id, enough to tell runs apart: ids that `langgraph dev` makes begin with
    the time, and all those of one minute begin with the same eight."""
    try:
        is_by_time = uuid.UUID(run_id).version == 7
    except ValueError:
        return run_id
    return run_id[: _SHORT_BY_TIME if is_by_time else _SHORT]
