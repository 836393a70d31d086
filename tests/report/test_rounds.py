"""Where a run stands after a round, in sentences."""

import pytest
from fakes.records import gap, judgement

from fathom.report.rounds import summarize_round
from fathom.state import StopRule
from fathom.text.messages import KOREAN


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("sufficient", "That is enough: sufficient ("),
        ("only minor gaps", "That is enough: only minor gaps ("),
        ("rounds used up", "It ends here: rounds used up ("),
        ("gaps given up", "It ends here: gaps given up ("),
        ("a person's word", "It ends here: a person's word ("),
    ],
)
def test_only_a_rule_about_the_evidence_calls_it_enough(rule: StopRule, words: str) -> None:
    assert words in summarize_round(judgement(stop=rule), [], [])


def test_a_round_is_told_in_korean_too() -> None:
    told = summarize_round(judgement(gaps=[gap("high", "물값")], stop="rounds used up"), [], [], KOREAN)
    assert told.startswith("1라운드를 마친 지금")
    assert "가장 부족한 것: 물값." in told
    assert "여기서 끝냅니다: 정해진 횟수를 다 씀 (" in told
