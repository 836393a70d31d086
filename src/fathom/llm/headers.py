"""What a model server says about its limits in the headers of its answers.

https://platform.openai.com/docs/guides/rate-limits Does not know who waits. Servers that say nothing are
common, and so are dates, milliseconds and durations such as 1m3.2s.
"""

import re
from collections.abc import Mapping

from fathom.http.status import retry_after_s

_PART = re.compile(r"(?<!\d)(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def wait_after(headers: Mapping[str, str]) -> float | None:
    """How long a refusal asks to wait, if it says so; else until the limit that is used up ends."""
    said = _number(headers.get("retry-after-ms"))
    if said is not None:
        return said / 1000
    asked = retry_after_s(headers.get("retry-after"))
    return asked if asked is not None else until_served(headers) or None


def until_served(headers: Mapping[str, str], tokens: int = 1) -> float:
    """How long until one more request of so many tokens will be served; 0 when it will be now."""
    return max(_until(headers, "requests", 1), _until(headers, "tokens", tokens))


def _until(headers: Mapping[str, str], what: str, needed: float) -> float:
    """Limits fill up evenly, and the server says when they will be full again."""
    left = _number(headers.get(f"x-ratelimit-remaining-{what}"))
    full_s = _duration(headers.get(f"x-ratelimit-reset-{what}"))
    if left is None or full_s is None or left >= needed:
        return 0.0
    most = _number(headers.get(f"x-ratelimit-limit-{what}"))
    if most is None or most <= left:
        return full_s
    return full_s * min(1.0, (needed - left) / (most - left))


def _duration(words: str | None) -> float | None:
    plain = _number(words)
    if plain is not None or words is None:
        return plain
    parts = _PART.findall(words)
    if not parts or "".join(number + unit for number, unit in parts) != words.strip():
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def _number(words: str | None) -> float | None:
    try:
        found = float(words) if words is not None else None
    except ValueError:
        return None
    return found if found is not None and 0 <= found < float("inf") else None
