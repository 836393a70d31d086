"""Korean statements about English quotes: names and what is said of them."""

import pytest

from fathom.evidence.checks.derivation import Passage
from fathom.evidence.checks.suspicions import find_suspicions
from fathom.evidence.checks.transliteration import sounds_of

QUOTE = (
    "The Torvik plant recovers 95 percent of the lithium, compared with 60 percent at its site in Arlund. "
    "Minister Ada Roos told parliament that there are no plans for a tax. "
    "Karl Venn had claimed that a 6-cent increase was being prepared."
)


@pytest.mark.parametrize(
    ("korean", "name"), [("토르비크", "Torvik"), ("아를룬드", "Arlund"), ("로스", "Roos"), ("벤", "Venn")]
)
def test_a_name_sounds_the_same_in_either_script(korean: str, name: str) -> None:
    assert sounds_of(korean) == sounds_of(name) != ""


@pytest.mark.parametrize(
    "statement",
    [
        "아를룬드 공장은 리튬을 95% 회수한다.",
        "로스 장관은 세금을 6센트 올리는 방안이 준비되고 있다고 말했다.",
    ],
)
def test_what_the_quote_says_of_another_name_is_suspected(statement: str) -> None:
    assert find_suspicions(statement, Passage((QUOTE,)))


@pytest.mark.parametrize(
    "statement",
    ["토르비크 공장은 리튬을 95% 회수한다.", "아를룬드의 기존 시설은 회수율이 60%이다.", "", "…", "벤"],
)
def test_what_the_quote_says_of_this_name_is_not(statement: str) -> None:
    assert not [s for s in find_suspicions(statement, Passage((QUOTE,))) if s.kind == "figure"]
