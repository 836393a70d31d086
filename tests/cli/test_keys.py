"""Keys at a terminal, and a line typed with them."""

import pytest

from fathom.cli.terminal import Key, Keyboard, Typed


def keys(*pieces: bytes) -> list[Key]:
    board = Keyboard()
    return [key for piece in pieces for key in board.feed(piece)]


def text(words: str) -> list[Key]:
    return [Key("text", letter) for letter in words]


def test_letters_arrive_whole_however_they_are_cut() -> None:
    whole = "조력a".encode()
    for place in range(len(whole)):
        assert keys(whole[:place], whole[place:]) == text("조력a")


@pytest.mark.parametrize(
    "pressed", [b"\x1b[A", b"\x1b[B", b"\x1bOP", b"\x1b[15~", b"\x1b[1;5A", b"\x00", b"\x0c"]
)
def test_a_key_that_means_nothing_here_is_not_taken_for_letters(pressed: bytes) -> None:
    assert keys(pressed) == []
    for place in range(1, len(pressed)):
        assert keys(pressed[:place], pressed[place:]) == []


def test_escape_alone_is_a_key_once_nothing_followed() -> None:
    board = Keyboard()
    assert board.feed(b"\x1b") == []
    assert board.settle() == [Key("escape")]
    assert board.settle() == []
    assert board.feed(b"a") == text("a")


def test_pasted_lines_are_one_text_and_no_enter() -> None:
    pasted = b"\x1b[200~silt\nbehind\x1b[31m dams\r\x1b[201~"
    assert keys(pasted[:9], pasted[9:]) == [Key("text", "silt behind dams")]


def test_a_line_is_typed_and_corrected() -> None:
    typed = Typed()
    board = Keyboard()
    for key in board.feed("조력 발전x\x7f silt\x17\x1b[D\x1b[D\x1b[3~".encode()):
        typed = typed.after(key)
    assert typed == Typed("조력 발 ", 4)
    for key in board.feed(b"\x1b[H>\x1b[F<\x1b[D\x1b[C"):
        typed = typed.after(key)
    assert typed == Typed(">조력 발 <", 7)
    assert typed.after(Key("clear")) == Typed("", 0)
    assert Typed().after(Key("backspace")).after(Key("left")) == Typed()
