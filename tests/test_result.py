"""The run in numbers."""

from fakes.records import judgement

from fathom.result import make_result
from fathom.state import Cost, Report


def test_what_models_and_engines_cost_is_told_apart() -> None:
    costs = [
        Cost(
            call="a",
            role="plan",
            model="gpt-4.1",
            tokens_in=10,
            tokens_out=5,
            usd=0.02,
            strategy="schema",
            node="planner",
            round=1,
        ),
        Cost(
            call="b",
            role="read",
            model="gpt-4.1",
            tokens_in=1,
            tokens_out=1,
            usd=0.01,
            strategy="repair",
            node="analyzer",
            round=2,
        ),
        Cost(call="c", role="search", model="serper", usd=0.001, saved_usd=0.5, node="searcher", round=2),
    ]
    report = Report(title="T", status="complete", sections=[], citations=[], markdown="# T\n")
    found = make_result(
        "id", {"question": "Q", "report": report, "judgements": [judgement()], "costs": costs}, 1.5
    ).metadata
    assert (found.model_calls, found.tokens_in, found.cost_usd) == (2, 11, 0.031)
    assert found.cost_by.model == {"gpt-4.1": 0.03}
    assert found.cost_by.engine == {"serper": 0.001}
    assert found.cost_by.role == {"plan": 0.02, "read": 0.01, "search": 0.001}
    assert found.cost_by.node == {"planner": 0.02, "analyzer": 0.01, "searcher": 0.001}
    assert found.cost_by.round == {"1": 0.02, "2": 0.011}
    assert (found.saved_usd, found.strategies) == (0.5, {"schema": 1, "repair": 1})


def test_a_result_is_printed_in_one_line() -> None:
    report = Report(title="T", status="complete", sections=[], citations=[], markdown="# T\n" + "word " * 500)
    result = make_result("id", {"question": "Q", "report": report, "judgements": [judgement()]}, 1.5)
    assert "word" not in str(result)
    assert len(repr(result)) < 200
    assert "run id" in str(result)
    assert "0 citations from 0 pages in 1 round," in str(result)
