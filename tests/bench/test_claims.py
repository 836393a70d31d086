"""The bench of claims counts right, on lines of its own, without a model and with one."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest
from standins.model import Model, ModelRequest
from standins.replies import Reply
from standins.working_model import scripted

pytestmark = pytest.mark.whole

LINES = [
    ("The harbour of Osby was dredged in 1931.", "The harbour of Osby was dredged in 1931.", "supports"),
    ("The harbour of Osby was dredged in 1941.", "The harbour of Osby was dredged in 1931.", "refutes"),
    ("The mayor of Osby collects stamps.", "Ferries use the outer pier in winter.", "neither"),
    ("오스비 항구는 1931년에 준설되었다.", "오스비 항구는 1931년에 준설되었다.", "supports"),
]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    path = Path(__file__).parents[2] / "bench" / "claims.py"
    monkeypatch.syspath_prepend(path.parent)
    spec = importlib.util.spec_from_file_location("bench_claims", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "lines.jsonl"
    rows = [{"claim": claim, "evidence": evidence, "label": label} for claim, evidence, label in LINES]
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return path


def test_what_supports_passes_and_nothing_else(bench: ModuleType, file: Path) -> None:
    said: list[str] = []
    bench.main([str(file)], said.append)
    assert json.loads(said[-1]) == {
        "precision": 1.0, "recall": 1.0, "f1": 1.0,
        "refutes_passed": 0.0, "neither_passed": 0.0, "partly_passed": 0.0,
    }  # fmt: skip


def test_figures_are_shares_of_their_own_label(bench: ModuleType, file: Path) -> None:
    figures = bench.measured(bench.lines(file), [True, True, False, False])
    assert figures["precision"] == figures["recall"] == figures["f1"] == 0.5
    assert (figures["refutes_passed"], figures["neither_passed"]) == (1.0, 0.0)
    assert bench.measured([], [])["f1"] == 0.0


def believing(request: ModelRequest) -> Reply:
    """A verifier that believes whatever has a quote with 1931 in it, and the rest not."""
    items = request.user_text.split("Item ")[1:]
    verdicts = [
        {
            "item": n,
            "reason": "read",
            "is_explicit": True,
            "is_same_scope": True,
            "is_not_overstated": True,
            "score": 0.9 if "Quote: Ferries" not in item else 0.1,
        }
        for n, item in enumerate(items, 1)
    ]
    return Reply.give({"verdicts": verdicts})


def test_a_model_is_asked_through_the_products_own_verifier(
    bench: ModuleType, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    with Model(scripted(verify=believing)) as model:
        monkeypatch.setenv("FATHOM_BASE_URL", model.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
        monkeypatch.setenv("FATHOM_HOME", str(tmp_path))
        bench.main([str(file), "--model", "stand-in"], said.append)
    assert len(model.calls) == 1
    figures = json.loads(said[-1])
    assert (figures["precision"], figures["recall"]) == (0.667, 1.0)
    assert (figures["refutes_passed"], figures["neither_passed"]) == (1.0, 0.0)


def test_a_file_that_is_not_there_is_told(bench: ModuleType) -> None:
    with pytest.raises(SystemExit, match="there is no file"):
        bench.main(["nowhere.jsonl"])


def test_written_claims_are_counted_by_what_code_does_to_them(bench: ModuleType, tmp_path: Path) -> None:
    context = {"title": "Osby", "date": "2025-01-01", "before": "", "after": ""}
    rows = [
        {"statement": "Osby was dredged in 1931.", "quote": "Osby was dredged in 1931.", "label": "honest"},
        {"statement": "Osby was dredged in 1941.", "quote": "Osby was dredged in 1931.", "label": "wrong"},
        {"statement": "Osby will be dredged.", "quote": "Osby may be dredged.", "label": "wrong"},
    ]
    path = tmp_path / "written.jsonl"
    path.write_text("\n".join(json.dumps(row | context) for row in rows), "utf-8")
    said: list[str] = []
    bench.main(["--written", str(path)], said.append)
    assert json.loads(said[-1]) == {"honest_refused": 0.0, "honest_flagged": 0.0, "wrong_caught": 1.0}
