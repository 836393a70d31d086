"""The bench of audits counts right: its reports are split as they were written, and labels are counted."""

import importlib.util
import json
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.whole


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    path = Path(__file__).parents[2] / "bench" / "audit.py"
    monkeypatch.syspath_prepend(path.parent)
    spec = importlib.util.spec_from_file_location("bench_audit", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_planted_faults_of_eight_kinds_are_looked_for_without_a_model(bench: ModuleType) -> None:
    told: list[str] = []
    bench.main([], told.append)
    figures = json.loads(told[-1])
    assert figures["planted"] == 96
    assert figures["found"] >= 80  # what rules find is measured in the log, and may get better
    assert figures["false_alarms"] <= 0.3


def test_the_second_list_never_shows_a_fact_and_its_faulty_twin(bench: ModuleType) -> None:
    reports = [said for said, _ in bench.plan_reports(bench.SECOND, "http://127.0.0.1:1")]
    everything = [one for said in reports for one in said]
    assert len(reports) == 12 and Counter(one.fault for one in everything)[""] == 60
    assert {n for kind, n in Counter(one.fault for one in everything).items() if kind} == {12}
    twins = {fact.fault: fact.honest for topic in bench.topics(bench.SECOND) for fact in topic.facts}
    for said in reports:
        honest = {one.text for one in said if not one.fault}
        assert not honest & {twins.get(one.text) for one in said if one.fault}


def test_labels_are_measured_by_hand(bench: ModuleType) -> None:
    pairs = Counter({("supports", "supports"): 3, ("supports", "partly"): 1, ("neither", "supports"): 1})
    found = bench.measure(pairs)
    assert (found["supports_precision"], found["supports_recall"], found["supports_f1"]) == (0.75, 0.75, 0.75)
    assert found["accuracy"] == 0.6


def test_a_sample_takes_all_labels_alike(bench: ModuleType, tmp_path: Path) -> None:
    rows = [{"claim": f"c{n}", "evidence": "e", "label": "ab"[n % 3 == 0]} for n in range(30)]
    path = tmp_path / "lines.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert Counter(line["label"] for line in bench.read_lines(path, 8)) == {"a": 4, "b": 4}
    assert bench.read_lines(path, 8) == bench.read_lines(path, 8)
