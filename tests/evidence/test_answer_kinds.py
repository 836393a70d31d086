"""How directly a sentence gives what is asked for."""

import pytest

from fathom.evidence.answer_kinds import score_directness


@pytest.mark.parametrize(
    ("question", "best", "other"),
    [
        ("What is Orrin?", "Orrin is a river in Velland.", "Orrin is loved by many."),
        ("What is Orrin?", "Orrin is loved by many.", "Many love Orrin."),
        ("What does a heat pump do?", "Heat pumps move heat.", "A heat pump costs 12,000 crowns."),
        ("What does a valve do?", "A valve stops the flow.", "The valve is taken from a box."),
        ("How much power does Tamsil make?", "Tamsil makes 240 gigawatt hours.", "Tamsil makes power."),
        ("When did Tamsil open?", "Tamsil opened in 2011.", "Tamsil had 300 visitors in 2014."),
        ("Why do bees die?", "Bees die because of mites.", "Bees die in winter."),
        ("Where is Tamsil?", "It is located near Velland.", "Tamsil is large."),
        ("Who designed the wall?", "Margrit Oster designed the wall.", "The wall was paid for by Velland."),
        ("열펌프란 무엇인가요?", "열펌프란 열을 옮기는 기계이다.", "열펌프는 비싸다."),
        ("열펌프는 무엇을 하나요?", "열펌프는 집을 데운다.", "열펌프는 기계이다."),
        ("전기를 얼마나 생산하나요?", "한 해에 240기가와트시를 생산한다.", "전기를 생산한다."),
        ("탐실은 언제 열었나요?", "탐실은 2011년에 열었다.", "탐실은 크다."),
        ("벌은 왜 죽나요?", "벌은 응애 때문에 죽는다.", "벌은 겨울에 죽는다."),
        ("탐실은 어디에 있나요?", "탐실은 벨란드 북쪽에 있다.", "탐실은 크다."),
        ("방벽은 누가 설계했나요?", "방벽은 오스터가 설계했다.", "방벽은 길다."),
    ],
)
def test_what_is_asked_for_is_more_direct_than_what_is_not(question: str, best: str, other: str) -> None:
    assert score_directness(question, best) > score_directness(question, other)
