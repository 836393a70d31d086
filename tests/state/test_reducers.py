"""Branches may meet in any grouping, and twice: the state does not notice."""

from hypothesis import given
from hypothesis import strategies as st

from fathom.state import Failure, Query
from fathom.state.records import merge_records, unite_lists

few = st.sampled_from("abcd")
queries = st.lists(
    st.builds(Query, id=few, text=few, question=st.just("Q1"), round=st.integers(1, 2)), max_size=6
)
failures = st.lists(st.builds(Failure, where=few, what=few, why=few), max_size=6)
words = st.lists(few, max_size=6)


@given(queries, queries, queries)
def test_records_meet_in_any_grouping(a: list[Query], b: list[Query], c: list[Query]) -> None:
    assert merge_records(merge_records(a, b), c) == merge_records(a, merge_records(b, c))


@given(queries, queries)
def test_records_that_come_twice_are_there_once(a: list[Query], b: list[Query]) -> None:
    once = merge_records(a, b)
    assert merge_records(once, b) == once == merge_records(once, once)
    assert len({q.id for q in once}) == len(once)


@given(failures, failures)
def test_merging_changes_neither_side(a: list[Failure], b: list[Failure]) -> None:
    before = (list(a), list(b))
    assert merge_records(a, b) is not a
    assert (a, b) == before


def test_the_first_keeps_the_place_and_the_last_the_content() -> None:
    old, other, new = (
        Query(id=name, text=text, question="Q1", round=1)
        for name, text in (("x", "old"), ("y", "other"), ("x", "new"))
    )
    assert merge_records([old, other], [new]) == [new, other]


@given(words, words, words)
def test_words_are_united_in_any_grouping_and_only_once(a: list[str], b: list[str], c: list[str]) -> None:
    assert unite_lists(unite_lists(a, b), c) == unite_lists(a, unite_lists(b, c))
    assert unite_lists(unite_lists(a, b), b) == unite_lists(a, b)


def test_a_side_that_was_never_written_is_empty() -> None:
    assert merge_records(None, None) == []
    assert unite_lists(None, ["a"]) == unite_lists(["a"], None) == ["a"]
