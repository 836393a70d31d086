"""Who asks, as services that want to know are told.

Does not know any service.
"""

from fathom.search.wire import USER_AGENT


def agent(contact: str) -> str:
    """Our name and where to complain, without what cannot stand in a header."""
    said = "".join(c for c in contact if c.isascii() and c.isprintable() and c not in "()").strip()
    return f"{USER_AGENT} ({said})" if said else USER_AGENT
