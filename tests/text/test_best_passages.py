"""The passages a model gets to see fit into their room and stand in the page's order."""

from hypothesis import given
from hypothesis import strategies as st

from fathom.text.ranking import best_passages
from fathom.text.token_count import count_tokens

FILLER = "The harbour board met on a rainy day and spoke about ferries and nothing else at all. "
NEEDLE = "Tidal turbines at Rance make 240 megawatts."


def test_a_short_page_is_seen_whole() -> None:
    assert best_passages("# T\n\nwords", ["What?"], 100) == ["# T\n\nwords"]


def test_what_fits_the_questions_is_chosen_and_keeps_its_order() -> None:
    blocks = [FILLER * 8 for _ in range(12)]
    blocks[9] = f"{NEEDLE} {FILLER * 7}"
    blocks[3] = f"Who built the tidal turbines at Rance? Divers did. {FILLER * 7}"
    seen = best_passages("\n\n".join(blocks), ["What do tidal turbines at Rance make?"], 800)
    text = "\n".join(seen)
    assert NEEDLE in text
    assert text.index("Divers did") < text.index(NEEDLE)
    assert sum(map(count_tokens, seen)) <= 800


@given(
    st.lists(st.sampled_from(["word ", "tidal ", "\n\n", "한국어다. ", "x" * 700, "# H\n"]), max_size=40),
    st.integers(1000, 3000),
)
def test_there_is_never_more_than_there_is_room_for(pieces: list[str], room: int) -> None:
    text = "".join(pieces)
    seen = best_passages(text, ["한국어 tidal?"], room)
    assert sum(map(count_tokens, seen)) <= room
    page = " ".join(text.split())
    assert all(" ".join(passage.split())[:20] in page for passage in seen)


def test_what_stands_beside_the_answer_comes_along_before_what_does_not() -> None:
    blocks = [f"{FILLER * 8}Block {n}." for n in range(12)]
    blocks[6] = f"{NEEDLE} {FILLER * 7}"
    seen = best_passages("\n\n".join(blocks), ["What do tidal turbines at Rance make?"], 700)
    text = "\n".join(seen)
    assert NEEDLE in text
    assert "Block 5." in text or "Block 7." in text
