"""Pages are read for the follow-up that found them, and again when another page leads to them."""

import pytest
from fakes.records import claim, page, question, sha
from fakes.services import FakePages

from fathom.evidence.link_paths import build_link_paths
from fathom.evidence.quote_selection import select_sought_quotes
from fathom.llm.extractive import ExtractiveModel
from fathom.planning.reading_list import reread_linked_pages
from fathom.state import SubQuestion
from fathom.state.model_io import PageExcerpt

ASKED = "Where was the founder of Marrow Point Shipyard born?"
YARD = "Marrow Point Shipyard was founded in 1931 by Anneke Vorst."
PERSON = "Anneke Vorst was an engineer. Anneke Vorst was born in Harlingen. Anneke Vorst painted boats."


def sought(text: str) -> SubQuestion:
    return SubQuestion(id="Q1", text=text)


def test_of_a_name_only_what_was_open_is_quoted() -> None:
    drafts = select_sought_quotes(ASKED, sought("Anneke Vorst born"), "Anneke Vorst", PERSON)
    assert [(d.statement, d.question) for d in drafts] == [("Anneke Vorst was born in Harlingen.", "Q1")]


def test_korean_names_too() -> None:
    text = "김도윤은 기술자이자 화가였다. 김도윤은 1898년 통영에서 태어났다."
    asked = "한빛조선소를 세운 사람은 어디에서 태어났는가?"
    drafts = select_sought_quotes(asked, sought("김도윤 태어났는가"), "김도윤", text)
    assert [d.statement for d in drafts] == ["김도윤은 1898년 통영에서 태어났다."]


@pytest.mark.parametrize("words", ["Anneke Vorst", "founder born", "?", "Ola Berg born"])
def test_a_follow_up_without_a_new_name_or_without_an_open_word_finds_nothing(words: str) -> None:
    assert select_sought_quotes(ASKED, sought(words), "Anneke Vorst", PERSON) == []


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
        PageExcerpt(sha(YARD), "Marrow Point Shipyard", YARD),
        PageExcerpt(sha(PERSON), "Anneke Vorst", PERSON),
    ]
    link_paths, texts = build_link_paths(ASKED, read), FakePages({sha(YARD): YARD, sha(PERSON): PERSON})
    known = [claim(YARD, of=YARD)]
    again = await reread_linked_pages(link_paths, pages, known, [question()], texts.get)
    assert [c.statement for c in again] == ["Anneke Vorst was born in Harlingen."]
    assert await reread_linked_pages(link_paths, pages, [*known, *again], [question()], texts.get) == []
    assert await reread_linked_pages(link_paths, pages, known, [question()], FakePages({}).get) == []
    assert await reread_linked_pages(build_link_paths(ASKED, []), [], [], [], texts.get) == []
