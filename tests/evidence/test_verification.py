"""Drafts and controls in one call: a verifier is believed as far as its controls allow."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from fakes.records import DOUBTED, SOUND, page

from fathom.evidence.claims import ground_drafts
from fathom.evidence.controls import TrustLog
from fathom.evidence.verification import (
    MOST_A_CALL,
    ControlPool,
    VerificationResult,
    split_evenly,
    verify_drafts,
)
from fathom.state import ClaimDraft, Control, ControlTally, SubQuestion, Verdict
from fathom.state.model_io import ExtractedStatement, ModelResult, VerificationItem
from fathom.storage import open_storage

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
bench: Any = import_module("controls")  # a script, no part of the package

PLACES = ("Osby", "Varde", "Hals", "Lund", "Ry", "Arden", "Thy", "Mors", "Skive", "Ribe")
TEXT = "\n\n".join(
    f"The mill at {place} was built in {1801 + 7 * n} and grinds {40 + 3 * n} tonnes of flour a day."
    for n, place in enumerate(PLACES)
)
PAGE = page(TEXT)
SAYINGS = [
    (f"{40 + 3 * n} tonnes a day come from {place}.", line)
    for n, (place, line) in enumerate(zip(PLACES, TEXT.split("\n\n"), strict=True))
]
FALSE = "Nobody grinds flour at Osby any more."


@dataclass
class Verifier:
    """Refuses what it was told to refuse; remembers what it was asked."""

    refusing: Sequence[str] = ()
    is_content: bool = False
    is_strict: bool = False
    asked: list[list[VerificationItem]] = field(default_factory=list)
    known: set[str] = field(default_factory=lambda: {said for said, _ in SAYINGS} | {FALSE})

    async def __call__(self, evidence: Sequence[VerificationItem]) -> ModelResult[list[Verdict]]:
        self.asked.append(list(evidence))
        return ModelResult([self.verdict(item) for item in evidence], by="m, verifier@1")

    def verdict(self, item: VerificationItem) -> Verdict:
        is_false_control = item.statement not in self.known and item.statement not in TEXT
        is_refused = item.statement in self.refusing or (is_false_control and not self.is_content)
        is_true_control = item.statement in TEXT
        return DOUBTED if is_refused or (self.is_strict and is_true_control) else SOUND


def grounded(*more: ExtractedStatement) -> tuple[list[ClaimDraft], list[Control]]:
    drafts = [*(ExtractedStatement(said, line, "Q1", 0.9) for said, line in SAYINGS), *more]
    found = ground_drafts(drafts, PAGE, TEXT, [SubQuestion(id="Q1", text="What?")])
    assert all(not draft.objection for draft in found.drafts)
    return found.drafts, found.controls


async def verified(home: Path, verifier: Verifier, *more: ExtractedStatement) -> VerificationResult:
    drafts, controls = grounded(*more)
    texts = {PAGE.sha: (PAGE, TEXT)}
    return await verify_drafts(
        drafts,
        ControlPool(controls, drafts),
        texts,
        verifier,
        TrustLog(open_storage(home / "fathom.sqlite")),
    )


CHEAT = ExtractedStatement(FALSE, "The mill at Osby was built in 1801", "Q1", 0.9)


async def test_a_good_verifier_is_asked_once_with_two_false_controls_and_a_true_one(tmp_path: Path) -> None:
    verifier = Verifier(refusing=[FALSE])
    found = await verified(tmp_path, verifier, CHEAT)
    assert [c.statement for c in found.claims] == [said for said, _ in SAYINGS]
    assert [d.statement for d in found.refused] == [FALSE]
    ((*items,),) = verifier.asked
    strangers = [item for item in items if item.statement not in verifier.known]
    assert len(strangers) == 3
    assert sum(item.statement in TEXT for item in strangers) == 1
    assert len({item.context for item in items}) == 1
    assert sum(t.shown for t in found.tallies) == 3
    assert not any(t.missed for t in found.tallies)


async def test_the_same_drafts_are_asked_about_in_the_same_words(tmp_path: Path) -> None:
    first, second = Verifier(is_content=True), Verifier(is_content=True)
    await verified(tmp_path, first)
    await verified(tmp_path, second)  # by now it is known to be bad
    assert first.asked == second.asked


async def test_who_approves_of_a_false_control_is_asked_again_in_halves_and_then_not_believed(
    tmp_path: Path,
) -> None:
    verifier = Verifier(is_content=True)
    found = await verified(tmp_path, verifier, CHEAT)
    assert len(verifier.asked) == 3
    controls = [i.statement for call in verifier.asked for i in call if i.statement not in verifier.known]
    assert len(controls) == len(set(controls)) == 9  # no control is shown twice
    assert FALSE not in [c.statement for c in found.claims]
    (told,) = [d.objection for d in found.refused if d.statement == FALSE]
    assert "strict rules" in told
    assert sum(t.missed for t in found.tallies) == 6


async def test_what_a_verifier_refuses_who_refuses_the_truth_gets_a_second_opinion(tmp_path: Path) -> None:
    verifier = Verifier(is_strict=True, refusing=[FALSE])
    found = await verified(tmp_path, verifier, CHEAT)
    assert len(verifier.asked) == 2
    assert FALSE in [item.statement for item in verifier.asked[1]]
    assert len(verifier.asked[1]) <= 4
    assert [d.statement for d in found.refused] == [FALSE]


async def test_what_code_suspects_is_voted_on_twice_until_the_verifier_is_known_to_be_good(
    tmp_path: Path,
) -> None:
    class Wavering(Verifier):
        """Approves of the cheat the first time only."""

        def verdict(self, item: VerificationItem) -> Verdict:
            is_first = len(self.asked) == 1
            return SOUND if item.statement == FALSE and is_first else super().verdict(item)

    verifier = Wavering(refusing=[FALSE])
    found = await verified(tmp_path, verifier, CHEAT)
    assert [d.statement for d in found.refused] == [FALSE]
    assert len(verifier.asked) == 2
    assert {item.statement for item in verifier.asked[1]} & verifier.known == {FALSE}
    log = TrustLog(open_storage(tmp_path / "fathom.sqlite"))
    await log.note(
        [ControlTally(call="old", verifier="m, verifier@1", language="en", kind="date", shown=200, missed=0)]
    )
    later = Wavering(refusing=[FALSE])
    await verified(tmp_path, later, CHEAT)
    assert len(later.asked) == 1


async def test_code_that_stands_in_for_a_model_is_not_tested(tmp_path: Path) -> None:
    async def ask(evidence: Sequence[VerificationItem]) -> ModelResult[list[Verdict]]:
        return ModelResult([SOUND for _ in evidence])

    drafts, controls = grounded()
    texts = {PAGE.sha: (PAGE, TEXT)}
    found = await verify_drafts(
        drafts, ControlPool(controls), texts, ask, TrustLog(open_storage(tmp_path / "fathom.sqlite"))
    )
    assert (len(found.claims), found.refused, found.tallies) == (len(drafts), [], [])


@pytest.mark.parametrize(
    ("count", "sizes"), [(0, []), (3, [3]), (24, [24]), (25, [12, 13]), (60, [20, 20, 20])]
)
def test_drafts_are_split_evenly(count: int, sizes: list[int]) -> None:
    drafts = [grounded()[0][0]] * count
    assert [len(part) for part in split_evenly(drafts, MOST_A_CALL)] == sizes


@pytest.mark.parametrize("name", ["right in 100 %", "right in 70 %", "yes to all"])
async def test_controls_tell_good_verifiers_from_bad_ones(name: str, tmp_path: Path) -> None:
    cases = bench.load_cases()
    found = await bench.measure(name, bench.RATES[name], cases, 2, tmp_path / "fathom.sqlite")
    is_good = bench.RATES[name] == 1.0
    assert set(found["trust"].values()) <= ({"trusted", "undecided"} if is_good else {"untrusted"})
    assert found["suspected_wrong_claims"] == 0
    assert found["wrong_claims"] <= 0.01 * len(cases.drafts)
    if is_good:
        assert (found["wrong_claims"], found["controls_missed"]) == (0, 0)
        assert found["fair_lost"] <= 0.01 * len(cases.drafts)
