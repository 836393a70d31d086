"""`make attack`: every attack against real processes; a table of what held and broke, and one JSON line."""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from standins import browser

from attacks.attempt import Attack
from attacks.bad_days import attack_the_database
from attacks.by_tests import make_attack
from attacks.foreign_page import attack_with_a_page
from attacks.overload import attack_with_overload
from attacks.raw_requests import attack_the_page_server, attack_with_keys, attack_with_requests

_CAPS = (
    "test_with_a_cap_of_five_cents_it_ends_under_it_with_a_checked_report",
    "test_a_server_that_fails_and_hangs_is_never_paid_more",
    "test_a_server_that_says_every_call_took_a_token_does_not_widen_the_cap",
)
ATTACKS: dict[str, Attack] = {
    "page of another origin": attack_with_a_page,
    "requests, langgraph dev": attack_with_requests,
    "requests, fathom serve": attack_the_page_server,
    "keys of others": attack_with_keys,
    "state from outside": make_attack("tests/server/test_state_from_outside.py"),
    "damaged database": attack_the_database,
    "money cap, lying server": make_attack(
        *(f"tests/scenarios/test_costs.py::{name}" for name in _CAPS),
        "tests/llm/test_provider_usage.py",
        "tests/llm/test_openai_compatible.py",
    ),
    "overload": attack_with_overload,
    "failing model": make_attack("tests/scenarios/test_model_failures.py"),
    "fifty listeners": make_attack("tests/web/test_listeners.py"),
    "hostile outputs": make_attack(
        "tests/scenarios/test_hostile_outputs.py",
        "tests/scenarios/test_injection.py",
        "tests/report/formats/test_html.py",
        "tests/report/test_formats.py",
    ),
    "fuzzing": make_attack("tests/robustness", "tests/web/test_protection.py"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run all attacks, or those that are named; 1 if anything broke."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("only", nargs="*", metavar="NAME", help=f"of: {', '.join(ATTACKS)}")
    given = parser.parse_args(argv)
    if unknown := set(given.only) - set(ATTACKS):
        parser.error(f"there is no attack {min(unknown)!r}")
    held, broken, taken = Counter[str](), Counter[str](), dict[str, float]()
    for name, attack in ATTACKS.items():
        if given.only and name not in given.only:
            continue
        if attack is attack_with_a_page and not browser.IS_THERE:
            print(browser.WHY_NOT, flush=True)
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            for attempt in attack(Path(folder)):
                (held if attempt.is_held else broken)[name] += 1
                if not attempt.is_held:
                    print(f"BROKEN  {attempt.name}: {attempt.seen}", flush=True)
        taken[name] = round(time.monotonic() - began, 1)
    print(f"{'attack':26}{'attempts':>9}{'held':>7}{'broken':>8}{'seconds':>9}")
    for name in taken:
        print(f"{name:26}{held[name] + broken[name]:9}{held[name]:7}{broken[name]:8}{taken[name]:9.1f}")
    total = {"attempts": held.total() + broken.total(), "held": held.total(), "broken": broken.total()}
    print(json.dumps({**total, "by": {name: [held[name], broken[name]] for name in taken}}))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
