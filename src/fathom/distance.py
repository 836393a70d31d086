"""How far to go, as a caller says it: a word or numbers for depth and breadth, and a strategy.

Does not know the rest of a request. The old command is kept: a number for depth alone is one pass over so
many pages; with a breadth or a strategy it counts rounds of recursion.
"""

from typing import Any, get_args

from fathom.state import Depth, Orchestration, Strategy

_WORDS = get_args(Depth)
_MOST_LEVELS = 5
_MOST_PAGES = 100


def read_depth(said: object) -> object:
    """A depth as it was typed: one of three words, or a number."""
    if isinstance(said, str) and said.strip().isdecimal():
        said = int(said)
    is_number = isinstance(said, int) and not isinstance(said, bool)
    if said not in _WORDS and not (is_number and int(str(said)) >= 1):
        raise ValueError("should be quick, standard or comprehensive, or a number of at least 1")
    return said


def refuse_odd(
    depth: Depth | int,
    breadth: int | None,
    strategy: Strategy | None,
    branches: int | None,
    orchestration: Orchestration,
    is_endless: bool,
) -> None:
    """One sentence when the words do not go together."""
    is_alone = breadth is None and strategy is None
    has_branches = strategy in {"tree", "rollouts"} or (breadth is not None and strategy is None)
    if isinstance(depth, int):
        if is_endless:
            raise ValueError("--endless has no depth to count")
        if is_alone and depth > _MOST_PAGES:
            raise ValueError(f"--depth {depth} alone reads so many pages in one pass, at most {_MOST_PAGES}")
        if not is_alone and depth > _MOST_LEVELS:
            raise ValueError(
                f"--depth {depth} is too deep: with --breadth or --strategy at most {_MOST_LEVELS}"
            )
    if is_endless and has_branches:
        raise ValueError("--endless is a loop: it goes with no --breadth and no other --strategy")
    if not has_branches and (branches is not None or orchestration != "concurrent"):
        word = "--branches" if branches is not None else "--orchestration"
        raise ValueError(f"{word} needs --strategy tree or rollouts")


def knobs_for(
    depth: Depth | int,
    breadth: int | None,
    strategy: Strategy | None,
    rounds: int | None,
    sources: int | None,
    queries: int,
) -> dict[str, Any]:
    """The knobs that follow; what a caller set as a knob of its own stays."""
    levels = depth if isinstance(depth, int) else None
    chosen: Strategy = strategy or ("tree" if breadth is not None else "loop")
    if chosen == "loop":
        is_single = levels is not None and strategy is None
        rounds = rounds or (1 if is_single else levels)
        sources = sources or (levels if is_single else breadth)
        queries, levels = min(queries, breadth or queries), None
    return {
        "depth": "quick" if isinstance(depth, int) else depth,
        "strategy": chosen,
        "levels": levels,
        "breadth": breadth,
        "rounds": rounds,
        "sources": sources,
        "queries": max(queries, breadth or 0) if chosen != "loop" else queries,
    }
