"""A researcher that does some of its work in a way of its own.

Does not know which way; the test says it, form by form.
"""

from collections.abc import Callable
from typing import Any

from standins.model import ModelRequest
from standins.replies import Reply
from standins.researcher import form_of, researcher

Answering = Callable[[ModelRequest], Reply]


def scripted(**own: Answering) -> Answering:
    """The researcher, but for the forms that are named: plan, read, verify, judge, write and so on."""
    return lambda request: own.get(form_of(request), researcher)(request)


def value(request: ModelRequest) -> dict[str, Any]:
    """What the researcher would have given."""
    given: Any = researcher(request).value
    return dict(given)


def never_satisfied(request: ModelRequest) -> Reply:
    """A judge who always finds something important missing, and each time something else."""
    name = f"m{len(request.user_text)}"
    missing = {"question": "Q1", "description": f"{name}a", "priority": "high", "suggested_query": f"{name}b"}
    return Reply.give({**value(request), "gaps": [missing]})


def overstating(request: ModelRequest) -> Reply:
    """A writer whose first sentence has to be written again."""
    given = value(request)
    first = {**given["sentences"][0], "text": "Tidal power costs 7777 euros."}
    return Reply.give({"sentences": [first, *given["sentences"][1:]]})
