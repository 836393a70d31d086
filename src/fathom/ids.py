"""Short ids of runs."""

import uuid

_SHORT = 8
_SHORT_BY_TIME = 13


def short_id(run_id: str) -> str:
    """The first characters of an id, enough to tell runs apart.

    Ids made by `langgraph dev` begin with the time, so those of one minute share the first eight characters.
    """
    try:
        is_by_time = uuid.UUID(run_id).version == 7
    except ValueError:
        return run_id
    return run_id[: _SHORT_BY_TIME if is_by_time else _SHORT]
