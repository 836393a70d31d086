"""Calculations of a report, recomputed from the sources that it names."""

from hashlib import sha256

import pytest

from fathom.audit.calculations import recompute_written
from fathom.audit.records import CitedSource, ReadSource
from fathom.audit.sources import CitedText, SourcePassages
from fathom.state import Page

COSTS = "The week cost 1.9 million euros in 2025. It saved 1.2 million euros."
LEAVE = "Sick leave was 11.4 days in 2022 and 7.1 days in 2025. The town has 640 employees."
STAGES = "Validation ran from May 21, 2026 to July 28, 2026."


def read(number: int, text: str) -> SourcePassages:
    about = ReadSource(source=CitedSource(id=f"s{number}"), status="read")
    sha = sha256(text.encode()).hexdigest()
    page = Page(sha=sha, address="", title="", how="text", chars=len(text), fetched="")
    return SourcePassages(CitedText(about, page, text))


SOURCES = [read(number, text) for number, text in enumerate((COSTS, LEAVE, STAGES), 1)]


@pytest.mark.parametrize(
    "said",
    [
        "1.9 million euros - 1.2 million euros = 0.7 million euros",
        "(11.4 days - 7.1 days) * 640 = 2,752 days",
        "July 28, 2026 - May 21, 2026 = 68 days",
        "(1.9 million euros - 1.2 million euros) / 2 = 0.35 million euros",
    ],
)
def test_a_right_calculation_comes_out(said: str) -> None:
    found = recompute_written(said, SOURCES)
    assert (found.wrong, found.missing) == ("", "")
    assert found.quote is not None


@pytest.mark.parametrize(
    "said", ["1.9 million euros - 1.2 million euros = 0.8 million euros", "11.4 days - 7.1 days = 5.3 days"]
)
def test_a_wrong_one_does_not(said: str) -> None:
    assert recompute_written(said, SOURCES).wrong


def test_a_figure_that_no_source_has_is_named() -> None:
    assert recompute_written(
        "2.4 million euros - 1.2 million euros = 1.2 million euros", SOURCES
    ).missing == ("2.4 million euros")
    assert recompute_written("2 + 2 = 4", SOURCES).missing
