"""The notebook runs cell by cell, and the page answers with a model of somebody else's."""

import ast
import inspect
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from standins.documents import QUESTION, stocked
from standins.model import Model
from standins.server import closed_port
from standins.working_model import researcher

EXAMPLES = Path(__file__).parents[2] / "examples"
pytestmark = pytest.mark.whole


async def run_cell(source: str, names: dict[str, Any]) -> Any:
    """Run a cell as a notebook does: `await` works, and the last expression is shown."""
    tree = ast.parse(source)
    shown = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    codes: list[ast.AST] = [tree]
    if isinstance(shown, ast.Expr):
        codes.append(ast.Expression(shown.value))
    given = None
    for code in codes:
        how = "eval" if isinstance(code, ast.Expression) else "exec"
        made = compile(code, "cell", how, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)  # type: ignore[call-overload]
        given = eval(made, names)
        if inspect.iscoroutine(given):
            given = await given
    return given


async def test_the_notebook_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    cells = json.loads((EXAMPLES / "notebook.ipynb").read_text("utf-8"))["cells"]
    assert all(not cell.get("outputs") for cell in cells), "it is kept without what it showed"
    names: dict[str, Any] = {}
    shown = [await run_cell("".join(c["source"]), names) for c in cells if c["cell_type"] == "code"]
    told = capsys.readouterr().out
    assert names["result"].status == "complete" and names["result"] in shown
    assert "letters " in told and "refused: " in told and "8 percent" in told
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF-")
    assert names["extracts"].status == "extracts"


def test_the_page_runs_with_a_model_of_your_own(tmp_path: Path) -> None:
    shelf, port = stocked(tmp_path / "shelf"), closed_port()
    with Model(researcher) as model:
        words = [sys.executable, str(EXAMPLES / "page.py"), model.base_url, "stand-in", str(port)]
        served = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE)
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/", timeout=30) as client:
                setup = wait_for(lambda: client.get("setup").json())
                assert setup["model"] == "stand-in"
                body = {"query": QUESTION, "config": {"docs": [str(shelf)], "rounds": 1}}
                run = client.post("runs", json=body).json()["id"]
                found = wait_for(lambda: client.get(f"runs/{run}/result").raise_for_status().json())
            assert found["kind"] == "report" and found["citations"]
        finally:
            served.terminate()
            served.communicate(timeout=20)


def wait_for(ask: Any) -> Any:
    """What is answered, as soon as it is."""
    until = time.monotonic() + 60
    while True:
        try:
            return ask()
        except httpx.HTTPError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
