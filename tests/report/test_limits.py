"""What a writer is told of the evidence's limits."""

from fakes.records import claim, gap, heading, judgement, page

from fathom.report.limits import describe_limits
from fathom.state import Outline, Writing

ONE, TWO = "The plant runs. It is old.", "The plant pays. It is new."
CLAIMS = [claim("The plant runs.", name="a", of=ONE), claim("The plant pays.", name="b", of=TWO)]


def state(*texts: str) -> Writing:
    part = heading("a").model_copy(update={"lacks": "who built it"})
    return {
        "question": "What?",
        "claims": CLAIMS,
        "pages": [page(text) for text in texts],
        "outline": Outline(title="T", headings=[part]),
        "judgements": [judgement(gaps=[gap(), gap(description="who built it")])],
    }


def test_sources_and_open_questions_are_named_and_a_thin_part_once() -> None:
    lines = describe_limits(state(ONE, TWO, "a page that nobody quotes"))
    assert "nobody quotes" not in lines[0] and lines[0].count(";") == 1
    assert "same publisher" in lines[1]
    assert sum("who built it" in line for line in lines) == 1
    assert any(gap().description in line for line in lines)


def test_a_run_without_judgement_has_no_open_questions() -> None:
    bare: Writing = {"question": "What?", "claims": CLAIMS, "pages": [page(ONE)]}
    assert len(describe_limits(bare)) == 1
