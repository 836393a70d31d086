"""Verify the drafts of a round's pages in batches with controls among them.

A call that fails a control is void: its approvals are asked again in halves, its refusals get a second
opinion. Until the sequential test trusts a verifier, its approvals of suspicious drafts are voted on twice.
The strict rules decide what is still in doubt, and everything of an untrusted verifier. Prompts depend on the
drafts alone, so that a killed run asks the same again.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeVar

from fathom.errors import ProviderError
from fathom.evidence.claims import KEEP_FROM, REFUSED_BY_VERIFIER, list_notes, make_claim
from fathom.evidence.controls import (
    FALSE_A_CALL,
    ControlOutcome,
    TrustLog,
    choose_controls,
    draw_controls,
    evaluate_controls,
    language_of,
    mix_in,
)
from fathom.evidence.grounding import describe_context
from fathom.evidence.support import find_unsupported_by_kind
from fathom.prompts import load_prompt
from fathom.state import (
    Claim,
    ClaimDraft,
    Control,
    ControlTally,
    Cost,
    Failure,
    Page,
    Verdict,
    short_hash,
)
from fathom.state.model_io import ModelResult, VerificationItem
from fathom.text.normalization import one_line

MOST_A_CALL = 24
_OF_THE_PAGE = frozenset({"a name", "a date"})  # kinds of flaws that title, publisher or date may mend
_BY_STRICT_RULES = "the verifier could not be relied on; by the strict rules: "
T = TypeVar("T")
AskVerifier = Callable[[Sequence[VerificationItem]], Awaitable[ModelResult[list[Verdict]]]]
PagesWithText = Mapping[str, tuple[Page, str]]  # pages and their texts, by hash


@dataclass
class VerificationResult:
    """Verified and refused drafts; those that could not be verified are in neither list."""

    claims: list[Claim] = field(default_factory=list)
    refused: list[ClaimDraft] = field(default_factory=list)
    tallies: list[ControlTally] = field(default_factory=list)
    costs: list[Cost] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


@dataclass(frozen=True)
class ControlPool:
    """The reader's controls, and drafts of the same pages to make more from when they are needed.

    A control is shown once: `used` are the statements of those that were. One is shown again only if there
    are too few others, since a call without false ones is not tested.
    """

    given: Sequence[Control] = ()
    drafts: Sequence[ClaimDraft] = ()
    used: set[str] = field(default_factory=set)

    def split(self, batches: Sequence[Sequence[ClaimDraft]]) -> list["ControlPool"]:
        """Return a pool for each batch; no control can come from two of them."""
        place = {draft.id: n for n, batch in enumerate(batches) for draft in batch}

        def owner(source: Control | ClaimDraft) -> int | None:
            near = [n for n, batch in enumerate(batches) if any(d.page == source.page for d in batch)]
            spare = near[int(short_hash(source.id), 16) % len(near)] if near else None
            return place.get(source.id, spare)

        return [
            ControlPool([c for c in self.given if owner(c) == n], [d for d in self.drafts if owner(d) == n])
            for n in range(len(batches))
        ]

    def draw(self, pages: Collection[str], texts: PagesWithText, seed: str) -> list[Control]:
        """Return the controls of one call about these pages; the same for the same seed."""
        own = sorted(
            (draft for draft in self.drafts if draft.page in pages),
            key=lambda draft: short_hash(seed, draft.id),
        )
        stated = [(draft.statement, draft.quotes, texts[draft.page][1]) for draft in own]
        given = [control for control in self.given if control.page in pages]
        chosen = choose_controls(draw_controls(given, stated, self.used, seed), seed)
        if sum(not control.is_true for control in chosen) < FALSE_A_CALL:
            more = draw_controls(given, stated, (), seed)
            chosen = choose_controls(list({c.id: c for c in (*chosen, *more)}.values()), seed)
        self.used.update(control.statement for control in chosen)
        # Notes are slow to find: only the chosen controls get theirs.
        return [c.model_copy(update={"notes": list_notes(c, *texts[c.page])}) for c in chosen]


@dataclass(frozen=True)
class _Answer:
    """A verdict on one draft, its author, and whether the controls of its call speak against it."""

    draft: ClaimDraft
    verdict: Verdict
    by: str
    outcome: ControlOutcome
    is_tested: bool  # a false control was among the items

    @property
    def is_approved(self) -> bool:
        return self.verdict.score >= KEEP_FROM

    @property
    def is_void(self) -> bool:
        return bool(self.by) and self.outcome.is_void(self.is_approved)


async def verify_drafts(
    drafts: Sequence[ClaimDraft],
    pool: ControlPool,
    texts: PagesWithText,
    ask: AskVerifier,
    trust: TrustLog,
) -> VerificationResult:
    """Verify drafts in concurrent batches; a failed call is recorded as a failure."""
    verified = VerificationResult()
    caller = _Caller(texts, ask, verified)
    batches = split_evenly(drafts, MOST_A_CALL)
    pools = pool.split(batches)
    answers = await _join(caller.verify_batch(*pair) for pair in zip(batches, pools, strict=True))
    await trust.note(verified.tallies)
    known = {(a.by, language_of(a.draft.statement)) for a in answers if a.by}
    trusted = {name: await trust.trust(*name) for name in sorted(known)}
    pool = replace(pool, used=set[str]().union(*(own.used for own in pools)))
    # Suspicious drafts that a verifier without established trust approved are asked again.
    doubted = [
        answer.draft
        for answer in answers
        if answer.is_approved and not answer.is_void and answer.by and answer.draft.notes
        if trusted[answer.by, language_of(answer.draft.statement)] == "undecided"
    ]
    answers = await caller.ask_again(answers, split_evenly(doubted, MOST_A_CALL), pool, "vote")
    verified.tallies = list({tally.key: tally for tally in verified.tallies}.values())
    await trust.note(verified.tallies)
    for answer in answers:
        standing = trusted.get((answer.by, language_of(answer.draft.statement)), "undecided")
        if objection := _find_objection(answer, standing, texts[answer.draft.page][0]):
            changed = {"why": REFUSED_BY_VERIFIER, "objection": objection}
            verified.refused.append(answer.draft.model_copy(update=changed))
        else:
            verified.claims.append(make_claim(answer.draft, answer.verdict))
    return verified


async def _join(work: Iterable[Awaitable[list[_Answer]]]) -> list[_Answer]:
    return [answer for part in await asyncio.gather(*work) for answer in part]


def split_evenly(drafts: Sequence[T], most: int) -> list[list[T]]:
    """Split them into as few parts of about equal size as needed, in order."""
    count = math.ceil(len(drafts) / most)
    edges = [round(n * len(drafts) / count) for n in range(count + 1)] if count else []
    return [list(drafts[start:end]) for start, end in pairwise(edges)]


def _find_objection(answer: _Answer, standing: str, page: Page) -> str:
    """Return why a draft is refused; "" if it is accepted."""
    if not answer.is_approved:
        return answer.verdict.reason or "its quotes do not say this"
    is_unsure = answer.is_void or (bool(answer.by) and not answer.is_tested and standing != "trusted")
    if standing != "untrusted" and not (is_unsure and answer.draft.notes):
        return ""
    found = _find_unsupported(answer.draft, page)
    return _BY_STRICT_RULES + "; ".join(found) if found else ""


def _find_unsupported(draft: ClaimDraft, page: Page) -> list[str]:
    """Return what the quotes do not support; a name or date may also be that of the page itself."""
    quotes = [quote.text for quote in draft.quotes]
    source = ", ".join(filter(None, [page.title, page.publisher, page.author, (page.published or "")[:10]]))
    found = find_unsupported_by_kind(draft.statement, quotes)
    left = find_unsupported_by_kind(draft.statement, [*quotes, source])
    kept = {
        kind: [why for why in reasons if kind not in _OF_THE_PAGE or why in left.get(kind, [])]
        for kind, reasons in found.items()
    }
    return list(dict.fromkeys(why for reasons in kept.values() for why in reasons))


@dataclass(frozen=True)
class _Caller:
    """Calls the verifier, and adds up what the calls cost and tell."""

    texts: PagesWithText
    ask: AskVerifier
    verified: VerificationResult

    async def verify_batch(self, batch: Sequence[ClaimDraft], pool: ControlPool) -> list[_Answer]:
        """Ask about one batch; ask void answers again, approvals in halves."""
        first = await self._ask(batch, pool, "first")
        approved = [answer.draft for answer in first if answer.is_void and answer.is_approved]
        refused = [answer.draft for answer in first if answer.is_void and not answer.is_approved]
        halves = split_evenly(approved, max(1, math.ceil(len(approved) / 2)))
        return await self.ask_again(first, [part for part in (*halves, refused) if part], pool, "again")

    async def ask_again(
        self, answers: Sequence[_Answer], parts: Iterable[Sequence[ClaimDraft]], pool: ControlPool, when: str
    ) -> list[_Answer]:
        """Ask once more about some drafts, and return all answers, the new ones in place of the old."""
        second = {a.draft.id: a for a in await _join(self._ask(part, pool, when) for part in parts)}
        return [second.get(answer.draft.id, answer) for answer in answers]

    async def _ask(self, drafts: Sequence[ClaimDraft], pool: ControlPool, when: str) -> list[_Answer]:
        """Make one call with the drafts and controls of the same pages; return nothing if it fails."""
        here = {draft.page for draft in drafts}
        revision = str(load_prompt("verifier").revision)
        seed = short_hash(when, revision, *sorted(here), *(draft.id for draft in drafts))
        controls = pool.draw(here, self.texts, seed)
        items = mix_in(drafts, controls, seed)
        try:
            result = await self.ask(_build_evidence(items, self.texts))
        except ProviderError as error:
            titles = ", ".join(dict.fromkeys(self.texts[draft.page][0].title for draft in drafts))
            self.verified.failures.append(error.failure("analysis", titles))
            self.verified.costs += error.costs
            return []
        self.verified.costs += result.costs
        self.verified.failures += result.failures
        pairs = list(zip(items, result.value, strict=True))
        shown = [(item, v.score >= KEEP_FROM) for item, v in pairs if isinstance(item, Control)]
        outcome = evaluate_controls(shown, seed, result.by) if result.by else ControlOutcome()
        self.verified.tallies += outcome.tallies
        is_tested = any(not control.is_true for control in controls)
        return [
            _Answer(item, verdict, result.by, outcome, is_tested)
            for item, verdict in pairs
            if isinstance(item, ClaimDraft)
        ]


def _build_evidence(items: Sequence[ClaimDraft | Control], texts: PagesWithText) -> list[VerificationItem]:
    """Build the verifier's items: all items of a page share one context."""
    quotes = {page: [q for item in items if item.page == page for q in item.quotes] for page in texts}
    contexts = {page: describe_context(own, *texts[page]) for page, own in quotes.items() if own}
    return [
        VerificationItem(
            item.statement,
            "\n".join(one_line(quote.text) for quote in item.quotes),
            contexts[item.page],
            item.notes,
            item.resolved if isinstance(item, ClaimDraft) else "",
        )
        for item in items
    ]
