"""Tests of the quotable units of a document."""

from hypothesis import given
from hypothesis import strategies as st

from fathom.reading.parsers import parse_document
from fathom.reading.units import Unit, whole_units

SOURCE = b"""# Lakes

Water moves.

## Causes

It rises because:

- snow melts, see `gauge --now` at `https://a.example/x`
  - early
- it rains

  for days

1. first

| Month | Level |
|-------|-------|
| May   | 12    |

```
level = 12
```

Level
: How high it stands.
"""


def found() -> tuple[str, list[Unit]]:
    text = parse_document(SOURCE, content_type="text/markdown", name="x").text
    return text, list(whole_units(text))


def test_items_rows_and_definitions_are_whole_and_know_what_they_stand_under() -> None:
    _, known = found()
    causes = ("Lakes", "Causes")
    lead_in = "It rises because:"
    snow = "snow melts, see `gauge --now` at `https://a.example/x`"
    entries = [unit for unit in known if unit.kind in {"item", "row", "definition"}]
    assert [(unit.kind, unit.text, unit.headings) for unit in entries] == [
        ("item", snow, causes),
        ("item", "early", causes),
        ("item", "it rains\n  for days", causes),
        ("item", "first", causes),
        ("row", "| May | 12 |", causes),
        ("definition", "Level: How high it stands.", causes),
    ]
    contexts = [unit.context for unit in entries]
    assert contexts[:3] == [lead_in, f"{lead_in}\n{snow}", lead_in]
    assert contexts[4] == "| Month | Level |"


def test_a_unit_is_where_it_says() -> None:
    text, known = found()
    assert all(text[unit.start : unit.end] == unit.text for unit in known)


@given(st.text(alphabet="#-|` \nab1.:", max_size=200))
def test_units_of_any_text_are_where_they_say(text: str) -> None:
    assert all(text[unit.start : unit.end] == unit.text for unit in whole_units(text))


def wholes(source: bytes) -> list[tuple[str, str]]:
    text = parse_document(source, content_type="text/markdown", name="x.md").text
    found = list(whole_units(text))
    assert all(unit.text == text[unit.start : unit.end] for unit in found)
    return [(unit.kind, unit.text) for unit in found]


def test_a_list_or_table_is_whole_with_what_leads_into_it_and_code_never_stands_alone() -> None:
    long = b"A paragraph of its own. " * 60
    found = wholes(
        b"# Gates\n\n"
        + long
        + b"\n\nIt has the following limits.\n\n- one\n- two\n\nRun this:\n\n```\ngo\n```\n"
        b"\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    )
    assert ("list", "It has the following limits.\n\n- one\n- two") in found
    assert ("code", "Run this:\n\n```\ngo\n```") in found
    assert ("table", "| a | b |\n| 1 | 2 |") in found
    assert ("paragraph", "Run this:") not in found


def test_short_sections_are_one_unit_also_together_under_their_heading() -> None:
    more = b"\n\n## Other\n\n" + b"A paragraph of its own. " * 60
    found = wholes(
        b"# Gates\n\nText.\n\n## Ways\n\nTwo ways.\n\n### Up\n\nIt lifts.\n\n### Down\n\nIt sinks." + more
    )
    assert ("sections", "Two ways.\n\n### Up\n\nIt lifts.\n\n### Down\n\nIt sinks.") in found
    assert not any("Text." in text and "Up" in text for _, text in found)  # that would be the document


@given(st.text())
def test_whole_units_of_any_text_are_parts_of_it(text: str) -> None:
    for unit in whole_units(text):
        assert text[unit.start : unit.end] == unit.text
