"""The evidence of a claim is its quotes and what stands around them."""

from fakes.records import claim, page

from fathom.errors import Unavailable
from fathom.evidence.grounding import build_passage, find_windows, heading_path, load_passages
from fathom.state import Quote

TEXT = (
    "# Tides\n\nIntro words.\n\n## Sihwa\n\nIt opened in 2011.\n\n"
    "### Output\n\nIt makes 254 MW.\n\n## Rance\n\nOlder."
)


def _quote(words: str) -> Quote:
    start = TEXT.index(words)
    return Quote(page="ab", start=start, end=start + len(words), text=words)


def test_the_headings_above_a_quote_are_its_path() -> None:
    assert heading_path(TEXT, TEXT.index("254")) == ["Tides", "Sihwa", "Output"]
    assert heading_path(TEXT, TEXT.index("Older")) == ["Tides", "Rance"]
    assert heading_path("no headings", 5) == []


def test_windows_that_meet_are_one() -> None:
    both = [_quote("It opened in 2011."), _quote("It makes 254 MW.")]
    assert len(find_windows(both, TEXT, 30)) == 1
    assert len(find_windows(both, TEXT, 2)) == 2


def test_a_passage_has_title_headings_date_and_surroundings() -> None:
    found = build_passage(
        [_quote("It makes 254 MW.")], page(title="Tidal power", published="2024-05-01"), TEXT
    )
    assert found.title == "Tidal power" and found.date == "2024-05-01"
    assert "Output" in found.headings and "2011" in found.around


async def test_a_text_that_is_gone_leaves_the_quotes() -> None:
    async def gone(_: str) -> str:
        raise Unavailable("the text is gone")

    one = claim("It makes 254 MW.")
    found = await load_passages([one], [page()], gone)
    assert found[one.id].quotes == tuple(quote.text for quote in one.quotes)
