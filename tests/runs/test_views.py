"""Views of a run refuse what cannot be: an address that leads nowhere, an engine that nobody knows."""

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from fathom.runs.views import SearchResult

NAME = "550e8400-e29b-41d4-a716-446655440000"


def found(address: str, source: str) -> SearchResult:
    when = datetime(2026, 3, 1, tzinfo=UTC)
    return SearchResult(
        id=NAME,
        query_id=NAME,
        source=source,
        engine="arxiv",
        title="Tides",
        address=address,
        snippet="We study tides.",
        created_at=when,
    )


@pytest.mark.parametrize(
    "address", ["", "ocean.example/tides", "javascript:alert(1)", "https://", "http://?", "https://#a"]
)
def test_an_address_leads_somewhere(address: str) -> None:
    with pytest.raises(ValidationError, match="an address"):
        found(address, "arxiv")


def test_a_source_is_one_that_fathom_has() -> None:
    assert found("https://arxiv.org/abs/2101.00001", "arxiv").source == "arxiv"
    assert found("mcp://notes/7", "mcp").source == "mcp"
    with pytest.raises(ValidationError, match="there is no source 'gopher'"):
        found("https://arxiv.org/abs/2101.00001", "gopher")
