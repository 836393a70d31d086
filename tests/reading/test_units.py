"""Tests of the quotable units of a document."""

from hypothesis import given
from hypothesis import strategies as st

from fathom.reading.documents import parse
from fathom.reading.units import Unit, units

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
    text = parse(SOURCE, content_type="text/markdown", name="x").text
    return text, list(units(text))


def test_items_rows_and_definitions_are_whole_and_know_what_they_stand_under() -> None:
    _, known = found()
    causes = ("Lakes", "Causes")
    lead_in = "It rises because:"
    snow = "snow melts, see `gauge --now` at `https://a.example/x`"
    assert [(unit.kind, unit.text, unit.headings, unit.context) for unit in known] == [
        ("paragraph", "Water moves.", ("Lakes",), ""),
        ("paragraph", lead_in, causes, ""),
        ("item", snow, causes, lead_in),
        ("item", "early", causes, f"{lead_in}\n{snow}"),
        ("item", "it rains\n  for days", causes, lead_in),
        ("item", "first", causes, lead_in),
        ("row", "| May | 12 |", causes, "| Month | Level |"),
        ("code", "```\nlevel = 12\n```", causes, lead_in),
        ("definition", "Level: How high it stands.", causes, lead_in),
    ]


def test_a_unit_is_where_it_says() -> None:
    text, known = found()
    assert all(text[unit.start : unit.end] == unit.text for unit in known)


@given(st.text(alphabet="#-|` \nab1.:", max_size=200))
def test_units_of_any_text_are_where_they_say(text: str) -> None:
    assert all(text[unit.start : unit.end] == unit.text for unit in units(text))
