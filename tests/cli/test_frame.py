"""The picture of a run: a fixed place for everything, at any size, in cells."""

import io
import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.screen import Screen

from fathom.cli.board import Board, Entry, Foot, Frame, in_view
from fathom.cli.live_view import last_lines
from fathom.cli.text import clock, dollars, thousands
from fathom.events import (
    AnalysisCompleted,
    AnalysisStarted,
    Checkpoint,
    Completed,
    ContentExtracted,
    ExtractionStarted,
    KeyFinding,
    PageName,
    Payload,
    PlanGenerated,
    Progress,
    ReportDraft,
    ReportSection,
    ReportStarted,
    ReportWritten,
    RoundCompleted,
    SearchCompleted,
    SearchStarted,
    Spent,
    Started,
)
from fathom.state import Failure, RunConfig

QUESTION = "조력 발전소는 전기를 어떻게 만드나요?"
KOREAN = "조력 발전소의 경제성과 환경 영향에 관한 장기 연구 보고서, 서해안 사례를 중심으로"
FOOT = Foot("a notice", (("p", "pause"), ("q", "leave")))
SIZES = [(78, 24), (198, 50), (120, 30), (38, 12), (20, 5), (1, 1), (78, 2), (300, 9)]
LOST = [Failure(where="searcher", what="x", why="timed out")]


def told(
    payload: Payload, round_: int = 1, elapsed_s: float = 1.0, branch: str = "", **spent: Any
) -> Progress:
    return Progress(
        kind=payload.kind,
        run_id="3f2a91bc-0000-4000-8000-000000000000",
        round=round_,
        limit=3,
        elapsed_s=elapsed_s,
        at=datetime(2026, 1, 1, tzinfo=UTC),
        branch=branch,
        spent=Spent(**{"budget_usd": 1.0, **spent}),
        payload=payload,
    )


def a_run(language: str = "English") -> Iterator[Progress]:
    """A run with everything in it, one event after another."""
    yield told(Started(question=QUESTION, run_config=RunConfig(threshold=0.7, language=language)))
    yield told(PlanGenerated(strategy="Look.", questions=["a", "b"], queries=[KOREAN, "silt"]))
    yield told(SearchStarted(query=KOREAN))
    yield told(SearchStarted(query="silt"))
    yield told(SearchCompleted(query=KOREAN, hits=8))
    yield told(SearchCompleted(query="silt", hits=0, lost=LOST))
    pages = [
        PageName(title=f"{KOREAN} {n}" if n % 2 else f"Tides {n}", address=f"file://{n}") for n in range(12)
    ]
    yield told(ExtractionStarted(pages=pages))
    for page in pages[:-1]:
        yield told(ContentExtracted(title=page.title, address=page.address, chars=9))
        yield told(AnalysisStarted(title=page.title, address=page.address))
        yield told(AnalysisCompleted(title=page.title, address=page.address, claims=2, rejected=1), calls=4)
    yield told(ContentExtracted(title="", address=pages[-1].address, lost=LOST))
    findings = [KeyFinding(statement=f"{KOREAN} {n}.", tag="LIKELY", confidence=0.6) for n in range(5)]
    yield told(RoundCompleted(round=1, claims=22, new_claims=22, findings=findings, gaps=["nothing on silt"]))
    yield told(ReportStarted(sections=["무엇이 알려져 있나", "Limits"]), 2, 61.0, usd=0.0312, calls=41)
    yield told(ReportSection(title="Limits", sentences=["One."]), 2)
    yield told(ReportWritten(status="complete", markdown="# x"), 2)
    yield told(Completed(status="complete", score=0.8), 2, 62.0)


def boards() -> Iterator[Board]:
    board = Board(run_id="3f2a91bc-0000-4000-8000-000000000000")
    yield board
    for event in a_run():
        board.tell(event)
        yield board


def test_a_page_counts_when_it_is_read_and_a_part_shows_how_far_it_is() -> None:
    board = Board()
    board.tell(told(ExtractionStarted(pages=[PageName(title="Tides", address="file://1")])))
    board.tell(told(ContentExtracted(title="Tides", address="file://1", chars=9)))
    assert board.pages_read == 1
    assert board.lately[-1].endswith("1/1 read: Tides")
    board.tell(told(AnalysisCompleted(title="Tides", address="file://1", claims=2)))
    assert board.pages_read == 1
    assert board.lately[-1].endswith("2 claims in: Tides; 2 in this round")
    board.tell(told(ReportStarted(sections=["Limits"])))
    board.tell(told(ReportDraft(title="Limits", text="One sentence", is_whole=False)))
    assert board.sections["Limits"].outcome == "2 words so far"
    board.tell(told(ReportDraft(title="Limits", text="One sentence.")))
    assert board.sections["Limits"].outcome == "written, being checked"
    board.tell(told(Checkpoint(why="round")))
    assert board.stage == "writing"


def drawn(board: Board, width: int, height: int, foot: Foot = FOOT, encoding: str = "utf-8") -> list[str]:
    """The lines that a terminal of this size is sent, without colours."""
    file = io.TextIOWrapper(io.BytesIO(), encoding)
    console = Console(file=file, width=width, height=height, force_terminal=True)
    lines = console.render_lines(Screen(Frame(board, 75.0, foot)), console.options)
    return ["".join(segment.text for segment in line) for line in lines]


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_every_picture_is_exactly_as_large_as_the_terminal(width: int, height: int) -> None:
    for board in boards():
        lines = drawn(board, width, height)
        assert len(lines) == height
        assert {cell_len(line) for line in lines} == {width}


@given(st.integers(1, 220), st.integers(1, 60), st.text(max_size=80))
def test_no_words_and_no_size_break_the_picture(width: int, height: int, words: str) -> None:
    board = Board(question=words, way=words)
    board.pages = {words: Entry(words, outcome=words), "b": Entry("조력", True, True, words)}
    board.lately.append(words)
    lines = drawn(board, width, height, Foot(words, keys=(("p", "go"),)))
    assert len(lines) == height
    assert {cell_len(line) for line in lines} == {width}
    assert not {unicodedata.category(letter) for line in lines for letter in line} & {"Cc", "Cf", "Cs"}


def test_what_a_page_calls_itself_is_neither_markup_nor_an_escape_sequence() -> None:
    evil = "[bold red]Tides[/] \x1b[31m\x1b]0;owned\x07\u202e here"
    board = Board(question=evil)
    board.pages = {"a": Entry(evil, outcome=evil)}
    board.lately.append(evil)
    text = "\n".join(drawn(board, 198, 50, Foot(evil)))
    assert text.count("[bold red]Tides[/] here") == 4
    assert "owned" not in text


@pytest.mark.parametrize(("width", "height"), [(78, 24), (198, 50), (78, 60)])
def test_everything_keeps_its_place_while_the_run_goes_on(width: int, height: int) -> None:
    titles = ("Score", "Spent", "Claims", "Searches", "Found", "Lately")
    places = set()
    for board in boards():
        lines = drawn(board, width, height)
        places.add(tuple(next((n for n, line in enumerate(lines) if t in line), None) for t in titles))
    assert len(places) == 1


def test_what_a_person_wants_to_know_is_there() -> None:
    board = Board()
    for event in a_run():
        board.tell(event)
        if event.kind == "round completed":
            break
    text = "\n".join(drawn(board, 118, 50))
    for words in (
        QUESTION,
        "Round 1 of 3",
        "weighing what was read",
        "1:15",
        "not judged yet, 0.70 is enough",
        "33 found, 22 verified, 11 refused",
        "Pages  11 read",
        "Searches 2 of 2",
        "✗ silt",
        "lost: timed out",
        "Pages 12 of 12",
        "2 claims, 1 refused",
        "LIKELY 0.60",
        "? nothing on silt",
    ):
        assert words in text, words


@pytest.mark.parametrize(("width", "height"), [(78, 40), (198, 50)])
def test_a_korean_run_is_shown_in_korean(width: int, height: int) -> None:
    board = Board()
    for event in a_run("Korean"):
        board.tell(event)
        shown = " ".join(drawn(board, width, height, Foot(keys=())))
        own = re.sub(r"Fathom|Tides \d+|silt|timed out|nothing on|Limits|3f2a91bc|file://\d+", "", shown)
        assert re.findall("[A-Za-z]{2,}", own) == []
    assert re.findall("[A-Za-z]{2,}", " ".join(last_lines(board))) == []


def test_money_and_tokens_stand_against_the_cap() -> None:
    board = Board()
    board.tell(
        told(
            Started(question="x", run_config=RunConfig()),
            usd=0.25,
            calls=41,
            tokens_in=182_000,
            tokens_out=900,
        )
    )
    line = next(line for line in drawn(board, 78, 24) if line.startswith("Spent"))
    assert line.split() == [
        "Spent",
        "━" * 5 + "─" * 15,
        "$0.2500",
        "of",
        "$1.00",
        "41",
        "calls,",
        "182k",
        "in,",
        "900",
        "out",
    ]


def test_wide_letters_do_not_move_the_last_column() -> None:
    board = Board()
    for event in a_run():
        board.tell(event)
        if event.kind == "round completed":
            break
    lines = drawn(board, 78, 24)
    ends = {line[-8:] for line in lines if "2 claims" in line}
    assert ends == {" refused"}
    korean = next(line for line in lines if "발전소의" in line and "found" in line)
    assert korean.endswith("  8 found")


def test_what_is_in_hand_is_in_view() -> None:
    entries = [Entry(str(n), is_done=n not in {1, 7}) for n in range(9)]
    assert [entry.title for entry in in_view(entries, 4)] == ["1", "6", "7", "8"]
    assert [entry.title for entry in in_view(entries, 1)] == ["1"]
    assert in_view(entries, 9) == entries
    assert in_view(entries, 0) == []


def test_a_run_that_goes_on_keeps_its_clock_and_its_branches_apart() -> None:
    board = Board()
    board.tell(told(Started(question="x", run_config=RunConfig()), elapsed_s=0.0))
    board.tell(told(Checkpoint(why="paused"), elapsed_s=30.0))
    assert board.stage == "paused"
    board.tell(told(Started(question="x", run_config=RunConfig(), is_resumed=True), elapsed_s=0.0))
    board.tell(told(SearchStarted(query="silt"), elapsed_s=5.0, branch="b1", round_=2))
    board.tell(told(SearchStarted(query="silt"), elapsed_s=6.0, branch="b2"))
    assert (board.elapsed_s, board.round, len(board.searches)) == (36.0, 1, 2)


def test_a_terminal_without_unicode_gets_plain_signs() -> None:
    for board in boards():
        board.question = board.way = ""
        board.searches = board.pages = board.sections = {}
        board.findings, board.gaps = [], []
        board.lately.clear()
        assert "".join(drawn(board, 78, 24, encoding="ascii")).isascii()


def test_numbers_read_at_a_glance() -> None:
    assert [clock(s) for s in (0, 59.9, 60, 3599, 3661)] == ["0:00", "0:59", "1:00", "59:59", "1:01:01"]
    assert [dollars(usd) for usd in (0, 0.00012, 0.5, 1, 12.345)] == [
        "$0.00",
        "$0.0001",
        "$0.5000",
        "$1.00",
        "$12.35",
    ]
    assert [thousands(n) for n in (0, 9999, 10_000, 1_234_567)] == ["0", "9,999", "10k", "1,235k"]


def test_what_stays_in_the_terminal_are_two_lines() -> None:
    assert last_lines(list(boards())[-1]) == [
        "Done after 1:02: 2 rounds, 11 pages read, 22 claims verified,",
        "not judged, spent $0.00 of $1.00.",
    ]
