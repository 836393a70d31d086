"""`make attack`: every attack against real processes; a table of what held and broke, and one JSON line."""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from standins import browser

from attacks.attempt import Attack
from attacks.bad_days import attack_the_database
from attacks.foreign_page import attack_with_a_page
from attacks.raw_requests import attack_with_requests

ATTACKS: dict[str, Attack] = {
    "page of another origin": attack_with_a_page,
    "raw requests": attack_with_requests,
    "damaged database": attack_the_database,
}


def main() -> int:
    """Run all attacks, or those that are named; 1 if anything broke."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("only", nargs="*", metavar="NAME", help=f"of: {', '.join(ATTACKS)}")
    only = parser.parse_args().only
    held, broken, taken = Counter[str](), Counter[str](), dict[str, float]()
    for name, attack in ATTACKS.items():
        if (only and name not in only) or (attack is attack_with_a_page and not browser.IS_THERE):
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
