"""Coverage-guided fuzzing of what reads words of others: parsers, answers of models, evidence rules, ledgers.

    python bench/fuzz.py TARGET [--seconds N]

Begins with well-formed inputs. Needs atheris (`make fuzz` installs it into a folder of its own). A crash is
written beside, with its input; what is found belongs into tests/robustness. The last line is one JSON object.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

ROOT = Path(__file__).resolve().parents[1]
_MOST_BYTES = 8192
SUFFIXES = (".html", ".md", ".rst", ".txt", ".py", ".xml")


def fuzz_parsers(body: bytes) -> None:
    """A document of any kind."""
    from fathom.errors import Unreadable
    from fathom.reading.parsers import parse_document

    if body:
        try:
            name = f"a{SUFFIXES[body[0] % len(SUFFIXES)]}"
            parse_document(body[1:], content_type=None, name=name)
        except Unreadable:
            return


def fuzz_answers(body: bytes) -> None:
    """An answer of a model to any of the forms."""
    from fathom.llm.answer_parsing import UnusableAnswer, parse_answer
    from fathom.llm.roles import answer_forms

    forms = [
        form
        for form in vars(answer_forms).values()
        if isinstance(form, type) and issubclass(form, BaseModel) and form.__name__.endswith("Answer")
    ]
    if body:
        try:
            parse_answer(body[1:].decode("utf-8", "replace"), forms[body[0] % len(forms)])
        except UnusableAnswer:
            return


def fuzz_evidence(body: bytes) -> None:
    """A statement and its quote, for every rule."""
    from fathom.evidence.checks.derivation import Passage, find_underived
    from fathom.evidence.checks.strict import find_flaws_by_kind
    from fathom.evidence.checks.suspicions import find_suspicions
    from fathom.evidence.grounding import QuoteFinder

    statement, _, quote = body.decode("utf-8", "replace").partition("|")
    QuoteFinder("", quote).find(statement)
    passage = Passage((quote,))
    find_underived(statement, passage)
    find_suspicions(statement, passage)
    find_flaws_by_kind(statement, [quote])


def fuzz_ledgers(body: bytes) -> None:
    """A report.json that is given to `fathom verify`."""
    from fathom.errors import BadInput
    from fathom.report.ledger import Ledger

    try:
        Ledger.model_validate_json(body, extra="ignore")
    except (ValidationError, BadInput):
        return


def fuzz_bodies(body: bytes) -> None:
    """The body of a request to a served graph."""
    from fathom.web.protection import fault_of

    fault = fault_of("/threads/x/state" if body[:1] < b"\x80" else "/runs/wait", body[1:])
    if "\n" in fault:
        raise AssertionError(fault)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "parsers": fuzz_parsers,
    "answers": fuzz_answers,
    "evidence": fuzz_evidence,
    "ledgers": fuzz_ledgers,
    "bodies": fuzz_bodies,
}


def seeds_of(target: str) -> list[bytes]:
    """Well-formed inputs, without which a fuzzer finds no way past the first bracket."""
    if target == "parsers":
        texts = {".html": "src/fathom/web/static/index.html", ".py": "bench/fuzz.py"}
        files = [ROOT / texts.get(suffix, "README.md") for suffix in SUFFIXES]
        return [bytes([n]) + file.read_bytes()[:_MOST_BYTES] for n, file in enumerate(files)]
    if target == "answers":
        lists = json.dumps({"claims": [{"statement": "a", "quote": "b"}], "queries": ["c"], "sections": []})
        return [bytes([n]) + lists.encode() for n in range(20)]
    if target == "evidence":
        return [b"In 2024 it rose 3% to $5 million.|It rose by 3%.", "2024년 3명|세 명이다".encode()]
    if target == "ledgers":
        return [(ROOT / "tests/report/ledger-1.json").read_bytes()]
    run = {
        "assistant_id": "research",
        "context": {"depth": "quick"},
        "command": {"resume": {"action": "edit"}},
    }
    return [b"\xff" + json.dumps(run).encode(), b"\x00" + b'{"values": {"question": "a", "claims": []}}']


def main() -> None:
    """Fuzz one target for so many seconds; a crash ends the process with its traceback."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=60)
    given = parser.parse_args()
    import atheris

    target, tried, began = TARGETS[given.target], [0], time.monotonic()
    with atheris.instrument_imports(include=["fathom"], enable_loader_override=False):
        target(b"\x00warm")

    def once(body: bytes) -> None:
        tried[0] += 1
        target(body)
        if time.monotonic() - began > given.seconds:
            told: dict[str, Any] = {"target": given.target, "tried": tried[0], "seconds": given.seconds}
            print(json.dumps({**told, "crashes": 0}), flush=True)
            os._exit(0)

    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(seeds_of(given.target)):
            (Path(corpus) / f"seed-{number}").write_bytes(seed)
        words = [
            sys.argv[0],
            "-verbosity=0",
            "-print_final_stats=0",
            f"-max_len={_MOST_BYTES}",
            "-timeout=30",
        ]
        atheris.Setup([*words, corpus], once)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
