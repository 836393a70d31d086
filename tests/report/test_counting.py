"""One thing is told as one."""

from fathom.report.words import ENGLISH, KOREAN, counted


def test_one_is_told_as_one_and_several_as_several() -> None:
    assert ENGLISH.counted(ENGLISH.rejected, 1, "x") == "1 claim was dropped: x."
    assert ENGLISH.counted(ENGLISH.rejected, 11, "x") == "11 claims were dropped: x."
    assert ENGLISH.counted(ENGLISH.sentences_marked, 1, "x") == "1 sentence is marked: x."
    assert KOREAN.counted(KOREAN.rejected, 1, "x") == "주장 1개를 버렸음: x."
    assert (counted(1, "page"), counted(0, "page")) == ("1 page", "0 pages")
