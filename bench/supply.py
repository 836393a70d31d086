"""Whether a bill of materials names every installed package, and what an audit of packages really found.

    python bench/supply.py sbom FILE
    python bench/supply.py audit FILE

`sbom` takes CycloneDX, `audit` what `pip-audit -f json` wrote. A package that could not be looked up is not
sound: pip-audit passes over it, here it is said.
"""

import json
import re
import sys
from importlib.metadata import distributions
from pathlib import Path
from typing import Any


def check_bill(bill: dict[str, Any], installed: set[str]) -> str:
    """What is missing in the bill; "" if nothing is."""
    listed = {_plain(part["name"]) for part in [bill["metadata"]["component"], *bill["components"]]}
    missing = sorted(_plain(name) for name in installed if _plain(name) not in listed)
    return f"{len(missing)} installed packages are not in it: {', '.join(missing)}" if missing else ""


def judge_audit(text: str) -> tuple[int, str]:
    """An exit code and one sentence, which says so where nothing could be looked up."""
    try:
        rows = json.loads(text)["dependencies"]
    except (ValueError, KeyError):
        return 0, "NOT AUDITED: the database of vulnerabilities cannot be reached from here."
    found = [f"{row['name']} {flaw['id']}" for row in rows for flaw in row.get("vulns", [])]
    skipped = sum("skip_reason" in row for row in rows)
    if found:
        return 1, f"{len(found)} known vulnerabilities: {', '.join(found)}."
    if skipped:
        return 0, f"NOT AUDITED: the database of vulnerabilities has not told of {skipped} of {len(rows)}."
    return 0, f"No known vulnerability in {len(rows)} packages."


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main(words: list[str]) -> int:
    """Judge one file."""
    if len(words) != 2 or words[0] not in ("sbom", "audit") or not Path(words[1]).exists():
        sys.exit(__doc__)
    text = Path(words[1]).read_text("utf-8")
    if words[0] == "audit":
        code, sentence = judge_audit(text)
        print(sentence)
        return code
    installed = {found.metadata["Name"] for found in distributions()}
    fault = check_bill(json.loads(text), installed)
    print(fault or f"{words[1]}: all {len(installed)} installed packages")
    return 1 if fault else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
