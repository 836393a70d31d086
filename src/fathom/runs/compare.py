"""Compare two runs: question, settings, sources, findings and costs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from fathom.http.urls import canonical_address
from fathom.state import Finding, Page, RunConfig, RunState
from fathom.text.normalization import fold_text

T = TypeVar("T")


@dataclass(frozen=True)
class Pair(Generic[T]):
    """The same thing of the first run and of the second."""

    first: T
    second: T

    @property
    def is_same(self) -> bool:
        """Whether there is no difference."""
        return self.first == self.second


@dataclass(frozen=True)
class ComparedSource:
    """A page by its title and its address."""

    title: str
    address: str


@dataclass(frozen=True)
class ComparedFinding:
    """A finding, and how sure a run is of it."""

    statement: str
    tag: str
    confidence: float


@dataclass(frozen=True)
class Comparison:
    """The differences of two runs; findings that the second adds, lacks, or rates differently."""

    runs: Pair[str]
    questions: Pair[str]
    statuses: Pair[str]
    rounds: Pair[int]
    cost_usd: Pair[float]
    directions: Pair[str] = Pair("", "")  # where a fork went
    settings: dict[str, Pair[Any]] = field(default_factory=dict)
    sources: Pair[list[ComparedSource]] = field(default_factory=lambda: Pair([], []))  # only in one
    shared_sources: int = 0
    added: list[ComparedFinding] = field(default_factory=list)
    gone: list[ComparedFinding] = field(default_factory=list)
    changed: list[Pair[ComparedFinding]] = field(default_factory=list)
    same: int = 0


@dataclass(frozen=True)
class ComparedRun:
    """One run to be compared."""

    run: str
    state: RunState
    status: str
    usd: float = 0.0  # what it has cost


def compare_runs(first: ComparedRun, second: ComparedRun) -> Comparison:
    """The second run against the first."""
    one, two = first.state, second.state
    places = Pair(_sources_by_address(one.get("pages", [])), _sources_by_address(two.get("pages", [])))
    shared = places.first.keys() & places.second.keys()
    matched, gone, added = _match(one.get("findings", []), two.get("findings", []))
    changed = [
        pair
        for pair in matched
        if (pair.first.tag, pair.first.confidence) != (pair.second.tag, pair.second.confidence)
    ]
    return Comparison(
        runs=Pair(first.run, second.run),
        questions=Pair(one.get("question", ""), two.get("question", "")),
        statuses=Pair(first.status, second.status),
        rounds=Pair(len(one.get("judgements", [])), len(two.get("judgements", []))),
        cost_usd=Pair(first.usd, second.usd),
        directions=Pair(_direction(one), _direction(two)),
        settings=_changed_settings(one.get("run_config"), two.get("run_config")),
        sources=Pair(_only_in_one(places.first, shared), _only_in_one(places.second, shared)),
        shared_sources=len(shared),
        added=added,
        gone=gone,
        changed=changed,
        same=len(matched) - len(changed),
    )


def _direction(state: RunState) -> str:
    fork = state.get("fork")
    return fork.direction if fork else ""


def _sources_by_address(pages: Sequence[Page]) -> dict[str, ComparedSource]:
    return {canonical_address(page.address): ComparedSource(page.title, page.address) for page in pages}


def _only_in_one(places: dict[str, ComparedSource], shared: set[str]) -> list[ComparedSource]:
    return [source for place, source in places.items() if place not in shared]


def _changed_settings(first: RunConfig | None, second: RunConfig | None) -> dict[str, Pair[Any]]:
    one, two = (first or RunConfig()).model_dump(), (second or RunConfig()).model_dump()
    return {name: Pair(one[name], two[name]) for name in one if one[name] != two[name]}


def _match(
    first: Sequence[Finding], second: Sequence[Finding]
) -> tuple[list[Pair[ComparedFinding]], list[ComparedFinding], list[ComparedFinding]]:
    """Findings that are in both, in the first alone, in the second alone.

    Two are the same if a claim is in both, or if they say the same word for word.
    """
    by_claim = {claim: finding for finding in second for claim in finding.claims}
    by_words = {fold_text(finding.statement).text: finding for finding in second}
    both: list[Pair[ComparedFinding]] = []
    gone: list[ComparedFinding] = []
    seen: set[str] = set()
    for finding in first:
        others = [by_claim[claim] for claim in finding.claims if claim in by_claim]
        other = others[0] if others else by_words.get(fold_text(finding.statement).text)
        if other is None:
            gone.append(_as_held(finding))
        else:
            seen.add(other.id)
            both.append(Pair(_as_held(finding), _as_held(other)))
    return both, gone, [_as_held(finding) for finding in second if finding.id not in seen]


def _as_held(finding: Finding) -> ComparedFinding:
    return ComparedFinding(finding.statement, finding.tag, finding.confidence)
