"""Sums and counts as a person reads them at a glance.

Does not know screens.
"""

from fathom.events import Spent
from fathom.report.messages import format_count


def dollars(usd: float) -> str:
    """Small sums with their small change."""
    return f"${usd:.2f}" if usd >= 1 or usd == 0 else f"${usd:.4f}"


def saved(spent: Spent) -> str:
    """What earlier runs saved this one, if anything."""
    if not spent.saved_calls:
        return ""
    calls, tokens = format_count(spent.saved_calls, "call"), thousands(spent.saved_tokens)
    return f"; {dollars(spent.saved_usd)} saved by {calls} answered before ({tokens} tokens)"


def thousands(count: int) -> str:
    """A count that is read at a glance."""
    return f"{count:,}" if count < 10_000 else f"{count / 1000:,.0f}k"


def clock(seconds: float) -> str:
    """Minutes and seconds, and hours when there are any."""
    minutes, left = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"
