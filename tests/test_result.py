"""The run in numbers."""

from fakes import judgement

from fathom.result import result_of
from fathom.state import Charge, Report


def test_what_models_and_engines_cost_is_told_apart() -> None:
    charges = [
        Charge(call="a", role="plan", model="gpt-4.1", tokens_in=10, tokens_out=5, usd=0.02),
        Charge(call="b", role="read", model="gpt-4.1", tokens_in=1, tokens_out=1, usd=0.01),
        Charge(call="c", role="search", model="serper", usd=0.001),
    ]
    report = Report(title="T", status="complete", sections=[], citations=[], markdown="# T\n")
    found = result_of(
        "id", {"question": "Q", "report": report, "judgements": [judgement()], "charges": charges}, 1.5
    ).metadata
    assert (found.model_calls, found.tokens_in, found.cost_usd) == (2, 11, 0.031)
    assert found.cost_by == {"gpt-4.1": 0.03, "serper": 0.001}
