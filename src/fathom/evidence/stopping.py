"""When it is enough: one small rule a reason, and the order in which they speak.

Does not know how the numbers come about.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from fathom.state import Gain, Gap, Judgement, Priority, StopReason, StopRule
from fathom.text.messages import ENGLISH

SURE_FROM = 0.7
_MOST_IDLE_ROUNDS = 8  # after five the planner steps back (`planning.reflexion`); then three more
LEAST_GAIN = 0.25  # new findings a query, smoothed over rounds
_TRACING_ROUNDS = 2  # rounds; the second one reads what the pages of the first name as their sources
_FOLLOWING_ROUNDS = 3  # rounds; by then what a lead was worth is known


@dataclass(frozen=True)
class RunPosition:
    """Where a run stands after a round."""

    round: int
    max_rounds: int
    overall: float
    threshold: float
    diversity: float
    sources: int
    claims: int
    new_claims: int
    gaps: list[Gap]
    spent_usd: float
    budget_usd: float
    is_finishing: bool
    has_asked: bool
    coverage: float = 0.0
    confidence: float = 0.0
    gain: Gain | None = None
    failing: Sequence[str] = ()  # checks that fail and may still hold a rule back
    is_endless: bool = False
    idle_rounds: int = 0  # in a row without a new page
    settled: StopReason | None = None  # why another round would not change the evidence
    why_not_converged: str = ""  # why it would
    patience: int = 100  # the last round after which an important gap keeps the run going
    has_requested_query: bool = False  # a person added a query that was not asked yet
    is_follow_up: bool = False  # round 1 was spent on what its thread knew: nothing was looked for
    reserve: float = 0.0  # the share of the budget that is kept for the report
    is_spent: bool = False  # a call was not sent because it did not fit
    worked_s: float = 0.0
    time_limit_s: float | None = None
    has_unread_origins: bool = False  # a page names a source for what it says, and nobody has read it
    is_at_hand: bool = True  # of a follow-up: what its thread read answers it
    is_by_words: bool = False  # no model judged: nothing can be called sufficient or answered

    @property
    def looking_usd(self) -> float:
        """What may be spent before the report is written."""
        return self.budget_usd * (1.0 - self.reserve)

    @property
    def is_open(self) -> bool:
        """Whether something that matters is missing."""
        return any(gap.priority != "low" for gap in self.gaps)

    @property
    def has_important_gap(self) -> bool:
        """Whether the question is not answered without something that is missing.

        After the last round too: then the rounds are used up, and nothing is called sufficient.
        """
        has_gap = any(gap.priority == "high" for gap in self.gaps)
        return has_gap and (self.round >= self.max_rounds or self.round <= self.patience)

    @property
    def has_open_lead(self) -> bool:
        """Whether a lead is open that there are rounds left for; a follow-up that is answered needs none."""
        is_wanted = bool(self.why_not_converged) and (self.is_open or not self.is_follow_up)
        return is_wanted and self.round < min(self.max_rounds, _FOLLOWING_ROUNDS)

    @property
    def has_origins_to_read(self) -> bool:
        """Whether the next round would read the sources of what was read in the first."""
        return self.has_unread_origins and self.round < min(self.max_rounds, _TRACING_ROUNDS)

    @property
    def has_unsearched_gap(self) -> bool:
        """Whether what was at hand leaves something open that nobody has looked for yet."""
        return self.is_follow_up and self.round == 1 and (self.is_open or not self.is_at_hand)


StopCheck = Callable[[RunPosition], StopReason | None]


def make_reason(phrase: str, **values: object) -> StopReason:
    """Return a reason with its values as they are shown."""
    return StopReason(phrase=phrase, values={name: str(value) for name, value in values.items()})


def check_score(at: RunPosition) -> StopReason | None:
    """The score reaches the threshold."""
    if at.claims and at.overall >= at.threshold:
        return make_reason("score", score=f"{at.overall:.2f}", needed=f"{at.threshold:.2f}")
    return None


def check_answers(at: RunPosition) -> StopReason | None:
    """Every sub-question has its answer, and the judge is sure of them."""
    if at.claims and at.coverage >= 1.0 and at.confidence >= SURE_FROM:
        return make_reason("answered", confidence=f"{at.confidence:.2f}", needed=f"{SURE_FROM:.2f}")
    return None


def check_saturation(at: RunPosition) -> StopReason | None:
    """After round 1, new findings are under a tenth of what was known."""
    all_known, new = (at.gain.known, at.gain.new) if at.gain else (at.claims, at.new_claims)
    known = all_known - new
    if at.round > 1 and known and new < 0.1 * known:
        return make_reason("new", new=new, known=known)
    return None


def check_gain(at: RunPosition) -> StopReason | None:
    """After round 1, a query brings too little, or one finding more would cost more than is left."""
    if at.gain is None or at.round < 2 or not at.claims or not at.gain.queries:
        return None
    if at.gain.smoothed_per_query < LEAST_GAIN:
        return make_reason("per_query", gain=f"{at.gain.smoothed_per_query:.2f}", needed=f"{LEAST_GAIN:.2f}")
    left = at.looking_usd - at.spent_usd
    if at.gain.smoothed_per_usd is not None and at.gain.smoothed_per_usd * left < 1:
        return make_reason("per_usd", gain=f"{at.gain.smoothed_per_usd:.2f}", left=f"{max(0.0, left):.4f}")
    return None


def check_gaps(at: RunPosition) -> StopReason | None:
    """Something is known and only low-priority gaps are left."""
    if at.claims and all(gap.priority == "low" for gap in at.gaps):
        return make_reason("gaps", count=len(at.gaps))
    return None


def check_diversity(at: RunPosition) -> StopReason | None:
    """Five sources or more, and they differ; but not while a part of the question has no answer."""
    if at.sources >= 5 and at.diversity >= 0.7 and all(gap.priority != "high" for gap in at.gaps):
        return make_reason("diversity", score=f"{at.diversity:.2f}", count=at.sources)
    return None


def check_convergence(at: RunPosition) -> StopReason | None:
    """In a run without a model: another round would not change which pages are the evidence."""
    return at.settled


def check_rounds(at: RunPosition) -> StopReason | None:
    """The last round allowed is over."""
    return make_reason("rounds", done=at.round, limit=at.max_rounds) if at.round >= at.max_rounds else None


def check_budget(at: RunPosition) -> StopReason | None:
    """What may be spent on looking is spent, or a call did not fit into what is left of it."""
    if not at.is_spent and not 0 < at.spent_usd >= at.looking_usd:
        return None
    spent, limit = f"{at.spent_usd:.4f}", f"{at.looking_usd:.4f}"
    return make_reason("spent", spent=spent, limit=limit, all=f"{at.budget_usd:g}")


def check_time(at: RunPosition) -> StopReason | None:
    """The run was worked on for as long as it may be."""
    if at.time_limit_s is None or at.worked_s < at.time_limit_s:
        return None
    return make_reason("time", spent=f"{at.worked_s:.0f}", limit=f"{at.time_limit_s:g}")


def check_finish_request(at: RunPosition) -> StopReason | None:
    """Somebody said finish."""
    return make_reason("told") if at.is_finishing else None


def check_queries(at: RunPosition) -> StopReason | None:
    """The planner had no query that was not asked before; or, without an end, no query finds a new page."""
    if at.is_endless and at.idle_rounds >= _MOST_IDLE_ROUNDS:
        return make_reason("no_page", count=at.idle_rounds)
    return None if at.has_asked else make_reason("no_query")


def count_idle_rounds(judgements: Sequence[Judgement]) -> int:
    """How many rounds in a row, up to the last, read no page that was not known."""
    count = 0
    for before, after in zip(judgements[-2::-1], judgements[::-1], strict=False):
        if after.pages != before.pages:
            break
        count += 1
    return count


STOP_RULES: dict[StopRule, StopCheck] = {
    "a person's word": check_finish_request,
    "budget used up": check_budget,
    "time used up": check_time,
    "nothing left to ask": check_queries,
    "sufficient": check_score,
    "answered": check_answers,
    "saturated": check_saturation,
    "gain too low": check_gain,
    "settled": check_convergence,
    "only minor gaps": check_gaps,
    "diverse": check_diversity,
    "rounds used up": check_rounds,
}


# What a failing check can hold back, what an important gap or an open lead can beside it, and what stops even
# a run that goes on without end.
_CONTENT: frozenset[StopRule] = frozenset({"sufficient", "answered", "only minor gaps", "diverse"})
_FRUITLESS: frozenset[StopRule] = frozenset({"saturated", "gain too low"})
_LIMITS: frozenset[StopRule] = frozenset(
    {"a person's word", "budget used up", "time used up", "nothing left to ask", "rounds used up"}
)
# What ends a run even before what a person wished for was asked.
_FINAL: frozenset[StopRule] = _LIMITS - {"nothing left to ask"}


def find_stop_rule(at: RunPosition) -> tuple[StopRule | None, StopReason | None]:
    """The first rule that says stop, with its numbers; None to go on."""
    for name, rule in STOP_RULES.items():
        if (at.is_endless and name not in _LIMITS) or name in _list_held_rules(at):
            continue
        reason = rule(at)
        if reason is not None:
            return name, reason
    return None, None


def find_held_rule(at: RunPosition) -> StopRule | None:
    """The rule that would have stopped the run, had no check failed and no gap or lead been open."""
    if at.is_endless:
        return None
    return next(
        (name for name, rule in STOP_RULES.items() if name in _list_held_rules(at) and rule(at) is not None),
        None,
    )


def _list_held_rules(at: RunPosition) -> frozenset[StopRule]:
    if at.has_requested_query:
        return frozenset(STOP_RULES) - _FINAL
    held: frozenset[StopRule] = _CONTENT if at.failing else frozenset()
    if at.has_unsearched_gap:
        held |= _CONTENT | {"settled"}
    if at.has_important_gap:
        held |= _CONTENT | {"settled", "saturated"}
    if at.has_open_lead:
        held |= _CONTENT | _FRUITLESS
    if at.has_origins_to_read:
        held |= _CONTENT | {"settled"}
    return held


def find_waived_rule(at: RunPosition) -> StopRule | None:
    """The rule that would have stopped the run, were it not to go on without end."""
    return find_stop_rule(replace(at, is_endless=False))[0] if at.is_endless else None


def list_rule_values(at: RunPosition) -> dict[StopRule, dict[str, str]]:
    """Return the numbers that every rule looks at, whether it applies or not."""
    gain = at.gain or Gain(known=at.claims, new=at.new_claims)
    counts = Counter(gap.importance for gap in at.gaps)
    values: dict[StopRule, dict[str, object]] = {
        "a person's word": {"told": at.is_finishing},
        "budget used up": {"spent_usd": round(at.spent_usd, 6), "limit_usd": round(at.looking_usd, 6)},
        "time used up": {"spent_s": round(at.worked_s), "limit_s": at.time_limit_s or "none"},
        "nothing left to ask": {
            "has_asked": at.has_asked,
            "idle_rounds": at.idle_rounds,
            "is_by_words": at.is_by_words,
        },
        "sufficient": {"score": round(at.overall, 4), "needed": at.threshold},
        "answered": {"coverage": round(at.coverage, 4), "confidence": at.confidence, "needed": SURE_FROM},
        "saturated": {"new": gain.new, "known": gain.known - gain.new, "needed_share": 0.1},
        "gain too low": {"per_query": round(gain.smoothed_per_query, 4), "needed": LEAST_GAIN},
        "settled": {"settled": at.settled is not None},
        "only minor gaps": {name: counts[name] for name in get_args(Priority)},
        "gaps given up": {"high": counts["high"], "rounds": at.round},
        "diverse": {"diversity": round(at.diversity, 4), "needed": 0.7, "sources": at.sources, "least": 5},
        "rounds used up": {"done": at.round, "limit": at.max_rounds},
    }
    return {name: {key: str(value) for key, value in own.items()} for name, own in values.items()}


def decide_stop(judgement: Judgement, at: RunPosition) -> Judgement:
    """The judgement with what the rules say of it: which one stops the run, or what kept one from it."""
    name, reason = find_stop_rule(at)
    given_up = sum(gap.importance == "high" for gap in at.gaps)
    if given_up and name in _CONTENT | {"settled"}:
        name, reason = "gaps given up", make_reason("given_up", count=given_up, done=at.round)
    if at.is_by_words and name is not None and name not in _LIMITS:
        name, reason = "nothing left to ask", make_reason("by_words")
    said = {
        "stop": name,
        "reason": reason,
        "held": None if name else find_held_rule(at),
        "waived": find_waived_rule(at),
        "rules": list_rule_values(at),
    }
    decided = judgement.model_copy(update=said)
    return decided.model_copy(update={"because": ENGLISH.because(decided)})
