"""The order in which events may come, as a small grammar.

Does not know how events come about. What must have been told before an event is one line here; a run that was
left and gone on with is read as one, stretch by stretch.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from fathom.events import (
    AnalysisCompleted,
    AnalysisStarted,
    BranchCompleted,
    Checkpoint,
    ContentExtracted,
    Progress,
    RoundCompleted,
    SearchCompleted,
    SearchStarted,
    Started,
    SufficiencyEvaluated,
)

Mark = tuple[object, ...]


def find_order_faults(events: Iterable[Progress]) -> list[str]:
    """What is wrong with the order of a run's events, one sentence each; none when it is legal."""
    seen: set[Mark] = set()
    found: list[str] = []
    for stretch in _split_by_start(events):
        found += _faults_of_segment(stretch, seen)
    return found


def _split_by_start(events: Iterable[Progress]) -> Iterator[list[Progress]]:
    """The run cut before every `started`."""
    stretch: list[Progress] = []
    for event in events:
        if event.kind == "started" and stretch:
            yield stretch
            stretch = []
        stretch.append(event)
    if stretch:
        yield stretch


def _faults_of_segment(events: Sequence[Progress], seen: set[Mark]) -> list[str]:
    first, last = events[0], events[-1]
    found: list[str] = []
    if not isinstance(first.payload, Started):
        found.append(f"begins with {first.kind!r}")
    if not last.is_last:
        found.append(f"ends with {last.kind!r}")
    found += [f"{event.kind!r} is not the last" for event in events[:-1] if event.is_last]
    # What a run told before anybody listened is not known here.
    is_known = not (isinstance(first.payload, Started) and first.payload.is_resumed and not seen)
    for event in events:
        if is_known:
            found += [
                f"{_describe_event(event)} without {' '.join(map(str, m))!r}"
                for m in _required_marks(event) - seen
            ]
        seen |= _left_marks(event)
    return [*found, *_unfinished_work(events), *_backward_steps(events)]


def _required_marks(event: Progress) -> set[Mark]:
    """What must have been told before this event, in its own branch."""
    branch = event.branch
    match event.payload:
        case SearchCompleted(query=query):
            return {("search started", branch, query)}
        case AnalysisStarted(address=address):
            return {("content extracted", branch, address)}
        case AnalysisCompleted(address=address):
            return {("analysis started", branch, address)}
        case RoundCompleted(round=number):
            return {("sufficiency evaluated", branch, number)}
        case _:
            return {(before, branch) for before in _REQUIRED_KINDS.get(event.kind, ())}


_REQUIRED_KINDS = {
    "search started": ("plan generated",),
    "extraction started": ("plan generated",),
    "content extracted": ("extraction started",),
    "branch completed": ("round completed",),
    "report started": ("round completed",),
    "draft": ("report started",),
    "report section": ("report started",),
    "report chunk": ("report started",),
    "report written": ("report started",),
    "report kept": ("report written",),
    "completed": ("enough",),
}


def _left_marks(event: Progress) -> set[Mark]:
    """What later events may build on."""
    branch, plain = event.branch, (event.kind, event.branch)
    match event.payload:
        case SearchStarted(query=query):
            return {(event.kind, branch, query)}
        case ContentExtracted(address=address) | AnalysisStarted(address=address):
            return {(event.kind, branch, address)}
        case SufficiencyEvaluated(judgement=judged):
            return {(event.kind, branch, judged.round), *([("enough", branch)] if judged.stop else [])}
        case BranchCompleted():
            return {plain, ("enough", "")}  # a run of branches may end with what they brought
        case _:
            return {plain}


def _unfinished_work(events: Sequence[Progress]) -> list[str]:
    """In a run that came to its end nothing is left open; a judged round is told as over at once."""
    found: list[str] = []
    for before, after in pairwise(events):
        if before.kind == "sufficiency evaluated" and after.kind != "round completed":
            found.append(f"{after.kind!r} between a judgement and the end of its round")
    if events[-1].kind != "completed":
        return found
    over = {e.round for e in events if e.kind == "round completed" and not e.branch}
    kept = {e.round for e in events if isinstance(e.payload, Checkpoint)}
    found += [f"no checkpoint after round {number}" for number in sorted(over - kept)]
    begun = {(e.branch, e.payload.query) for e in events if isinstance(e.payload, SearchStarted)}
    ended = {(e.branch, e.payload.query) for e in events if isinstance(e.payload, SearchCompleted)}
    found += [f"a search for {query!r} that never ended" for _, query in sorted(begun - ended)]
    read = {(e.branch, e.payload.address) for e in events if isinstance(e.payload, AnalysisStarted)}
    done = {(e.branch, e.payload.address) for e in events if isinstance(e.payload, AnalysisCompleted)}
    return [*found, *(f"an analysis of {address} that never ended" for _, address in sorted(read - done))]


def _backward_steps(events: Sequence[Progress]) -> list[str]:
    """One run, and neither time nor money nor rounds ever run back."""
    found = [f"{e.kind!r} of run {e.run_id}" for e in events if e.run_id != events[0].run_id]
    rounds: dict[str, int] = {}
    for before, event in zip([events[0], *events], events, strict=False):
        if event.elapsed_s < before.elapsed_s or event.at < before.at:
            found.append(f"{_describe_event(event)} before the event in front of it")
        if event.spent.usd < before.spent.usd - 1e-9:
            found.append(f"{_describe_event(event)} has spent less than before")
        if event.round < rounds.get(event.branch, 0):
            found.append(
                f"{_describe_event(event)} in round {event.round} after round {rounds[event.branch]}"
            )
        rounds[event.branch] = event.round
    return found


def _describe_event(event: Progress) -> str:
    return f"{event.kind!r}" + (f" of branch {event.branch}" if event.branch else "")
