"""A report of extracts says what it is, shows passages whole, and never claims to answer."""

from typing import Any

import pytest
from fakes.records import claim, heading, judgement, page, question, quote, section, sentence

from fathom.report.passages import extract_section
from fathom.report.publish import publish_report
from fathom.state import Claim, Failure, Outline, Report, Writing

LIST = """The Orrin gate has these limits:

- It opens twice a day. [3]
- See www.orrin.example for tides.
  - only in winter

| Month | Level |
| May | 12 |

### Depth

```
gate --open <north>
```"""


def passage(text: str, name: str = "c1", of: str = "one", path: str = "", **words: Any) -> Claim:
    found = quote(text, of).model_copy(update={"heading": path})
    return claim(text.split("\n")[0], name=name, quotes=[found], **words)


def report(asked: str, *claims: Claim, **words: Any) -> Report:
    pages = [
        page("one", "https://one.example/a", title="The Orrin gate"),
        page("two", "https://two.example/b", title="Visiting the Orrin gate"),
    ]
    state: Writing = {
        "question": asked,
        "questions": [question(1, asked)],
        "pages": pages,
        "claims": list(claims),
        "judgements": [judgement(stop="rounds used up", because="3 of 3 rounds", is_by_words=True)],
        "outline": Outline(title=asked, headings=[heading(title=asked)]),
        "sections": [extract_section("S1", asked, claims)],
        **words,  # type: ignore[typeddict-item]
    }
    return publish_report(state)


def test_a_list_is_shown_whole_with_its_place_and_source() -> None:
    made = report("What are the limits of the gate?", passage(LIST, path="Gates > Limits"))
    assert (made.status, made.kind) == ("extracts", "extracts")
    lines = made.markdown.splitlines()
    assert "> The Orrin gate has these limits:" in lines
    assert "> - It opens twice a day." in lines  # the page's own mark is none of ours
    assert ">   - only in winter" in lines
    assert lines[lines.index("> | Month | Level |") + 1] == "> | --- | --- |"
    assert "> **Depth**" in lines
    assert "> gate --open <north>" in lines
    assert "— The Orrin gate > Gates > Limits [1]" in lines
    assert "www.orrin.example for" not in made.markdown.replace("See orrin.example for", "")


@pytest.mark.parametrize("asked", ["What opens the gate?", "갑문은 어떻게 열리나?"])
def test_the_first_line_says_what_it_is_and_how_to_get_a_report(asked: str) -> None:
    made = report(asked, passage("The gate opens twice a day."))
    first, _, rest = made.markdown.partition("\n")
    assert "--model" in first
    assert "OPENAI_API_KEY" in first
    assert "gguf" in first
    for boast in ("Complete", "완료", "100 %", "100%", "Unsure", "answered"):
        assert boast not in first + rest


def test_other_figures_for_the_same_thing_are_shown_side_by_side() -> None:
    one = passage("The gate lies at Orrin. Its power is 254 MW and it is the largest.", "c1", "one")
    two = passage("We saw the Orrin gate. The power of the Orrin gate is 552 MW.", "c2", "two")
    made = report("How much is the power of the Orrin gate?", one, two)
    told = next(line for line in made.markdown.splitlines() if "254 MW" in line and "552 MW" in line)
    assert "[1]" in told
    assert "[2]" in told
    same = two.model_copy(update={"quotes": [quote("The power of the Orrin gate is 254 MW.", "two")]})
    lines = report("How much is the power of the Orrin gate?", one, same).markdown.splitlines()
    assert not any(line.count("254 MW") > 1 for line in lines)


def test_a_word_of_the_question_that_no_passage_has_is_named() -> None:
    made = report("What are the risks of the Orrin gate?", passage("The Orrin gate opens at noon."))
    assert "“risks”" in made.markdown
    assert "“gate”" not in made.markdown


def test_how_tall_asks_for_a_figure_and_not_for_the_word() -> None:
    made = report("How tall is the Orrin gate?", passage("The Orrin gate is 12 metres high."))
    assert "tall" not in made.markdown.replace("How tall is the Orrin gate", "")


def test_a_part_without_a_passage_or_without_a_close_one_is_told() -> None:
    parts = [question(1, "What is the gate?"), question(2, "Who built it?")]
    weak = passage("The gate opens twice a day.", relevance=0.1)
    made = report("What is the gate?", weak, questions=parts)
    told = made.markdown.rpartition("[1]\n")[2].partition("## Sources")[0]
    assert "Who built it?" in told
    assert "What is the gate?" in told


def test_after_a_failure_extracts_are_partial_and_still_called_extracts() -> None:
    lost = [Failure(where="search:web", what="q", why="it is down")]
    made = report("What opens the gate?", passage("The gate opens twice a day."), failures=lost)
    assert (made.status, made.kind) == ("partial", "extracts")
    assert made.markdown.startswith("*Extracts")


def test_a_section_that_somebody_wrote_makes_it_a_report() -> None:
    written = section(sentence("The gate opens twice a day.", "c1"))
    made = report("What opens the gate?", passage("The gate opens twice a day."), sections=[written])
    assert made.kind == "report"
