"""What is kept in mind: the last rounds, the best claims, and everything on demand; bounded, however much."""

from fakes.records import claim, judgement, query
from hypothesis import given
from hypothesis import strategies as st

from fathom.planning.memory import (
    MAX_RELEVANT_CLAIMS,
    RECENT_ROUNDS,
    choose_relevant_claims,
    drop_similar_claims,
    recall_claims,
    summarize_rounds,
)
from fathom.text.normalization import shorten_line
from fathom.text.ranking import jaccard_similarity, terms
from fathom.text.token_count import count_tokens, fit_entries, fit_lines

WORDS = "silt storms divers weeds whales ropes gulls sand ice barnacles".split()  # noqa: SIM905
MANY = [
    claim(f"{a.title()} near {b} cost {n} euros.", name=f"c{n}", relevance=0.4)
    for n, (a, b) in enumerate((a, b) for a in WORDS for b in WORDS if a != b)
]


def test_working_memory_is_the_last_ten_rounds_in_a_line_each() -> None:
    judgements = [judgement(n, claims=n, found=[f"c{n}"]) for n in range(1, 26)]
    asked = [query(f"query {n}" + " very long" * 99, f"r{n}q1", number=n) for n in range(1, 26)]
    lines = summarize_rounds(judgements, asked, MANY)
    assert len(lines) == RECENT_ROUNDS + 1
    assert lines[0] == "Rounds 1 to 15: 15 queries, 15 claims."
    assert lines[1].startswith("Round 16: asked “query 16 very long")
    assert MANY[25].statement in lines[-1]
    assert max(map(len, lines)) < 500
    assert summarize_rounds([], [], []) == []
    assert summarize_rounds([judgement(1)], [], []) == [
        "Round 1; 1 new claims, score 0.50; found nothing new"
    ]


def test_semantic_memory_takes_what_is_open_and_sure_rather_than_new() -> None:
    old = claim("Turbines last forty years.", name="old", relevance=0.4)
    chosen = choose_relevant_claims([old, *MANY], ["How long do turbines last?"])
    assert len(chosen) == MAX_RELEVANT_CLAIMS
    assert chosen[0] == old
    sure = choose_relevant_claims(MANY, [], {"c42": 0.95})
    assert sure[0].id == "c42"
    assert choose_relevant_claims([], ["x"]) == []
    assert choose_relevant_claims(MANY[:2], ["", " "]) == MANY[:2]


def test_what_says_the_same_is_in_mind_once() -> None:
    copies = [claim("Turbines last forty years.", name=f"k{n}") for n in range(50)]
    assert len(choose_relevant_claims([*copies, MANY[0]], ["turbines"])) == 2


@given(st.lists(st.sets(st.sampled_from(WORDS), max_size=10).map(sorted), max_size=12))
def test_of_claims_that_share_four_words_in_five_the_first_is_kept(said: list[list[str]]) -> None:
    claims = [claim(" ".join(words) or "so", name=f"w{n}") for n, words in enumerate(said)]
    kept = drop_similar_claims(claims, 9)
    bags = [terms(one.statement) for one in kept]
    assert all(jaccard_similarity(a, b) < 0.8 for n, a in enumerate(bags) for b in bags[:n])
    last = claims.index(kept[-1]) if len(kept) == 9 else len(claims)
    refused = [terms(one.statement) for one in claims[:last] if one not in kept]
    assert all(any(jaccard_similarity(words, bag) >= 0.8 for bag in bags) for words in refused)


def test_archival_memory_finds_by_words_in_english_and_korean() -> None:
    korean = claim("시화호 조력발전소는 터빈이 열 개다.", name="ko")
    everything = [*MANY, korean]
    assert recall_claims(everything, ["시화호 조력발전소 터빈"], 3) == [korean]
    assert {"whale", "whales"} & set(recall_claims(everything, ["whales"], 1)[0].statement.lower().split())
    assert (
        recall_claims(everything, ["zebra"], 3)
        == recall_claims([], ["x"], 3)
        == recall_claims(MANY, [], 3)
        == []
    )


def test_what_is_recalled_is_not_told_twice() -> None:
    copies = [claim("Turbines last forty years.", name=f"k{n}") for n in range(3)]
    assert recall_claims(copies, ["turbines"], 3) == copies[:1]
    assert recall_claims(copies, ["turbines"], 3, beside=copies[:1]) == []


def test_lines_fit_and_long_ones_are_cut() -> None:
    lines = [f"line {n} " + "word " * 40 for n in range(100)]
    kept = fit_lines(lines, 500)
    assert 0 < len(kept) < 100
    assert sum(map(count_tokens, kept)) <= 500
    assert fit_lines(["word " * 4000], 10)[0].endswith("…")
    assert fit_lines([], 10) == []
    assert list(fit_entries(dict.fromkeys("abc", "word " * 40), 60)) == ["a"]
    assert shorten_line(" a \n b ") == "a b"
