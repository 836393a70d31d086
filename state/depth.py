"""Translate the caller's depth, breadth, strategy or endless mode into limits of a run.

A number for depth alone is one pass over so many pages; with a breadth or a strategy it counts rounds of
recursion.
"""

from typing import Any, Literal, get_args

Depth = Literal["quick", "standard", "comprehensive"]
Strategy = Literal["loop", "tree", "rollouts"]
Orchestration = Literal["concurrent", "sequential", "handoff"]
Review = Literal["off", "plan", "rounds"]
Thinking = Literal["auto", "scientific", "first-principles", "occam", "falsification"]
ROUNDS: dict[Depth, int] = {"quick": 3, "standard": 5, "comprehensive": 10}
LEVELS: dict[Depth, int] = {"quick": 2, "standard": 2, "comprehensive": 5}
MAX_ROUNDS = 100
BREADTH = 5
QUERIES = 5
USUAL_USD = 1.0
ENDLESS_ROUNDS = MAX_ROUNDS
ENDLESS_USD = 10.0
_MOST_LEVELS = 5
_MOST_PAGES = 100


def apply_depth(words: dict[str, Any]) -> dict[str, Any]:
    """Add the fields that follow from a numeric depth, and from a breadth without a strategy."""
    depth = _read_depth(words.get("depth"))
    breadth, strategy = words.get("breadth"), words.get("strategy")
    chosen = strategy or ("tree" if breadth is not None else "loop")
    follows: dict[str, Any] = {} if strategy == chosen or chosen == "loop" else {"strategy": chosen}
    if isinstance(depth, int):
        is_alone = breadth is None and strategy is None
        _refuse_too_deep(depth, is_alone=is_alone, is_endless=bool(words.get("endless")))
        follows["depth"] = "quick"
        if chosen != "loop":
            follows["levels"] = depth
        else:
            follows["rounds"] = _value_or(words, "rounds", 1 if is_alone else depth)
        if is_alone:
            follows["sources"] = _value_or(words, "sources", depth)
    return {**words, **follows, **_apply_breadth(words, breadth, is_loop=chosen == "loop")}


def _apply_breadth(words: dict[str, Any], breadth: Any, *, is_loop: bool) -> dict[str, Any]:
    """Add the searches and pages that follow from a breadth."""
    queries = words.get("queries", QUERIES)
    if not isinstance(breadth, int) or not isinstance(queries, int):
        return {}
    if is_loop:
        return {"sources": _value_or(words, "sources", breadth), "queries": min(queries, breadth)}
    return {"queries": breadth} if queries < breadth else {}


def _value_or(words: dict[str, Any], name: str, otherwise: int) -> Any:
    return otherwise if words.get(name) is None else words[name]


def _refuse_too_deep(depth: int, *, is_alone: bool, is_endless: bool) -> None:
    if is_endless:
        raise ValueError("--endless has no depth to count")
    if is_alone and depth > _MOST_PAGES:
        raise ValueError(f"--depth {depth} alone reads so many pages in one pass, at most {_MOST_PAGES}")
    if not is_alone and depth > _MOST_LEVELS:
        raise ValueError(f"--depth {depth} is too deep: with --breadth or --strategy at most {_MOST_LEVELS}")


def _read_depth(said: Any) -> Any:
    """Parse a depth: nothing, one of three words, or a number."""
    if isinstance(said, str) and said.strip().isdecimal():
        said = int(said)
    is_number = isinstance(said, int) and not isinstance(said, bool)
    if said is not None and said not in get_args(Depth) and not (is_number and said >= 1):
        raise ValueError("--depth should be quick, standard or comprehensive, or a number of at least 1")
    return said


def apply_endless_limits(words: dict[str, Any]) -> dict[str, Any]:
    """Limit an endless run by money and rounds, unless the caller set lower limits."""
    if not words.get("endless"):
        return words
    usd, rounds = words.get("budget_usd"), words.get("rounds")
    return {
        **words,
        "budget_usd": min(usd, ENDLESS_USD) if isinstance(usd, int | float) else ENDLESS_USD,
        "rounds": ENDLESS_ROUNDS if rounds is None else rounds,
    }
