"""Verifier and retry: what is refused gets one more chance; what stays refused is told with its reason."""

from pathlib import Path
from typing import Any

import pytest
from fakes.records import DOUBTED, cost, draft, page, sha
from fakes.services import FakeModel, FakePages

from fathom.errors import Unavailable
from fathom.evidence.claims import NOT_IN_PAGE, REFUSED_BY_VERIFIER
from fathom.evidence.controls import TrustLog
from fathom.nodes.retry import retry
from fathom.nodes.verifier import verifier
from fathom.state import ClaimDraft, ReadingRound
from fathom.state.model_io import ExtractedStatement
from fathom.storage import open_storage

TEXT = "The Rance plant opened in 1966. Divers service the gates in spring. The lock is old."
PAGE = page(TEXT)
DIVERS = draft("Divers look after the gates.", of=TEXT, said="Divers service the gates in spring.")
LOCK = draft("The lock is not new.", of=TEXT, said="The lock is old.", notes=["'not'"])
INVENTED = draft("It is blue.", of=TEXT, quotes=[], why=NOT_IN_PAGE, objection="no such quote")
REASONED = DOUBTED.model_copy(update={"reason": "Divers do more."})


def round_of(*drafts: ClaimDraft, **words: Any) -> ReadingRound:
    return {"readings": [{}], "pages": [PAGE], "drafts": list(drafts), **words}  # type: ignore[typeddict-item]


@pytest.fixture
def verified(tmp_path: Path) -> Any:
    async def verify(model: FakeModel, state: ReadingRound) -> ReadingRound:
        trust = TrustLog(open_storage(tmp_path / "fathom.sqlite"))
        return await verifier(state, model=model, pages=FakePages({sha(TEXT): TEXT}), trust=trust)

    return verify


async def retried(model: FakeModel, *refused: ClaimDraft) -> ReadingRound:
    state = round_of(refused=list(refused))
    return await retry(state, model=model, pages=FakePages({sha(TEXT): TEXT}))


async def test_drafts_become_claims_and_the_refused_are_kept_for_another_try(verified: Any) -> None:
    model = FakeModel(verdicts=[{DIVERS.statement: REASONED}], costs=[cost()])
    update = await verified(model, round_of(DIVERS, INVENTED, LOCK))
    assert [c.statement for c in update["claims"]] == [LOCK.statement]
    assert [(d.id, d.why, d.objection) for d in update["refused"]] == [
        (DIVERS.id, REFUSED_BY_VERIFIER, "Divers do more."),
        (INVENTED.id, NOT_IN_PAGE, "no such quote"),
    ]
    assert (update["rejected"], update["costs"]) == ([], [cost()])
    (items,) = model.asked
    first, second = (next(i for i in items if i.statement == d.statement) for d in (DIVERS, LOCK))
    assert first.context == second.context
    assert first.quote == "Divers service the gates in spring."
    assert list(second.notes) == ["'not'"]


async def test_without_drafts_nobody_is_asked(verified: Any) -> None:
    assert await verified(FakeModel(), round_of()) == {}


async def test_what_is_refused_twice_is_rejected_with_its_statement_and_the_reason(verified: Any) -> None:
    model = FakeModel(verdicts=[{DIVERS.statement: REASONED}])
    update = await verified(model, round_of(DIVERS, LOCK, retried=[DIVERS]))
    (told,) = update["rejected"]
    assert (told.page, told.count, told.statement) == (PAGE.sha, 1, DIVERS.statement)
    assert (told.why, told.reason) == (REFUSED_BY_VERIFIER, "Divers do more.")
    assert update["refused"] == []


async def test_a_verifier_that_cannot_be_reached_is_told_and_nothing_is_called_refused(verified: Any) -> None:
    model = FakeModel(verdicts=[Unavailable("gone", [cost("paid")])])
    update = await verified(model, round_of(DIVERS))
    assert [failure.why for failure in update["failures"]] == ["gone"]
    assert [c.call for c in update["costs"]] == ["paid"]
    assert (update["claims"], update["refused"], update["rejected"]) == ([], [], [])


async def test_a_restated_claim_goes_back_to_the_verifier_and_the_rest_is_rejected() -> None:
    objected = DIVERS.model_copy(update={"why": REFUSED_BY_VERIFIER, "objection": "more than said"})
    anew = ExtractedStatement("Divers service the gates each spring.", "", "", 0)
    model = FakeModel(retries=[[anew, None]], costs=[cost()])
    update = await retried(model, objected, INVENTED)
    (again,) = update["retried"]
    assert (again.statement, again.quotes, again.question) == (anew.statement, DIVERS.quotes, "Q1")
    assert [(r.statement, r.reason) for r in update["rejected"]] == [("It is blue.", "no such quote")]
    ((first, second),) = model.asked
    assert (first.reason, first.statement) == ("more than said", DIVERS.statement)
    assert "Divers service the gates" in first.context
    assert "Rance" in second.context  # the passage that is nearest to what it says


@pytest.mark.parametrize(
    "anew",
    [
        ExtractedStatement(DIVERS.statement, "", "", 0),
        ExtractedStatement("Divers come in spring.", "Divers are never seen here", "", 0),
        ExtractedStatement("Divers have come since 1950.", "Divers service the gates in spring", "", 0),
        ExtractedStatement(" ", "Divers service the gates in spring", "", 0),
    ],
    ids=["the same again", "a quote that is not there", "a figure that is not there", "nothing"],
)
async def test_what_mends_nothing_is_rejected_for_the_first_reason(anew: ExtractedStatement) -> None:
    objected = DIVERS.model_copy(update={"why": REFUSED_BY_VERIFIER, "objection": "more than said"})
    update = await retried(FakeModel(retries=[[anew]]), objected)
    assert update["retried"] == []
    assert [r.reason for r in update["rejected"]] == ["more than said"]


async def test_a_retry_that_fails_rejects_what_was_refused_and_is_told() -> None:
    update = await retried(FakeModel(retries=[Unavailable("gone", [cost("paid")])]), INVENTED)
    assert (update["retried"], [r.statement for r in update["rejected"]]) == ([], ["It is blue."])
    assert [failure.why for failure in update["failures"]] == ["gone"]
    assert [c.call for c in update["costs"]] == ["paid"]
