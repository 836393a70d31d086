"""A sub-question that needs another waits for its answer, and is asked with it."""

import pytest
from fakes.records import claim, query, question

from fathom.planning.questions import (
    drop_placeholders,
    drop_unsound_needs,
    extract_key_phrase,
    fill_answers,
    find_answers,
    has_placeholder,
    longest_chain,
)
from fathom.state import SubQuestion


def needing(number: int, *needs: str) -> SubQuestion:
    return question(number).model_copy(update={"needs": list(needs)})


def test_unknown_needs_and_circles_are_dropped() -> None:
    found = drop_unsound_needs([needing(1, "Q3", "Q1", "Q9"), needing(2, "Q1", "Q1"), needing(3, "Q2")])
    needs = {q.id: q.needs for q in found}
    assert needs == {"Q1": ["Q3"], "Q2": ["Q1"], "Q3": []}
    assert longest_chain(found) == 3


def test_a_chain_is_as_long_as_its_longest_path() -> None:
    assert longest_chain([]) == longest_chain([needing(1), needing(2)]) == 1
    assert longest_chain([needing(1), needing(2, "Q1"), needing(3, "Q2"), needing(4, "Q3", "Q1")]) == 4


def test_only_a_claim_of_good_relevance_is_an_answer() -> None:
    asked = [question(1, "Who designed the lagoon?"), question(2)]
    weak = claim("The lagoon was designed by Ada Marsh.", relevance=0.4)
    good = claim("Mira Tollen designed the lagoon.", name="c2", relevance=0.8)
    assert find_answers(asked, [weak]) == {}
    assert find_answers(asked, [weak, good]) == {"Q1": "Mira Tollen"}


def test_the_phrase_a_question_was_asked_with_is_not_its_answer() -> None:
    asked = [
        question(2, "Where was {Q1} born?").model_copy(update={"needs": ["Q1"]}),
        question(1, "Who designed it?"),
    ]
    found = [
        claim("Mira Tollen was born in Port Anwick.", name="c2", question="Q2"),
        claim("It was designed by Mira Tollen.", question="Q1"),
    ]
    assert find_answers(asked, found) == {"Q1": "Mira Tollen", "Q2": "Port Anwick"}


def test_a_query_is_written_with_the_answers_it_waited_for() -> None:
    assert fill_answers(query("{Q1} birthplace"), ["Q1"], {}) is None
    assert fill_answers(query("where was {q1} born"), [], {}) is None
    known = {"Q1": "Mira Tollen", "Q2": "1987"}
    texts = [
        found.text
        for text, needs in [
            ("{Q1} birthplace", ["Q1"]),
            ("birthplace", ["Q1"]),
            ("mira tollen in {Q2}", ["Q1", "Q2"]),
        ]
        if (found := fill_answers(query(text), needs, known))
    ]
    assert texts == ["Mira Tollen birthplace", "birthplace Mira Tollen", "mira tollen in 1987"]


def test_a_place_that_nothing_fills_is_seen_and_can_be_left_out() -> None:
    assert has_placeholder("where was {the designer} born")
    assert not has_placeholder("where was she born")
    assert drop_placeholders("where was {Q1} born") == "where was born"


@pytest.mark.parametrize(
    ("statement", "asked", "phrase"),
    [
        (
            "The lagoon at Swale was designed by Mira Tollen of Haven Works.",
            "Who designed the lagoon at Swale?",
            "Mira Tollen",
        ),
        ("It was paid for by the Bank of Merrow.", "Who paid for it?", "Bank of Merrow"),
        ("The barrage opened in 1987 after delays.", "When did the barrage open?", "1987"),
        ("Power from Swale costs 92 euros for each hour.", "How much does it cost?", "92 euros"),
        ("She works at the harbour school.", "Where does she work?", "harbour school"),
        ("스웨일 석호는 미라 톨렌이 설계했다.", "스웨일 석호는 누가 설계했나?", "미라 톨렌"),
        ("미라 톨렌은 한빛항에서 태어났다.", "미라 톨렌은 어디에서 태어났나?", "한빛항"),
        ("한빛항은 1923년에 문을 열었다.", "한빛항은 언제 문을 열었나?", "1923년"),
    ],
)
def test_the_key_phrase_is_what_the_question_did_not_say(statement: str, asked: str, phrase: str) -> None:
    assert extract_key_phrase(statement, asked) == phrase


def test_there_is_always_a_phrase() -> None:
    assert extract_key_phrase("yes", "yes?") == "yes"
