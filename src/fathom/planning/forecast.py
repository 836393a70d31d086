"""Forecast the cost and time of a run from its depth, its models and earlier runs.

The worst cost is the budget, which no call may exceed. The worst time assumes that every answer comes at the
last moment; only a run with a time limit surely takes no longer. A forecast makes no calls.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from typing import get_args

from fathom.budget.prices import estimate_usd, find_unpriced_models
from fathom.budget.time_budget import grace_s
from fathom.planning.effort import apply_effort, estimate_effort
from fathom.search.engines import engines_for
from fathom.settings import Settings
from fathom.state import Forecast, Role, RunConfig
from fathom.storage import Storage
from fathom.storage.records import CostLine

_MOST_RUNS = 30
_IDLE_S = 300.0  # a longer pause was a user's
_REPORT_ROLES = {"outline", "write"}


@dataclass(frozen=True)
class RoleWork:
    """What one role did with one model; of expected work, the tokens are those of one call."""

    calls: float = 0
    tokens_in: float = 0
    tokens_out: float = 0


@dataclass(frozen=True)
class PastRun:
    """A finished run: its kind, its working time, and the work of each role."""

    shape: str
    seconds: float
    work: dict[tuple[str, str], RoleWork] = field(default_factory=dict)  # by role and model


async def load_past_runs(storage: Storage) -> list[PastRun]:
    """Return the latest runs that wrote a report, newest first."""
    shapes = await storage.runs.shapes()
    lines = await storage.costs.lines_of_latest(_MOST_RUNS)
    whole = {run: own for run, own in lines.items() if _REPORT_ROLES & {line.role for line in own}}
    return [_make_past_run(shapes.get(run.rpartition("/")[2], ""), own) for run, own in whole.items()]


def _make_past_run(shape: str, lines: Sequence[CostLine]) -> PastRun:
    work: dict[tuple[str, str], RoleWork] = {}
    for line in lines:
        before = work.get((line.role, line.model), RoleWork())
        work[line.role, line.model] = RoleWork(
            before.calls + 1, before.tokens_in + line.tokens_in, before.tokens_out + line.tokens_out
        )
    times = sorted(time for line in lines for time in (line.reserved_at, line.settled_at))
    return PastRun(shape, sum(min(after - before, _IDLE_S) for before, after in pairwise(times)), work)


# Default tokens per call, in and out, as measured by `bench/cost.py`; a report is longer than the bench's.
_USUAL_TOKENS: dict[Role, tuple[int, int]] = {
    "plan": (2_400, 400),
    "read": (3_000, 420),
    "verify": (3_400, 560),
    "judge": (5_500, 700),
    "outline": (3_000, 200),
    "write": (5_500, 1_200),
    "check": (3_800, 60),
}

# All parts of a report are written in one call (of a very long one in two), and edited in another; about
# every second draft has sentences to rewrite. Checked are the draft, the edit and the main conclusions.
_WRITE_CALLS, _CHECK_CALLS = 2.5, 3.0
_TRUST = 5  # calls: the weight of the defaults against observed calls
_READ_SHARE = 0.9  # of the pages allowed
_NEW_PAGES = 3.0  # new pages per query, at most
_STOPPING = 0.35  # exponent: ten times the allowed rounds give 2.2 times the rounds
_ANSWER_S = 1.0  # until an answer begins
_TOKENS_A_S = 80.0
_LOOKING_S = 3.0  # a round's searches and pages
_LOOKING_MOST_S = 180.0  # if every engine is tried three times and every page takes its full time
_PAGES_TOGETHER = 4  # pages whose claims are verified in one call
_WRITING: tuple[Role, ...] = ("write", "check", "write", "check")  # in sequence: draft, check, edit, check
_MOST_WRITING_CALLS = 7  # plus outline, rewrite and a second check


@dataclass(frozen=True)
class _Size:
    """The size of a run: branches, rounds of each, and joint judgements."""

    branches: int
    rounds: int
    together: int
    sources: int
    queries: int

    @property
    def expected_rounds(self) -> float:
        """Return the expected rounds of each branch; more allowed rounds are used less fully."""
        return float(self.rounds**_STOPPING)

    @property
    def expected_pages(self) -> float:
        """Return the expected pages of all branches and rounds."""
        a_round = min(_READ_SHARE * self.sources, _NEW_PAGES * self.queries)
        return self.branches * self.expected_rounds * a_round

    def waves(self, at_once: int) -> int:
        """Return the most batches of concurrent pages in a round."""
        return ceil(self.branches * self.sources / at_once)


def run_shape(run_config: RunConfig, question: str) -> str:
    """Return the kind of a run; runs of one kind cost about the same."""
    size = _run_size(run_config, question)
    return f"{run_config.strategy} {size.branches}x{size.rounds} rounds of {size.sources}"


def make_forecast(
    settings: Settings, run_config: RunConfig, question: str, past: Sequence[PastRun]
) -> Forecast:
    """Forecast the likely and the worst cost and time of a run."""
    size = _run_size(run_config, question)
    alike = [run for run in past if run.shape == run_shape(run_config, question)]
    is_thinking = settings.uses_model(run_config.model)
    work = _expected_work(settings, run_config, size, alike, past) if is_thinking else {}
    search_usd = _search_usd(settings, run_config, size)
    usd = _models_usd(settings, work)
    seconds, worst_s = _seconds(settings, run_config, size), _worst_s(settings, run_config, size)
    worst_usd = run_config.budget_usd if usd or search_usd else 0.0
    return Forecast(
        expected_usd=round(min(usd + search_usd, worst_usd), 6),
        worst_usd=worst_usd,
        expected_s=round(min(worst_s, _mean(seconds, [run.seconds for run in alike])), 1),
        worst_s=round(worst_s, 1),
        calls=round(sum(one.calls for one in work.values())),
        tokens_in=round(sum(one.calls * one.tokens_in for one in work.values())),
        tokens_out=round(sum(one.calls * one.tokens_out for one in work.values())),
        because=_describe_basis(settings, run_config, question, alike, past),
        unpriced=find_unpriced_models(settings, run_config),
    )


def _run_size(run_config: RunConfig, question: str) -> _Size:
    worth = estimate_effort(question, run_config.depth)
    own = apply_effort(run_config, worth)
    if run_config.strategy == "loop":
        return _Size(1, own.max_rounds, 1, own.max_sources, own.queries)
    if run_config.strategy == "tree":
        level = run_config.branches or run_config.step
        return _Size(level * run_config.max_rounds, 1, run_config.max_rounds, own.step, own.step)
    rounds = run_config.levels or run_config.rounds or worth.rounds
    return _Size(run_config.branches or max(2, worth.branches), rounds, 1, own.step, own.step)


def _expected_work(
    settings: Settings, run_config: RunConfig, size: _Size, alike: Sequence[PastRun], past: Sequence[PastRun]
) -> dict[tuple[Role, str], RoleWork]:
    """Return the expected calls and tokens of each role and model: defaults adjusted by earlier runs."""
    pages = size.expected_pages
    usual: Mapping[Role, float] = {
        "plan": size.branches * size.expected_rounds,
        "read": pages,
        "verify": pages / _PAGES_TOGETHER,
        "judge": size.branches * size.expected_rounds + (size.together if size.branches > 1 else 0),
        "outline": 0,  # the judge keeps it
        "write": _WRITE_CALLS,
        "check": _CHECK_CALLS,
    }
    expected: dict[tuple[Role, str], RoleWork] = {}
    for role in get_args(Role):
        model = settings.model_for(role, run_config.model_of(role))
        seen = [sum(work.calls for (who, _), work in run.work.items() if who == role) for run in alike]
        calls = _mean(usual[role], seen)
        known = [run.work[role, model] for run in past if (role, model) in run.work]
        made = sum(work.calls for work in known)
        usual_in, usual_out = _USUAL_TOKENS[role]
        tokens_in = (_TRUST * usual_in + sum(work.tokens_in for work in known)) / (_TRUST + made)
        tokens_out = (_TRUST * usual_out + sum(work.tokens_out for work in known)) / (_TRUST + made)
        expected[role, model] = RoleWork(calls, tokens_in, tokens_out)
    return expected


def _models_usd(settings: Settings, work: Mapping[tuple[Role, str], RoleWork]) -> float:
    """Return the likely cost of the work, without models of unknown price."""
    return sum(
        one.calls * estimate_usd(settings, model, round(one.tokens_in), round(one.tokens_out))
        for (_, model), one in work.items()
    )


def _search_usd(settings: Settings, run_config: RunConfig, size: _Size) -> float:
    engines = engines_for(settings, run_config)
    searches = size.branches * (1 + size.expected_rounds * size.queries)
    asked = [engines.prices[engine.name] for engine in engines.engines if engine.name in engines.prices]
    return searches * sum(price(size.sources) for price in asked)


def _seconds(settings: Settings, run_config: RunConfig, size: _Size) -> float:
    """Return the duration of the longest chain of calls: those of a round and those of the report."""
    rounds = size.expected_rounds * size.together
    looking_s = (1 + rounds) * _LOOKING_S
    if not settings.uses_model(run_config.model):
        return looking_s
    a_round_s = _calls_s("plan", "judge") + size.waves(settings.parallel_calls) * _calls_s("read", "verify")
    return looking_s + rounds * a_round_s + _calls_s(*_WRITING)


def _calls_s(*roles: Role) -> float:
    """Return how long calls of these roles take, one after another."""
    return sum(_ANSWER_S + _USUAL_TOKENS[role][1] / _TOKENS_A_S for role in roles)


def _worst_s(settings: Settings, run_config: RunConfig, size: _Size) -> float:
    """Return the time if every call of the longest chain takes its full timeout and the model is down once.

    Never longer than the run's time limit plus the extra time for its report.
    """
    in_turn = 1 if run_config.orchestration == "concurrent" else size.branches
    rounds = size.rounds * size.together * in_turn
    worst = (1 + rounds) * _LOOKING_MOST_S
    if settings.uses_model(run_config.model):
        a_round = 4 + 2 * ceil(size.waves(settings.parallel_calls) / in_turn)  # also retry and re-verify
        worst += (rounds * a_round + _MOST_WRITING_CALLS) * settings.call_timeout_s + settings.outage_s
    limit_s = run_config.time_limit_s
    return worst if limit_s is None else min(worst, limit_s + grace_s(limit_s))


def _mean(usual: float, seen: Sequence[float]) -> float:
    """Return the mean, with the default counted as one observed run."""
    return (usual + sum(seen)) / (1 + len(seen))


def _describe_basis(
    settings: Settings,
    run_config: RunConfig,
    question: str,
    alike: Sequence[PastRun],
    past: Sequence[PastRun],
) -> str:
    shape = run_shape(run_config, question)
    is_thinking = settings.uses_model(run_config.model)
    who = settings.model_for("write", run_config.model_of("write")) if is_thinking else "no model"
    runs = f"{len(alike)} like it" if alike else "none like it"
    seen = f"{len(past)} earlier runs here, {runs}" if past else "no earlier runs with a model here"
    return f"{shape}, {who}, {seen}"
