"""The storage interface: what a database must be able to do, in the words of the domain.

Does not know SQL or files. SQLite implements it (`fathom.storage.sqlite`); PostgreSQL can. Every call is one
short transaction. It may be made from any event loop of any thread, and never blocks the loop.
"""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from fathom.concurrency import SharedPaces
from fathom.storage.records import (
    CostLine,
    PaidCall,
    RemovedRows,
    RunRecord,
    Signal,
    SignalWord,
    StoredReply,
    Watch,
    WebPage,
)


class Balance(NamedTuple):
    """What a run has spent or reserved, and whether a call was ever refused for lack of money."""

    nano: int
    is_out: bool


class PageStore(Protocol):
    """Texts of pages, by the hash of the text."""

    async def put(self, sha: str, text: str) -> None:
        """Keep a text; keeping it again only notes that it is in use."""

    async def get(self, sha: str) -> str | None:
        """Return the text, or None."""


class ReplyStore(Protocol):
    """Answers of models and search engines, by call and by the run that got them."""

    async def get(self, call: str, run: str, since: float) -> StoredReply | None:
        """Return the run's own answer, else the newest of any run that is not older than `since`."""

    async def put(self, call: str, run: str, text: str, at: float, *, is_own: bool) -> None:
        """Keep an answer; the first one stays."""


class WebPageStore(Protocol):
    """Pages of the web as they were last read, by address."""

    async def get(self, address: str) -> WebPage | None:
        """Return the page, or None."""

    async def put(self, address: str, page: WebPage, forget_before: float) -> None:
        """Replace the page, and forget all pages that were checked before that time."""

    async def drop(self, address: str) -> None:
        """Forget one page."""


class CostStore(Protocol):
    """Payments, one line a call; amounts are whole billionths of a dollar."""

    async def reserve(
        self, run: str, call: PaidCall, most: int, least: int, limit: int, at: float
    ) -> tuple[int, int] | int:
        """Reserve `most` if it fits below the limit, else what fits if that is `least` or more.

        Sum and insert are one transaction. Returns the line and its amount, or what the run has spent.
        """

    async def settle(self, line: int, amount: int, tokens_in: int, tokens_out: int, at: float) -> None:
        """Replace a reservation by what was really paid."""

    async def settle_open(
        self, run: str, call: str, amount: int, tokens_in: int, tokens_out: int, at: float
    ) -> None:
        """Settle the last open line of a call, unless another line of the call is settled."""

    async def add(
        self, run: str, call: PaidCall, amount: int, tokens_in: int, tokens_out: int, at: float
    ) -> None:
        """Add a settled line."""

    async def release(self, line: int) -> None:
        """Remove a reservation."""

    async def mark_out(self, run: str) -> None:
        """Remember that a call of the run was refused for lack of money."""

    async def mark_overspent(self, run: str, model: str, amount: int, reserved: int) -> None:
        """Remember the first time a model took more than was reserved."""

    async def overspent(self, run: str) -> dict[str, tuple[int, int]]:
        """Return amount and reservation by model."""

    async def balance(self, run: str) -> Balance:
        """Return where a run stands."""

    async def spent(self, thread: str) -> int:
        """Return what everything that was begun in a thread has spent or reserved."""

    async def paid(self, run: str, call: str) -> int | None:
        """Return what a run has spent or reserved for one call; None if it has no line."""

    async def paid_by_call(self, run: str) -> dict[PaidCall, int]:
        """Return what a run has spent or reserved, by call, the latest first."""

    async def lines_of_latest(self, most_runs: int) -> dict[str, list[CostLine]]:
        """Return all lines of the runs that paid last, the newest run first."""


class SignalStore(Protocol):
    """Control signals: what people told runs to do."""

    async def add(self, run: str, word: SignalWord, text: str, at: str, *, cancels: Sequence[str]) -> Signal:
        """Add a signal; those of the `cancels` kinds that nobody has taken yet count as taken."""

    async def pending(self, run: str) -> list[Signal]:
        """Return what nobody has taken yet, oldest first."""

    async def runs_with_pending(self, word: SignalWord) -> set[str]:
        """Return the runs that have such a signal pending."""

    async def take(self, run: str, words: Sequence[str], taker: str, number: int) -> list[Signal]:
        """Take all pending signals of these kinds; return all that this taker took, now or before."""


class LeaseStore(Protocol):
    """Which branch of a run reads which page."""

    async def take(self, run: str, branch: str, addresses: Sequence[str], most: int) -> list[str]:
        """Return the first `most` addresses that belong to the branch, free ones taken now."""


class ThreadStore(Protocol):
    """Which runs build on one another."""

    async def thread_of(self, run: str) -> str | None:
        """Return the thread a follow-up stands in."""

    async def runs_of(self, thread: str) -> list[tuple[str, str]]:
        """Return all follow-ups of a thread in order, each with the run it follows."""

    async def add(self, run: str, thread: str, follows: str) -> None:
        """Add a follow-up to a thread."""

    async def close(self, thread: str) -> None:
        """Allow no more follow-ups."""

    async def is_closed(self, thread: str) -> bool:
        """Return whether somebody closed the thread."""


class RunStore(Protocol):
    """What is kept of a run beside its checkpoints."""

    async def remember_config(self, run: str, config: str) -> None:
        """Keep a run's configuration as JSON, in the place of an earlier one."""

    async def config_of(self, run: str) -> str | None:
        """Return the configuration as JSON, or None."""

    async def remember_folder(self, run: str, path: str) -> None:
        """Keep where a run's report folder is."""

    async def folder_of(self, run: str) -> str | None:
        """Return where a run's report folder was last."""

    async def remember_shape(self, run: str, shape: str) -> None:
        """Keep what kind of run it is, for forecasts."""

    async def shapes(self) -> dict[str, str]:
        """Return the kinds of all runs."""

    async def add_worked(self, run: str, seconds: float) -> None:
        """Raise the time a run was worked on to this."""

    async def worked_s(self, run: str) -> float:
        """Return how long a run was worked on."""

    async def remember(self, record: RunRecord) -> None:
        """Keep a run's line of the list, in the place of an earlier one."""

    async def latest(self, most: int) -> list[RunRecord]:
        """Return the lines of the newest runs, newest first."""


class WatchStore(Protocol):
    """Reports that are brought up to date again and again."""

    async def put(self, watch: Watch) -> None:
        """Keep a watch, in the place of an earlier one of the same run."""

    async def begin(self, run: str, update: str) -> None:
        """Remember which update is being made, if the report is still watched."""

    async def settle(self, run: str, latest: str, due: float, problem: str) -> None:
        """Remember how the last update ended, if the report is still watched."""

    async def drop(self, run: str) -> bool:
        """Forget a watch; return whether there was one."""

    async def every(self) -> list[Watch]:
        """Return all watches, the next that is due first."""


class WindowStore(Protocol):
    """Context windows of models, as servers have shown them."""

    async def get(self, name: str, said: int | None, since: float, until: float) -> int | None:
        """Return the size that was learnt in that time while the server said `said` of itself."""

    async def put(self, name: str, size: int, said: int | None, at: float, forget_before: float) -> None:
        """Keep a size, and forget what was learnt before that time."""


class ControlStore(Protocol):
    """What verifiers made of the controls they were shown, call by call."""

    async def put(
        self, verifier: str, call: str, right: int, wrong: int, at: float, forget_before: float
    ) -> None:
        """Keep the answers of one call, once, and forget those that were given before that time."""

    async def totals(self, verifier: str) -> tuple[int, int]:
        """Return how many answers of a verifier were right, and how many wrong."""


class CheckpointStore(Protocol):
    """What LangGraph's saver cannot be asked about its checkpoints."""

    async def run_ids(self) -> list[str]:
        """Return the ids of all runs, the newest first."""

    async def first_and_last(self, run: str) -> tuple[str, str] | None:
        """Return the ids of a run's first and last checkpoint, or None when it has none."""

    async def steps_of(self, run: str) -> list[str]:
        """Return the ids of every step of a run that is kept, the latest first."""

    async def runs_longer_than(self, steps: int) -> list[str]:
        """Return the runs that have more steps than so many."""

    async def thin(self, run: str) -> int:
        """Delete the steps inside rounds that are long over, and archive their ends; return how many."""

    async def restore_round(self, run: str, judged: int) -> None:
        """Put the end of a round back among the checkpoints, if it was archived."""

    async def archived_ends(self, run: str) -> list[tuple[str, int]]:
        """Return the archived ends of rounds, oldest first: step, and how many rounds were over."""


class HeldLock(Protocol):
    """A lock that is held."""

    async def release(self) -> None:
        """Let others have it; also when whoever waits for that is cut off."""

    async def remove(self) -> None:
        """The same, for a lock that nobody will want again."""


class LockStore(Protocol):
    """Who works on what: one at a time in all processes. A killed process holds nothing."""

    async def acquire(self, name: str) -> HeldLock | None:
        """Return the lock, held, or None when somebody else holds it."""

    async def is_held(self, name: str) -> bool:
        """Whether anybody holds the lock."""

    async def lost(self) -> set[str]:
        """Return the locks that this process held, and somebody else has taken since."""


class PruneStore(Protocol):
    """Runs taken away, and the room they took given back."""

    async def remove_runs(
        self, gone: Sequence[str], *, is_idle: bool, now: float, older_s: float | None, is_dry: bool
    ) -> RemovedRows:
        """Take out the runs that are gone and what nobody needs any more; with `is_dry` only count it.

        `is_idle` says that no run was at work when it was `now`: what was put since stays, for a run may have
        begun. Otherwise what was put lately stays, whoever needs it.
        """

    async def page_names(self) -> set[str]:
        """Return the names of all texts that are kept."""

    async def shrink(self) -> None:
        """Give the room of what was taken out back to the disk."""

    async def size_bytes(self) -> int:
        """Return how much room everything takes."""


class EventStore(Protocol):
    """What runs have told, for whoever listens on any machine."""

    async def add(self, run: str, body: str) -> None:
        """Keep an event, and tell those who follow the run."""

    async def after(self, run: str, number: int) -> list[tuple[int, str]]:
        """Return the events of a run with a higher number, in their order."""

    def follow(self, run: str, number: int = 0) -> AsyncGenerator[tuple[int, str], None]:
        """Give every event after that one, as it comes; never ends by itself."""


class PaperStore(Protocol):
    """PDFs by the hash of their text."""

    async def put(self, sha: str, body: bytes) -> None:
        """Keep a PDF; keeping it again changes nothing."""

    async def get(self, sha: str) -> bytes | None:
        """Return the PDF whose text has that hash, or None."""


class BatchStore(Protocol):
    """Caps that hold for several runs, wherever they are worked on."""

    async def open(self, name: str, cap: int, runs: Sequence[str]) -> None:
        """Have these runs together never spend more than the cap; what they have spent counts."""

    async def spent(self, name: str) -> int:
        """Return what the runs of a batch have spent or reserved."""

    async def left(self, run: str) -> int | None:
        """Return what the batch of a run may still spend; None for a run without one."""


@dataclass(frozen=True, eq=False)
class Storage:
    """All parts of one database; `name` tells databases apart within a process.

    Whoever keeps something takes a storage, and never an address: only those who know the settings open one.
    """

    name: str
    pages: PageStore
    replies: ReplyStore
    web_pages: WebPageStore
    costs: CostStore
    signals: SignalStore
    leases: LeaseStore
    threads: ThreadStore
    runs: RunStore
    watches: WatchStore
    windows: WindowStore
    controls: ControlStore
    checkpoints: CheckpointStore
    locks: LockStore
    cleaning: PruneStore
    # What machines share beside; where one machine has a file of its own, folders have events and papers.
    events: EventStore | None = None
    papers: PaperStore | None = None
    paces: SharedPaces | None = None
    batches: BatchStore | None = None
