"""What a checker is shown of the evidence."""

import pytest
from fakes.records import claim, page

from fathom.evidence.grounding import build_passage
from fathom.llm.roles.evidence import checker_prompt
from fathom.report.sentence_checks import CheckInput
from fathom.state.model_io import SentenceToCheck

TEXT = (
    "Schemas follow the edition of 2020. Inputs keep an object root. Outputs are free. " + "So it is. " * 80
)
QUOTES = ("Inputs keep an object root.", "Outputs are free.")


@pytest.mark.parametrize("name", ["checker", "refuter"])
def test_a_quote_that_was_resolved_stands_with_how_it_was_read_and_what_stands_around_it(name: str) -> None:
    source = page(TEXT)
    claims = [
        claim(said, name=f"c{n}", of=TEXT).model_copy(
            update={"statement": f"Reading {n} of the schemas", "resolved": "they"}
        )
        for n, said in enumerate(QUOTES)
    ]
    passages = {one.id: build_passage(one.quotes, source, TEXT) for one in claims}
    items = [SentenceToCheck(f"Sentence on {one.id}.", "fact", [one.id]) for one in [*claims, claims[0]]]
    fixed = {"language": "English"} if name == "refuter" else {}
    text = checker_prompt(name, CheckInput(items, claims, passages), items, **fixed).fill().user
    for n, quote in enumerate(QUOTES):
        assert text.count(quote) == 1
        assert text.count(f"Reading {n} of the schemas") == 1
    assert "Schemas follow the edition of 2020." in text
    assert text.count("So it is.") < 40
