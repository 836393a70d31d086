"""Which passages of a page are quoted for which kind of question."""

from itertools import pairwise

import pytest
from fakes.records import question

from fathom.evidence.quote_selection import select_quotes

GATES = """# Gates

Gates are doors that hold the water of a harbour. They are made of oak or steel.

## Limits

They were laid down in 1931.

The gates have the following limits:

- They open twice a day.
- They hold no ship longer than ninety metres.

## Why gates leak

Oak shrinks in dry summers, and because of that water finds its way between the boards.

## Words

- Sill: The edge that a gate closes against.
- Pound: The water between two gates.

| Gate | Depth |
| North | 7 metres |
"""
ONDOL = """# 온돌

온돌은 방바닥을 데우는 난방 방식이다.

## 역사

온돌은 오래전부터 쓰였다. 온돌의 구조를 적은 글은 드물다.

## 구조

불을 때는 곳에서 굴뚝까지 다음과 같이 이어진다.

- 아궁이: 불을 때는 곳이다.
- 고래: 연기가 지나가는 길이다.
"""


def best(asked: str, title: str, text: str) -> str:
    found = select_quotes([question(1, asked)], title, text)
    assert all(draft.quote in text for draft in found)
    assert [d.relevance for d in found] == sorted((d.relevance for d in found), reverse=True)
    return found[0].quote if found else ""


@pytest.mark.parametrize(
    ("asked", "has"),
    [
        ("What are gates?", ["Gates are doors"]),
        ("What are the limits of the gates?", ["following limits", "twice a day", "ninety metres"]),
        ("Why do gates leak?", ["because of that"]),
        ("What is a sill?", ["Sill: The edge"]),
        ("What is a pound?", ["Pound: The water"]),
        ("How deep is the north gate?", ["7 metres"]),
    ],
)
def test_the_passage_that_fits_the_question_comes_first(asked: str, has: list[str]) -> None:
    found = best(asked, "Gates", GATES)
    assert all(words in found for words in has)


@pytest.mark.parametrize(
    ("asked", "has"),
    [
        ("온돌의 구조는 어떻게 되어 있나?", "고래: 연기가"),
        ("온돌이란 무엇인가?", "온돌은 방바닥을 데우는 난방 방식이다."),
        ("온돌은 무엇인가요?", "온돌은 방바닥을 데우는 난방 방식이다."),
    ],
)
def test_a_korean_question_finds_the_passage_under_the_heading_of_its_words(asked: str, has: str) -> None:
    assert has in best(asked, "온돌", ONDOL)


def test_passages_of_one_page_do_not_overlap() -> None:
    found = select_quotes([question(1, "What are the limits of the gates?")], "Gates", GATES)
    spans = sorted((GATES.find(draft.quote), len(draft.quote)) for draft in found)
    assert all(start + size <= after for (start, size), (after, _) in pairwise(spans))


def test_the_contents_of_a_list_of_questions_are_no_answer() -> None:
    contents = (
        "- Lost goods: What does definitely lost mean? Who pays for it? When is it paid? Where do I go?"
    )
    answer = "Goods are called definitely lost when nobody has seen them for a year."
    page = f"# Questions about goods\n\n{contents}\n\n## Lost goods\n\n{answer}"
    assert best("What does definitely lost mean?", "Goods", page) == answer
