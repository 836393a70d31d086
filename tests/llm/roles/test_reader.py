"""How sources and statements are shown to models, and what their answers mean."""

from fathom.llm.roles.answer_forms import ReadAnswer
from fathom.llm.roles.evidence import describe_evidence, describe_page, describe_refusals, read_statements
from fathom.state.model_io import PageFacts, RefusedClaim, VerificationItem

CLAIM = {"question": "Q1", "quotes": ["one, two", "three"], "statement": "All.", "relevance": 0.9}


def test_a_reader_is_told_who_published_a_page_and_what_day_it_is() -> None:
    told = describe_page("Tides", PageFacts("The Board", "A. Smith", "2024-05-01", "2026-01-02"))
    assert all(word in told for word in ("Tides", "The Board", "A. Smith", "2024-05-01", "2026-01-02"))
    assert "not known" in describe_page("Tides", PageFacts(today="2026-01-02"))
    assert describe_page("Tides", PageFacts()) == "Title: Tides"


def test_a_source_is_shown_once_above_its_items() -> None:
    items = [
        VerificationItem("s1", "q1\nq2", "CONTEXT A", ["odd"], "it = Rance"),
        VerificationItem("s2", "q3", "CONTEXT A"),
        VerificationItem("s3", "q4", "CONTEXT B"),
    ]
    first, second, third = describe_evidence(items)
    assert "CONTEXT A" in first
    assert "CONTEXT A" not in second
    assert "CONTEXT B" in third
    assert all(line in first for line in ("Quote: q1", "Quote: q2", "Check: odd", "Resolved: it = Rance"))
    assert second.startswith("Item 2 (source 1)\nStatement: s2")


def test_a_refused_claim_is_shown_with_its_reason_and_a_passage_once() -> None:
    first, second = describe_refusals(
        [RefusedClaim("s", "", "PASSAGE", "why"), RefusedClaim("t", "q", "PASSAGE", "w")]
    )
    assert "PASSAGE" in first
    assert "Refused: why" in first
    assert "PASSAGE" not in second
    assert "Quote: q" in second


def test_claims_and_controls_are_told_apart_and_unknown_numbers_mean_nothing() -> None:
    form = ReadAnswer.model_validate(
        {
            "claims": [{**CLAIM, "resolved": "last year = 2024"}],
            "paraphrases": [{"claim": 1, "statement": "Everything."}, {"claim": 7, "statement": "No."}],
            "falsehoods": [{"claim": 1, "original": "one", "changed": "five", "statement": "Five."}],
        }
    )
    claim, same, false = read_statements(form)
    assert (claim.quote, claim.more_quotes, claim.resolved) == ("one, two", ("three",), "last year = 2024")
    assert (same.kind, same.statement, same.quote) == ("paraphrase", "Everything.", "one, two")
    assert (false.kind, false.original, false.changed) == ("falsehood", "one", "five")


def test_a_reader_may_leave_out_controls_write_one_quote_and_too_many_claims() -> None:
    single = {"question": "Q1", "quote": "one, two", "statement": "s", "relevance": 1}
    found = read_statements(ReadAnswer.model_validate({"claims": [single] * 40}))
    assert len(found) == 25
    assert (found[0].quote, found[0].more_quotes) == ("one, two", ())
