"""A check that is itself checked: some of the sentences are known to be right or wrong (`evidence.controls`).

Does not know prompts. Control items look like every other item and never come back to the caller. A checker
that lets a wrong one pass is asked once more, with other controls, and is then not believed where it
approves; one that objects to a right one is asked again about what it objected to.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fathom.evidence.checks import has_phrase
from fathom.evidence.checks.derivation import Passage, find_underived
from fathom.evidence.controls import TrustLog, choose_controls, draw_controls, evaluate_controls, mix_in
from fathom.prompts import load_prompt
from fathom.state import Claim, Control, ControlTally, Cost, Failure, short_hash
from fathom.state.model_io import ModelResult, Objection, SentenceToCheck
from fathom.text.ranking import terms


@dataclass(frozen=True)
class CheckInput:
    """Sentences to be checked, and their evidence."""

    items: Sequence[SentenceToCheck]
    claims: Sequence[Claim]
    passages: Mapping[str, Passage]  # by the id of their claim


# What a sentence names: in code marks, in quotation marks, or written like a name.
_NAMED = re.compile(
    r"`([^`]{1,60})`|[“‘\"]([^”’\"]{1,60})[”’\"]"
    r"|(?<=\s)[A-Z][A-Za-z]{0,30}[A-Z0-9][\w-]{0,30}|(?<=[a-z,] )[A-Z][a-z]{1,30}"
)
_FEW_ITEMS = 4  # items: a right control more would cost more than it tells

_SHARED_WORDS = 0.2  # of its words: a statement that shares fewer with a quote is not said there

AskChecker = Callable[[CheckInput], Awaitable[ModelResult[list[Objection]]]]


@dataclass(frozen=True)
class SentenceChecks:
    """The objections by the place of their item, and whether the checker's approvals can be believed."""

    objections: Mapping[int, str]
    is_trusted: bool = True
    stated: frozenset[int] = frozenset()  # inferences that are facts
    instead: Mapping[int, str] = field(default_factory=dict)  # what can be said in place of a refuted one
    seed: str = ""  # what chose its controls
    tallies: list[ControlTally] = field(default_factory=list)
    costs: list[Cost] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


async def check_with_controls(
    ask: AskChecker, brief: CheckInput, texts: Mapping[str, str], trust: TrustLog, prompt: str = "checker"
) -> SentenceChecks:
    """Have sentences checked together with control items; `texts` are the texts of the pages by hash.

    A second opinion ("refuter") is asked once: where it cannot be believed, the first one stands. A checker
    that the sequential test over all its controls does not trust is not believed where it approves. What
    stands several times in the list is asked once.
    """
    if not brief.items:
        return SentenceChecks({})
    brief = replace(brief, items=[_note_absences(item, brief.claims, texts) for item in brief.items])
    places: dict[tuple[str, ...], int] = {}
    keys = [(item.kind, item.statement, *sorted(item.claims)) for item in brief.items]
    own = [places.setdefault(key, len(places)) for key in keys]
    once = [brief.items[own.index(n)] for n in range(len(places))]
    checked = await _check_distinct(ask, replace(brief, items=once), texts, trust, prompt)
    against = {n: checked.objections[at] for n, at in enumerate(own) if at in checked.objections}
    stated = frozenset(n for n, at in enumerate(own) if at in checked.stated)
    instead = {n: checked.instead[at] for n, at in enumerate(own) if at in checked.instead}
    return replace(checked, objections=against, stated=stated, instead=instead)


def _note_absences(
    item: SentenceToCheck, claims: Sequence[Claim], texts: Mapping[str, str]
) -> SentenceToCheck:
    """Return the item; with its names that no source of it has, if it says that something is not there."""
    if not has_phrase("absent", item.statement):
        return item
    pages = {quote.page for claim in claims if claim.id in item.claims for quote in claim.quotes}
    full = "\n".join(texts.get(page, "") for page in sorted(pages)).lower()
    said = item.statement.partition(" – ")[2] or item.statement  # of a cell, not the caption
    names = [found[1] or found[2] or found[0] for found in _NAMED.finditer(said)]
    return replace(item, nowhere=tuple(name for name in dict.fromkeys(names) if name.lower() not in full))


async def _check_distinct(
    ask: AskChecker, brief: CheckInput, texts: Mapping[str, str], trust: TrustLog, prompt: str
) -> SentenceChecks:
    checked = await _check_once(
        ask, brief, texts, short_hash(prompt, *(i.statement for i in brief.items)), prompt
    )
    if not checked.is_trusted and checked.tallies and prompt == "checker":
        again = await _check_once(ask, brief, texts, short_hash(prompt, "again", checked.seed), prompt)
        checked = replace(
            again,
            objections={**checked.objections, **again.objections},
            tallies=[*checked.tallies, *again.tallies],
            costs=[*checked.costs, *again.costs],
            failures=[*checked.failures, *again.failures],
        )
    await trust.note(checked.tallies)
    names = sorted({(tally.verifier, tally.language) for tally in checked.tallies})
    standing = [await trust.trust(*name) for name in names]
    return replace(checked, is_trusted=checked.is_trusted and "untrusted" not in standing)


async def _check_once(
    ask: AskChecker, brief: CheckInput, texts: Mapping[str, str], seed: str, prompt: str
) -> SentenceChecks:
    """One call, with the controls that the seed chooses."""
    controls = _choose_controls(brief, texts, seed)
    mixed = mix_in(list(range(len(brief.items))), controls, seed)
    items = [brief.items[one] if isinstance(one, int) else _control_item(one, brief.claims) for one in mixed]
    thought = await ask(replace(brief, items=items, claims=_cited_claims(brief, items)))
    against = {o.sentence: o.why for o in thought.value if 0 <= o.sentence < len(items) and not o.is_stated}
    told = {mixed[o.sentence] for o in thought.value if 0 <= o.sentence < len(items) and o.is_stated}
    stated = frozenset(one for one in told if isinstance(one, int) and one not in against)
    own = {one: against[n] for n, one in enumerate(mixed) if isinstance(one, int) and n in against}
    answered = [(one, n not in against) for n, one in enumerate(mixed) if isinstance(one, Control)]
    models = " ".join(dict.fromkeys(cost.model for cost in thought.costs))
    outcome = evaluate_controls(answered, seed, f"{models}, {prompt}@{load_prompt(prompt).revision}")
    is_tested = any(not control.is_true for control in controls)
    is_trusted = is_tested and not outcome.are_approvals_void
    said = {o.sentence: o.instead for o in thought.value if o.instead and not o.is_stated}
    instead = {one: said[n] for n, one in enumerate(mixed) if isinstance(one, int) and n in said}
    checked = SentenceChecks(
        own, is_trusted, stated, instead, seed, outcome.tallies, thought.costs, thought.failures
    )
    return await _ask_again(ask, brief, checked) if own and outcome.are_refusals_void else checked


async def _ask_again(ask: AskChecker, brief: CheckInput, checked: SentenceChecks) -> SentenceChecks:
    """Ask again about what was objected to; an objection that is not repeated falls."""
    places = sorted(checked.objections)
    items = [brief.items[n] for n in places]
    again = await ask(replace(brief, items=items, claims=_cited_claims(brief, items)))
    kept = {
        places[o.sentence]: o.why for o in again.value if 0 <= o.sentence < len(places) and not o.is_stated
    }
    return replace(
        checked,
        objections=kept,
        costs=[*checked.costs, *again.costs],
        failures=[*checked.failures, *again.failures],
    )


def _cited_claims(brief: CheckInput, items: Sequence[SentenceToCheck]) -> list[Claim]:
    used = {c for item in items for c in item.claims}
    return [claim for claim in brief.claims if claim.id in used]


def _choose_controls(brief: CheckInput, texts: Mapping[str, str], seed: str) -> list[Control]:
    """Two wrong sentences and a right one; of few items, one wrong sentence.

    They are made of the sentences themselves, so that they read alike; of claims if that is not enough.
    """
    said = {item.statement for item in brief.items}
    ranked = sorted(brief.claims, key=lambda claim: short_hash(seed, claim.id))
    known = {claim.id: claim for claim in ranked}
    facts = [item for item in brief.items if item.kind == "fact" and known.keys() >= set(item.claims)]
    drafted = [
        (item.statement, [quote for c in item.claims for quote in known[c].quotes])
        for item in sorted(facts, key=lambda item: short_hash(seed, item.statement))
        if item.claims
    ]
    stated = [*drafted, *((claim.statement, claim.quotes) for claim in ranked)]
    pool = draw_controls([], ((s, q, texts.get(q[0].page, "")) for s, q in stated), said, seed)
    if all(control.is_true for control in pool):
        pool += _mismatched_controls(ranked)
    chosen = choose_controls(pool, seed)
    return chosen if len(brief.items) > _FEW_ITEMS else [c for c in chosen if not c.is_true][:1]


def _control_item(control: Control, claims: Sequence[Claim]) -> SentenceToCheck:
    own = [claim.id for claim in claims if any(quote in control.quotes for quote in claim.quotes)]
    return SentenceToCheck(control.statement, "fact", own)


def _mismatched_controls(claims: Sequence[Claim]) -> list[Control]:
    """Statements beside the quotes of claims that say something else, where there is no figure to change."""
    found = []
    for claim in claims:
        words = terms(claim.statement)
        for other in claims:
            shared = words & terms(" ".join(quote.text for quote in other.quotes))
            passage = Passage(tuple(quote.text for quote in other.quotes))
            is_strange = len(shared) <= _SHARED_WORDS * len(words) or bool(
                find_underived(claim.statement, passage)
            )
            if other.id != claim.id and is_strange:
                name = short_hash("stranger", claim.id, other.id)
                given = {"statement": claim.statement, "quotes": other.quotes, "is_true": False}
                page = other.quotes[0].page
                found.append(Control.model_validate({"id": name, "page": page, "kind": "wording", **given}))
                break
    return found
