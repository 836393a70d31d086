"""Pages are read for the follow-up that found them, and again when another page leads to them."""

import pytest
from fakes import FakePages, claim, page, question, sha

from fathom.evidence.excerpts import Excerpt
from fathom.evidence.trails import follow
from fathom.llm.extractive import ExtractiveModel
from fathom.llm.rereading import reread
from fathom.llm.seeking import sought_in
from fathom.state import SubQuestion

ASKED = "Where was the founder of Marrow Point Shipyard born?"
YARD = "Marrow Point Shipyard was founded in 1931 by Anneke Vorst."
PERSON = "Anneke Vorst was an engineer. Anneke Vorst was born in Harlingen. Anneke Vorst painted boats."


def sought(text: str) -> SubQuestion:
    return SubQuestion(id="Q1", text=text)


def test_of_a_name_only_what_was_open_is_quoted() -> None:
    drafts = sought_in(ASKED, sought("Anneke Vorst born"), "Anneke Vorst", PERSON)
    assert [(d.statement, d.question) for d in drafts] == [("Anneke Vorst was born in Harlingen.", "Q1")]


def test_korean_names_too() -> None:
    text = "김도윤은 기술자이자 화가였다. 김도윤은 1898년 통영에서 태어났다."
    asked = "한빛조선소를 세운 사람은 어디에서 태어났는가?"
    drafts = sought_in(asked, sought("김도윤 태어났는가"), "김도윤", text)
    assert [d.statement for d in drafts] == ["김도윤은 1898년 통영에서 태어났다."]


@pytest.mark.parametrize("words", ["Anneke Vorst", "founder born", "?", "Ola Berg born"])
def test_a_follow_up_without_a_new_name_or_without_an_open_word_finds_nothing(words: str) -> None:
    assert sought_in(ASKED, sought(words), "Anneke Vorst", PERSON) == []


async def test_what_was_searched_for_comes_first_and_nothing_comes_twice() -> None:
    asked = SubQuestion(id="Q1", text=ASKED)
    thought = await ExtractiveModel().read(
        ASKED, [asked], "Anneke Vorst", PERSON, sought("Anneke Vorst born")
    )
    quotes = [draft.quote for draft in thought.value]
    assert thought.value[0].statement == "Anneke Vorst was born in Harlingen."
    assert len(quotes) == len(set(quotes))


async def test_a_page_that_gave_nothing_is_read_again_when_a_quoted_page_names_it() -> None:
    pages = [page(YARD), page(PERSON).model_copy(update={"title": "Anneke Vorst"})]
    read = [
        Excerpt(sha(YARD), "Marrow Point Shipyard", YARD),
        Excerpt(sha(PERSON), "Anneke Vorst", PERSON),
    ]
    trails, texts = follow(ASKED, read), FakePages({sha(YARD): YARD, sha(PERSON): PERSON})
    known = [claim(YARD, of=YARD)]
    again = await reread(trails, pages, known, [question()], texts.get)
    assert [c.statement for c in again] == ["Anneke Vorst was born in Harlingen."]
    assert await reread(trails, pages, [*known, *again], [question()], texts.get) == []
    assert await reread(trails, pages, known, [question()], FakePages({}).get) == []
    assert await reread(follow(ASKED, []), [], [], [], texts.get) == []
