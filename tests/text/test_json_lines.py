"""JSON that is safe to look at, and says the very same."""

import json

from hypothesis import given
from hypothesis import strategies as st

from fathom.text.normalization import dump_json

ACTIVE = "\x7f\x85\x9b\u00ad\u061c\u200b\u200e\u2028\u202e\u2066\u2069\ufeff\U000e0041"


@given(st.text(st.characters(codec="utf-8")))
def test_it_reads_back_as_it_was(text: str) -> None:
    assert json.loads(dump_json({"text": text + ACTIVE})) == {"text": text + ACTIVE}


def test_nothing_active_is_left_and_all_scripts_stay_readable() -> None:
    shown = dump_json([f"조력 발전 {ACTIVE} \x1b[31m\n"])
    assert shown.isprintable()
    assert shown.startswith('["조력 발전 \\u007f')
