"""Directions of branches: their starts, and a search tree with values, upper confidence bounds and pruning.

Sub-questions and gaps are ranked in the same way, as a multi-armed bandit: a query that serves an arm pulls
it, the reward is new verified claims per query. Pure functions: the same tree always grows the same way.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from fathom.evidence.checks import load_table
from fathom.planning.effort import describe_effort
from fathom.planning.queries import extract_topic, normalize_query
from fathom.planning.questions import find_recurring_names, split_question
from fathom.state import (
    Claim,
    Direction,
    Effort,
    Gap,
    Judgement,
    Query,
    ResearchState,
    RunConfig,
    SubQuestion,
)
from fathom.text.languages import is_korean
from fathom.text.messages import messages_for
from fathom.text.normalization import one_line
from fathom.text.ranking import terms

EXPLORATION = 0.7
EMPTY_AFTER = 4  # pulls without a single claim
_VISITED = frozenset({"explored", "empty"})
_MAX_UNASKED_GAPS = 20
_MAX_OLDER_GAPS = 3
PRIORITY_WEIGHTS = {"high": 1.0, "medium": 0.6, "low": 0.3}


@dataclass(frozen=True)
class Arm:
    """Something to ask about, with the upper confidence bound of its reward."""

    id: str
    bound: float  # claims per pull, and more the less it was tried
    is_pruned: bool


def rank_arms(ids: Iterable[str], asked: Sequence[Query], claims: Sequence[Claim]) -> list[Arm]:
    """Rank the arms, best first, pruned ones last."""
    pulls = {name: sum(q.question == name for q in asked) for name in ids}
    total = sum(pulls.values())
    arms = [_make_arm(name, n, sum(c.question == name for c in claims), total) for name, n in pulls.items()]
    # If all are empty, none is pruned: the run must ask something.
    if all(arm.is_pruned for arm in arms):
        arms = [replace(arm, is_pruned=False) for arm in arms]
    return sorted(arms, key=lambda arm: (arm.is_pruned, -arm.bound, arm.id))


def _make_arm(name: str, pulls: int, claims: int, total: int) -> Arm:
    rate = claims / pulls if pulls else 0.0
    reward = rate / (1 + rate)  # saturating: 0 for no claims, towards 1 for many
    bound = reward + EXPLORATION * math.sqrt(math.log(total + 1) / pulls) if pulls else math.inf
    return Arm(name, bound, is_pruned=pulls >= EMPTY_AFTER and not claims)


def arm_worth(ids: Iterable[str], asked: Sequence[Query], claims: Sequence[Claim]) -> dict[str, float]:
    """Score each arm from 0 (pruned) to 1 (best, or never tried)."""
    arms = rank_arms(ids, asked, claims)
    most = max((a.bound for a in arms if not a.is_pruned and math.isfinite(a.bound)), default=1.0) or 1.0
    return {a.id: 0.0 if a.is_pruned else 1.0 if math.isinf(a.bound) else a.bound / most for a in arms}


def unasked_gaps(
    judgements: Sequence[Judgement], asked: Sequence[Query], claims: Sequence[Claim]
) -> list[Gap]:
    """Return gaps of any round that were never asked about, the best direction first."""
    known = {normalize_query(query.text) for query in asked}
    open_gaps: dict[str, Gap] = {}
    for judgement in reversed(judgements):
        for gap in judgement.gaps:
            words = normalize_query(gap.suggested_query)
            if words and words not in known:
                open_gaps.setdefault(words, gap)
    latest = list(open_gaps.values())[:_MAX_UNASKED_GAPS]
    weights = arm_worth([gap.question for gap in latest], asked, claims)
    return sorted(latest, key=lambda gap: -PRIORITY_WEIGHTS[gap.priority] * weights[gap.question])


def gaps_to_close(
    judgements: Sequence[Judgement], asked: Sequence[Query], claims: Sequence[Claim]
) -> list[Gap]:
    """Return the last round's gaps; if all of them were asked, the best of earlier rounds too."""
    if not judgements:
        return []
    last = judgements[-1].gaps
    if unasked_gaps(judgements[-1:], asked, claims):
        return last
    return [*last, *unasked_gaps(judgements[:-1], asked, claims)[:_MAX_OLDER_GAPS]]


AS_ASKED = "as asked"
_PART_ANGLE = "a part of the question"


@dataclass(frozen=True)
class BranchStart:
    """A branch's first question, and the reason."""

    text: str
    angle: str


def choose_starts(question: str, most: int) -> list[BranchStart]:
    """Return up to `most` different starts: the question or its parts, then angles; at least one."""
    whole = one_line(question)
    parts = split_question(whole)
    offered = (
        [BranchStart(part, _PART_ANGLE) for part in parts]
        if len(parts) > 1
        else [BranchStart(whole, AS_ASKED)]
    )
    topic = topic_phrase(whole)
    language = "ko" if is_korean(whole) else "en"
    angles = load_table("queries")["angles"]
    offered += [BranchStart(f"{topic}: {words[language]}", angle) for angle, words in angles.items()]
    distinct = {normalize_query(seed.text): seed for seed in reversed(offered)}
    return [seed for seed in offered if distinct[normalize_query(seed.text)] is seed][: max(1, most)]


def is_off_angle(statement: str, question: str) -> bool:
    """Tell whether a statement has none of the words that distinguish an angle from the plain question."""
    _, colon, angle = question.partition(": ")
    return bool(colon) and not terms(angle) & terms(statement)


def topic_phrase(question: str) -> str:
    """Return the topic of a question as a title."""
    words = extract_topic(question)
    return words[:1].upper() + words[1:]


def plan_directions(question: str, run_config: RunConfig, effort: Effort, wish: str = "") -> list[Direction]:
    """Return the first directions; a user's wish comes first."""
    is_tree = run_config.strategy == "tree"
    most = run_config.branches or (run_config.step if is_tree else max(2, effort.branches))
    starts = choose_starts(question, most)
    if wish:
        starts = [BranchStart(wish, "a person's wish"), *starts][: max(most, 1)]
    # A branch of the tree runs one round; a rollout as many as the question deserves.
    rounds = 1 if is_tree else run_config.levels or run_config.rounds or effort.rounds
    return [
        Direction(
            id=f"b{place}",
            text=seed.text,
            angle=seed.angle,
            rounds=rounds,
            queries=min(run_config.step, run_config.queries),
            sources=min(run_config.step, run_config.max_sources),
        )
        for place, seed in enumerate(starts, 1)
    ]


def open_directions(state: ResearchState) -> list[Direction]:
    """Return the directions of this level to explore; none after a stop or when the budget is spent.

    A level waits until the one before it was judged.
    """
    if state.get("is_spent") or state.get("is_finishing"):
        return []
    known = {direction.id: direction for direction in state.get("directions", [])}
    level = len(state.get("judgements", [])) + 1
    planned = [_direction_of(query, known) for query in state.get("queries", []) if query.round == level]
    return [direction for direction in planned if direction.status == "open"]


def _direction_of(query: Query, known: Mapping[str, Direction]) -> Direction:
    """Return the direction of a planned query; a user's query gets the limits of the first one."""
    if query.id in known:
        return known[query.id]
    like = next(iter(known.values()))
    wish = {"id": query.id, "text": query.text, "angle": "a person's wish", "status": "open"}
    return like.model_copy(update=wish)


def plan_branches(state: ResearchState, run_config: RunConfig, worth: Effort) -> ResearchState:
    """Plan a run with branches; each branch plans its own rounds."""
    question = state["question"]
    directions = plan_directions(question, run_config, worth, state.get("feedback", ""))
    say = messages_for(question, run_config.language)
    return {
        "effort": worth,
        "strategy": say(
            "plan.branch_plan",
            effort=describe_effort(worth, run_config, say),
            count=len(directions),
            how=say.name("orchestration", run_config.orchestration),
        ),
        "read_for": [
            SubQuestion(id=f"W{n}", text=part) for n, part in enumerate(split_question(question), 1)
        ],
        "directions": directions,
        "queries": [direction.query() for direction in directions],
        "feedback": "",
    }


_NOVELTY_WEIGHT = 0.5
_EMPTY_TWICE = 2
_MAX_FOLLOW_UPS = 4


def follow_up_queries(
    question: str, gaps: Sequence[Gap], claims: Sequence[Claim], asked: Sequence[Query]
) -> list[str]:
    """Return what a branch would ask next: its open gaps, then names from its sources."""
    known = " ".join([question, *(query.text for query in asked)])
    names = find_recurring_names([claim.statement for claim in claims], known, _MAX_FOLLOW_UPS)
    wanted = [" ".join(gap.suggested_query.split()) for gap in gaps if gap.priority != "low"]
    topic = topic_phrase(question.partition(": ")[0])  # without the angle
    offered = [*wanted, *(f"{topic} {name}" for name in names)]
    past = {normalize_query(question), *(normalize_query(query.text) for query in asked)}
    fresh = {normalize_query(text): text for text in offered if text and normalize_query(text) not in past}
    return list(fresh.values())[:_MAX_FOLLOW_UPS]


def grow_tree(
    directions: Sequence[Direction], level: int, most: int
) -> tuple[list[Direction], list[Direction]]:
    """Return the tree with its new directions, and those to explore at this level, best first."""
    tree = [*directions, *_make_children(directions, level)]
    tree = [_count_visits(_prune(direction, tree), tree) for direction in tree]
    open_ones = [direction for direction in tree if direction.status == "open"]
    chosen: list[Direction] = []
    extra: Counter[str] = Counter()  # picks of this level count as visits, so that parents alternate
    while open_ones and len(chosen) < most:
        best = max(
            open_ones, key=lambda one: (rate_direction(one, tree, extra[one.parent]), -open_ones.index(one))
        )
        open_ones.remove(best)
        extra[best.parent] += 1
        chosen.append(best.model_copy(update={"score": rate_direction(best, tree, extra[best.parent] - 1)}))
    scores = {one.id: one.model_copy(update={"level": level}) for one in chosen}
    return [scores.get(direction.id, direction) for direction in tree], list(scores.values())


def rate_direction(direction: Direction, tree: Sequence[Direction], picks: int = 0) -> float:
    """Score a direction by its parent's value, its few visits, and its novelty."""
    parent = next((one for one in tree if one.id == direction.parent), None)
    total = sum(one.status in _VISITED for one in tree)
    rate = direction_worth(parent, tree) if parent else 0.0
    visits = 1 + picks + (parent.visits if parent else 0)
    bound = rate / (1 + rate) + EXPLORATION * math.sqrt(math.log(total + 2) / visits)
    return bound + _NOVELTY_WEIGHT * _rate_novelty(direction, tree)


def direction_worth(direction: Direction, tree: Sequence[Direction]) -> float:
    """Return new claims per search, over the direction and its descendants."""
    below = _with_descendants(direction, tree)
    return sum(one.claims for one in below) / max(1, sum(one.asked for one in below))


def _with_descendants(direction: Direction, tree: Sequence[Direction]) -> list[Direction]:
    return [one for one in tree if one.id == direction.id or one.id.startswith(f"{direction.id}.")]


def _make_children(directions: Sequence[Direction], level: int) -> list[Direction]:
    known = {normalize_query(direction.text) for direction in directions}
    children: list[Direction] = []
    for parent in directions:
        born = sum(one.parent == parent.id for one in directions)
        for lead in parent.leads if parent.status == "explored" else []:
            if normalize_query(lead) in known:
                continue
            known.add(normalize_query(lead))
            born += 1
            children.append(
                Direction(
                    id=f"{parent.id}.{born}",
                    text=lead,
                    angle=f"left open by {parent.id}",
                    parent=parent.id,
                    level=level,
                    rounds=parent.rounds,
                    queries=parent.queries,
                    sources=parent.sources,
                )
            )
    return children


def _prune(direction: Direction, tree: Sequence[Direction]) -> Direction:
    """Prune an unexplored direction whose two siblings came back empty."""
    beside = [one for one in tree if one.parent == direction.parent and one.status in _VISITED]
    is_barren = len(beside) >= _EMPTY_TWICE and all(one.status == "empty" for one in beside)
    if direction.status != "open" or not direction.parent or not is_barren:
        return direction
    why = f"{len(beside)} directions beside it came back empty"
    return direction.model_copy(update={"status": "pruned", "because": why})


def _count_visits(direction: Direction, tree: Sequence[Direction]) -> Direction:
    below = _with_descendants(direction, tree)
    return direction.model_copy(update={"visits": sum(one.status in _VISITED for one in below)})


def _rate_novelty(direction: Direction, tree: Sequence[Direction]) -> float:
    own = terms(direction.text)
    others = [terms(one.text) for one in tree if one.status in _VISITED]
    return 1.0 - max((len(own & other) / max(1, len(own | other)) for other in others), default=0.0)
