"""An audit that is killed goes on with the same command, and pays for no answer twice."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from standins.model import Model, ModelRequest, Reply

pytestmark = pytest.mark.kill

PAGE = "# Tower\n\n" + "\n\n".join(f"Stone {n} of the tower weighs {n + 100} kilograms." for n in range(60))
REPORT = "\n\n".join(f"Stone {n} of the tower weighs {n + 100} kilograms [1]." for n in range(60))


def answer(request: ModelRequest) -> Reply:
    """What stands in the source is supported; the first call is answered at once, the others late."""
    items = re.findall(r"Item (\d+) \(source 1\)\nStatement: (.*)", request.user_text)
    forms = [
        {"item": int(n), "reason": "", "quote": words if words in PAGE else "Stone 1 of the tower"}
        | {"verdict": "supported" if words in PAGE else "contradicted"}
        for n, words in items
    ]
    return Reply(value={"verdicts": forms}, delay_s=0.0 if request.number == 0 else 3.0)


def start(work: Path, model: Model) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "fathom", "audit", "report.md", "--docs", "shelf"]
    command += ["--model", "stand-in", "--format", "json", "--quiet"]
    known = {**os.environ, "FATHOM_HOME": str(work / "home"), "OPENAI_BASE_URL": model.base_url}
    return subprocess.Popen(command, cwd=work, env=known, stdout=subprocess.PIPE)


def test_a_killed_audit_sends_no_answered_call_again(tmp_path: Path) -> None:
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / "tower.md").write_text(PAGE, "utf-8")
    (tmp_path / "report.md").write_text(f"{REPORT}\n\n## Sources\n\n[1] tower.md\n", "utf-8")
    with Model(answer) as model:
        first = start(tmp_path, model)
        end = time.monotonic() + 60
        while len(model.calls) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(1.5)  # the first answer is kept, the second is on its way
        first.send_signal(signal.SIGKILL)
        first.communicate()
        before = len(model.calls)
        told, _ = start(tmp_path, model).communicate(timeout=120)
        asked = Counter(json.dumps(request.body["messages"]) for request in model.requests)
    result = json.loads(told)
    assert before >= 2 and {one["verdict"] for one in result["verdicts"]} == {"supported"}
    assert asked[json.dumps(model.requests[0].body["messages"])] == 1
