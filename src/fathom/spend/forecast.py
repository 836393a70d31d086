"""What a run will cost, before it begins: from its depth, its models, and what runs here took before.

Does not know purses. The worst case is the budget: no call is sent that does not fit into it. Nobody is asked
anything for a forecast.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from fathom.planning.effort import effort, sized
from fathom.search.table import engines_for
from fathom.settings import OPENAI, Settings
from fathom.spend.past import Past, Work
from fathom.spend.prices import load_prices
from fathom.state import Forecast, Knobs, Role

# Tokens a call, in and out, where nothing is known of a model yet.
_USUAL: dict[Role, tuple[int, int]] = {
    "plan": (2_200, 600),
    "read": (3_000, 500),
    "verify": (1_300, 300),
    "judge": (3_000, 600),
    "outline": (1_800, 300),
    "write": (2_000, 700),
    "check": (1_500, 200),
}
_TRUST = 5  # calls: what the figures above weigh against calls that were really made
_SECTIONS = 3
_READ = 0.7  # of the pages allowed
_CALL_S = 6.0
_QUOTING_S = 3.0  # a round without a model
_QUOTING_MOST_S = 300.0  # when every engine and every page is tried to the last


@dataclass(frozen=True)
class _Size:
    """How far a run may go: branches, rounds of each, and how often they are judged together."""

    branches: int
    rounds: int
    together: int
    sources: int
    queries: int

    @property
    def expected_rounds(self) -> float:
        """Of each branch: most stop half-way."""
        return 1 + (self.rounds - 1) / 2

    @property
    def chain(self) -> int:
        """The most calls that come one after another."""
        return 4 + 3 * self.rounds + 2 * (self.together - 1) + 5


def shape_of(knobs: Knobs, question: str) -> str:
    """The kind of a run: those of one kind are likely to cost alike."""
    size = _size(knobs, question)
    return f"{knobs.strategy} {size.branches}x{size.rounds} rounds of {size.sources}"


def forecast(settings: Settings, knobs: Knobs, question: str, past: Sequence[Past]) -> Forecast:
    """The likely and the worst cost and time of a run."""
    size = _size(knobs, question)
    alike = [run for run in past if run.shape == shape_of(knobs, question)]
    work = _work(settings, knobs, size, alike, past) if settings.has_model else {}
    search_usd = _search_usd(settings, knobs, size)
    usd, unpriced, is_priced = _priced(settings, work)
    seconds = _seconds(size, has_model=settings.has_model)
    worst_usd = knobs.budget_usd if is_priced or search_usd else 0.0
    return Forecast(
        expected_usd=round(min(usd + search_usd, worst_usd), 6),
        worst_usd=worst_usd,
        expected_s=round(_mean(seconds, [run.seconds for run in alike]), 1),
        worst_s=round(_worst_s(settings, knobs, size), 1),
        calls=round(sum(one.calls for one in work.values())),
        tokens_in=round(sum(one.calls * one.tokens_in for one in work.values())),
        tokens_out=round(sum(one.calls * one.tokens_out for one in work.values())),
        because=_because(settings, knobs, question, alike, past),
        unpriced=unpriced,
    )


@dataclass(frozen=True)
class _Expected:
    """Calls of a role, and tokens a call."""

    calls: float
    tokens_in: float
    tokens_out: float


def _size(knobs: Knobs, question: str) -> _Size:
    worth = effort(question, knobs.depth)
    own = sized(knobs, worth)
    if knobs.strategy == "loop":
        return _Size(1, own.max_rounds, 1, own.max_sources, own.queries)
    if knobs.strategy == "tree":
        return _Size(
            (knobs.branches or knobs.step) * knobs.max_rounds, 1, knobs.max_rounds, own.step, own.step
        )
    rounds = knobs.levels or knobs.rounds or worth.rounds
    return _Size(knobs.branches or max(2, worth.branches), rounds, 1, own.step, own.step)


def _work(
    settings: Settings, knobs: Knobs, size: _Size, alike: Sequence[Past], past: Sequence[Past]
) -> dict[tuple[Role, str], _Expected]:
    """Who is likely to be asked how often, and how much: what is usual, moved by what runs here took."""
    pages = size.branches * size.expected_rounds * size.sources * _READ
    usual: Mapping[Role, float] = {
        "plan": size.branches,
        "read": pages,
        "verify": pages,
        "judge": size.branches * size.expected_rounds + (size.together if size.branches > 1 else 0),
        "outline": 1,
        "write": _SECTIONS,
        "check": _SECTIONS,
    }
    expected: dict[tuple[Role, str], _Expected] = {}
    for role in get_args(Role):
        model = settings.model_for(role, knobs.model)
        calls = _mean(usual[role], [_done(run, role).calls for run in alike])
        known = [run.work[role, model] for run in past if (role, model) in run.work]
        made = sum(work.calls for work in known)
        usual_in, usual_out = _USUAL[role]
        tokens_in = (_TRUST * usual_in + sum(work.tokens_in for work in known)) / (_TRUST + made)
        tokens_out = (_TRUST * usual_out + sum(work.tokens_out for work in known)) / (_TRUST + made)
        expected[role, model] = _Expected(calls, tokens_in, tokens_out)
    return expected


def _done(run: Past, role: str) -> Work:
    own = [work for (who, _), work in run.work.items() if who == role]
    return Work(sum(w.calls for w in own), sum(w.tokens_in for w in own), sum(w.tokens_out for w in own))


def _priced(settings: Settings, work: Mapping[tuple[Role, str], _Expected]) -> tuple[float, list[str], bool]:
    """What the work is likely to cost, the models without a price, and whether any has one."""
    prices, server = load_prices(settings.prices_file, settings.home), settings.base_url or OPENAI
    total, unpriced = 0.0, dict[str, None]()
    for (_, model), one in work.items():
        usd = prices.usd(model, server, round(one.tokens_in), round(one.tokens_out))
        if usd is None:
            unpriced[model] = None
        else:
            total += one.calls * usd
    return total, list(unpriced), total > 0


def _search_usd(settings: Settings, knobs: Knobs, size: _Size) -> float:
    engines = engines_for(settings, knobs)
    searches = size.branches * (1 + size.expected_rounds * size.queries)
    asked = [engines.prices[engine.name] for engine in engines.engines if engine.name in engines.prices]
    return searches * sum(price(size.sources) for price in asked)


def _seconds(size: _Size, *, has_model: bool) -> float:
    rounds = size.expected_rounds * size.together
    return (9 + 3 * rounds) * _CALL_S if has_model else (1 + rounds) * _QUOTING_S


def _worst_s(settings: Settings, knobs: Knobs, size: _Size) -> float:
    """Every call of the longest chain at its latest; when looking has a limit, that and the writing."""
    if not settings.has_model:
        return (1 + size.rounds * size.together) * _QUOTING_MOST_S
    a_call = settings.call_timeout_s * (1 + settings.call_retries) + settings.outage_s
    chain = size.chain * (1 if knobs.orchestration == "concurrent" else size.branches)
    return min(chain, (knobs.time_limit_s or float("inf")) / a_call + 6) * a_call


def _mean(usual: float, seen: Sequence[float]) -> float:
    """What is usual counts as one run among those that were seen."""
    return (usual + sum(seen)) / (1 + len(seen))


def _because(
    settings: Settings, knobs: Knobs, question: str, alike: Sequence[Past], past: Sequence[Past]
) -> str:
    shape = shape_of(knobs, question)
    who = settings.model_for("write", knobs.model) if settings.has_model else "no model"
    runs = f"{len(alike)} like it" if alike else "none like it"
    seen = f"{len(past)} earlier runs here, {runs}" if past else "no earlier runs with a model here"
    return f"{shape}, {who}, {seen}"
