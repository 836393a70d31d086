"""How well short texts answer a question."""

import os
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from fathom.text.ranking import jaccard_similarity, score_relevance, stem, terms

TEXTS = [
    "Tidal barrages hold the water of an estuary and drive turbines.",
    "The canteen serves soup on Fridays.",
    "A barrage is expensive to build.",
]


def test_the_text_that_answers_comes_first() -> None:
    (scores,) = score_relevance(["How do tidal barrages drive turbines?"], TEXTS)
    assert scores[0] > scores[2] > scores[1]


def test_korean_is_ranked_by_its_words_whatever_their_endings() -> None:
    texts = ["조력발전소를 지으려면 많은 비용이 든다.", "급식실은 금요일에 국을 준다."]
    (scores,) = score_relevance(["조력발전소의 비용은 얼마인가?"], texts)
    assert scores[0] > 0.5
    assert scores[1] == 0


def test_nothing_to_rank_is_nothing() -> None:
    assert score_relevance(["What is it?"], []) == [[]]
    assert score_relevance([], TEXTS) == []


@given(st.lists(st.text(max_size=30), max_size=4), st.text(max_size=30))
def test_a_score_is_between_0_and_1(texts: list[str], question: str) -> None:
    for row in score_relevance([question, "조력 발전"], texts):
        assert len(row) == len(texts)
        assert all(0 <= score <= 1 + 1e-6 for score in row)


def test_common_endings_do_not_keep_words_apart() -> None:
    assert terms("The turbines are turning") & terms("a turbine turned") == {"turbin", "turn"}
    assert stem("gas") == "gas"
    assert stem("발전소를") == "발전소를"


def test_likeness_is_the_share_of_common_words() -> None:
    assert jaccard_similarity({"a", "b"}, {"b", "c"}) == 1 / 3
    assert jaccard_similarity(set(), {"a"}) == jaccard_similarity(set(), set()) == 0


RANKED = """
from fathom.text.ranking import bm25, score_relevance
words = [f"w{n}" for n in range(40)]
texts = [" ".join(words[n : n + 30 : step]) for n in range(12) for step in (1, 2, 3)]
print(bm25([" ".join(words)], texts), score_relevance(["조력 " + " ".join(words)], texts))
"""


def test_a_score_is_the_same_to_the_last_digit_in_every_process() -> None:
    seeds = [{"PYTHONHASHSEED": str(seed)} for seed in (1, 2, 3)]
    said = {
        subprocess.run(
            [sys.executable, "-c", RANKED],
            env={**os.environ, **seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in seeds
    }
    assert len(said) == 1
