"""What reaches the claims with verifiers of known quality, and whether the controls notice.

    python bench/controls.py [--runs N]

Scripted verifiers decide rightly in 100, 95, 90 and 70 of 100 cases, and one approves of everything. They get
the drafts of `tests/cases` (cheats and fair paraphrases, each on a page of its own) with controls among them,
in batches as in a run. For each is printed: how many cheats and how many of those with a suspicion become
claims, how many fair statements are lost, how many controls were missed, and what the sequential test says.
The last line is one JSON object.
"""

import argparse
import asyncio
import json
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from fathom.evidence.claims import ground_drafts
from fathom.evidence.controls import TrustLog, language_of
from fathom.evidence.verification import ControlPool, verify_drafts
from fathom.state import ClaimDraft, Control, Page, SubQuestion, Verdict
from fathom.state.model_io import ExtractedStatement, ModelResult, VerificationItem
from fathom.storage import open_storage

_CASES = Path(__file__).parents[1] / "tests" / "cases"
RATES = {
    "right in 100 %": 1.0,
    "right in 95 %": 0.95,
    "right in 90 %": 0.9,
    "right in 70 %": 0.7,
    "yes to all": 0.0,
}
QUESTION = SubQuestion(id="Q1", text="What is so?")
_PAGE = 12  # statements that share a page


@dataclass(frozen=True)
class ScriptedVerifier:
    """Knows the truth, and says it in so many of 100 cases; at 0 it approves of everything."""

    name: str
    rate: float
    truths: dict[str, bool]
    seed: int = 0

    async def __call__(self, evidence: Sequence[VerificationItem]) -> ModelResult[list[Verdict]]:
        """Return a verdict for each; the same item gets another chance of error in another call."""
        call = "\n".join(item.statement for item in evidence)
        return ModelResult([self._verdict(item.statement, call) for item in evidence], by=self.name)

    def _verdict(self, statement: str, call: str) -> Verdict:
        chance = random.Random(f"{self.seed}/{self.name}/{statement}/{call}")  # noqa: S311
        is_right = chance.random() < self.rate
        is_yes = True if not self.rate else self.truths.get(statement, False) == is_right
        answers = dict.fromkeys(("is_explicit", "is_same_scope", "is_not_overstated"), is_yes)
        return Verdict.model_validate({**answers, "score": 0.9 if is_yes else 0.1, "reason": "as scripted"})


@dataclass
class Cases:
    """Drafts of cheats and fair statements as the analyzer leaves them, with their controls and pages."""

    drafts: list[ClaimDraft] = field(default_factory=list)
    controls: list[Control] = field(default_factory=list)
    texts: dict[str, tuple[Page, str]] = field(default_factory=dict)
    is_fair: dict[str, bool] = field(default_factory=dict)  # by statement
    refused: int = 0  # cheats that code refuses by itself
    lost: int = 0  # fair statements that it refuses

    def truths(self) -> dict[str, bool]:
        """Return what is true: fair statements, quotations, true controls; no other that code makes."""
        quoted = {" ".join(quote.text.split()): True for draft in self.drafts for quote in draft.quotes}
        return {**quoted, **{c.statement: c.is_true for c in self.controls}, **self.is_fair}


def load_cases() -> Cases:
    """Return all cases, a dozen to a page, so that pages have figures and dates to confuse."""
    named = [(case, False) for name in ("cheats", "cheats_held_out") for case in _lines(name)]
    named += [(case, True) for name in ("paraphrases", "paraphrases_held_out") for case in _lines(name)]
    random.Random(7).shuffle(named)  # noqa: S311
    cases = Cases()
    for start in range(0, len(named), _PAGE):
        some = named[start : start + _PAGE]
        text = "\n\n".join(dict.fromkeys(case["page"] for case, _ in some))
        sha = sha256(text.encode()).hexdigest()
        page = Page(
            sha=sha, address="a.example", title="A page", how="html", chars=len(text), fetched="2025-01-01"
        )
        drafts = [ExtractedStatement(case["statement"], case["quote"], "Q1", 0.9) for case, _ in some]
        found = ground_drafts(drafts, page, text, [QUESTION])
        cases.texts[sha] = (page, text)
        cases.controls += found.controls
        fair = {case["statement"]: is_fair for case, is_fair in some}
        cases.drafts += [draft for draft in found.drafts if not draft.objection and draft.statement in fair]
        objected = [draft for draft in found.drafts if draft.objection]
        cases.refused += sum(not fair.get(draft.statement, True) for draft in objected)
        cases.lost += sum(fair.get(draft.statement, False) for draft in objected)
        cases.is_fair |= fair
    return cases


def _lines(name: str) -> list[dict[str, str]]:
    rows = [json.loads(line) for line in (_CASES / f"{name}.jsonl").read_text("utf-8").splitlines()]
    return [{"page": row["quote"], **row} for row in rows]


async def measure(name: str, rate: float, cases: Cases, runs: int, database: Path) -> dict[str, object]:
    """Return what becomes of the cases with one verifier, over some runs that share what is known of it."""
    trust, known = TrustLog(open_storage(database)), cases.texts
    wrong = suspected = lost = missed = shown = 0
    for seed in range(runs):
        verifier = ScriptedVerifier(f"{name}, verifier@0", rate, cases.truths(), seed)
        drafts = list(cases.drafts)
        random.Random(seed).shuffle(drafts)  # noqa: S311 - the same call again would count once
        pool = ControlPool(cases.controls, drafts)
        found = await verify_drafts(drafts, pool, known, verifier, trust)
        odd = {draft.statement for draft in cases.drafts if draft.notes}
        cheated = [c.statement for c in found.claims if not cases.is_fair[c.statement]]
        wrong += len(cheated)
        suspected += sum(statement in odd for statement in cheated)
        lost += sum(cases.is_fair[draft.statement] for draft in found.refused)
        missed += sum(tally.missed for tally in found.tallies)
        shown += sum(tally.shown for tally in found.tallies)
    languages = sorted({language_of(draft.statement) for draft in cases.drafts})
    return {
        "wrong_claims": wrong / runs,
        "suspected_wrong_claims": suspected / runs,
        "fair_lost": lost / runs,
        "controls_missed": round(missed / shown, 3) if shown else 0.0,
        "trust": {language: await trust.trust(f"{name}, verifier@0", language) for language in languages},
    }


async def _main(runs: int) -> None:
    cases = load_cases()
    fair = sum(cases.is_fair[draft.statement] for draft in cases.drafts)
    print(f"{len(cases.drafts)} drafts go to the verifier, {fair} of them fair; code alone refuses")
    print(f"{cases.refused} cheats and {cases.lost} fair statements. Per run, of {runs}:")
    figures = {}
    with tempfile.TemporaryDirectory() as home:
        for name, rate in RATES.items():
            found = await measure(name, rate, cases, runs, Path(home) / "fathom.sqlite")
            figures[name] = found
            print(f"{name:>15}: " + ", ".join(f"{key} {value}" for key, value in found.items()))
    print(json.dumps({"drafts": len(cases.drafts), "fair": fair, "runs": runs, "verifiers": figures}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    asyncio.run(_main(parser.parse_args().runs))
