"""The research folder: readable, current after each round, nobody else's, and never half written."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from checks.bibtex_reader import read_bibtex
from fakes.records import claim, cost, gap, heading, judgement, page, query, question
from fakes.services import FakePages

from fathom.errors import BadInput, RunStopped
from fathom.events import (
    KeyFinding,
    Payload,
    PlanGenerated,
    Progress,
    ReportChunk,
    RoundCompleted,
    SearchCompleted,
    Spent,
    Started,
)
from fathom.runs import claim_folder as claimed
from fathom.runs.event_stream import EventJournal
from fathom.runs.folder import ResearchFolder
from fathom.runs.round_summary import round_summary
from fathom.state import (
    Contradiction,
    ContradictionSide,
    Failure,
    Finding,
    Hypothesis,
    Outline,
    RunConfig,
    RunState,
)
from fathom.storage.files import PdfStore
from fathom.text.messages import KOREAN

RUN = "0a1b2c3d-0000-4000-8000-000000000000"

SPENT = Spent(usd=0.25, budget_usd=1.0, tokens_in=100, tokens_out=10, calls=3)

TEXT = "The plant makes 240 megawatts."


def folder(place: Path) -> ResearchFolder:
    claimed(place, RUN)
    return ResearchFolder(place, RUN, FakePages({page(TEXT).sha: TEXT}), PdfStore(place / "none"))


def finding(name: str, statement: str, *claims: str, tag: str = "LIKELY", sure: float = 0.6) -> Finding:
    words = {
        "id": name,
        "statement": statement,
        "question": "Q1",
        "claims": list(claims),
        "independent_sources": ["v"],
    }
    return Finding.model_validate({**words, "confidence": sure, "tag": tag})


def known(**words: Any) -> RunState:
    """What a run knows after its first round."""
    source = page(TEXT, title="The plant", doi="10.1/x", author="Jules Verne", published="2020-01-01")
    state: RunState = {
        "question": "How much does it make?",
        "run_config": RunConfig(),
        "questions": [question(1, "How much?")],
        "asked": [query("plant output")],
        "pages": [source, page("other", "https://b.example/y", title="Another [x](http://evil.example)")],
        "claims": [claim(TEXT, "c1", of=TEXT), claim("It may close.", "c2", of="other")],
        "findings": [
            finding("f2", "It may close.", "c2", tag="UNCERTAIN", sure=0.5),
            finding("f1", TEXT, "c1"),
        ],
        "hypotheses": [
            Hypothesis(id="H1", statement="It will grow.", supporting=["c1"], contradicting=["c2"]),
            Hypothesis(id="H2", statement="It is old.", status="set aside", confidence=0.2),
        ],
        "contradictions": [
            Contradiction(
                id="k",
                kind="number",
                question="Q1",
                about="output",
                sides=[
                    ContradictionSide(
                        claims=["c1"], value="240 megawatts", pages=[source.sha], published=[None]
                    ),
                    ContradictionSide(claims=["c2"], value="200 megawatts", pages=["x"], published=[None]),
                ],
            )
        ],
        "judgements": [judgement(1, gaps=[gap()], claims=2, new_claims=2, found=["c1"], spent_usd=0.25)],
        "failures": [Failure(where="reading", what="https://c.example/z", why="it is torn")],
        "costs": [cost()],
    }
    return {**state, **words}  # type: ignore[typeddict-item]


def event(payload: Payload, number: int = 1) -> Progress:
    at = datetime(2026, 5, 4, tzinfo=UTC)
    words = {"kind": payload.kind, "run_id": RUN, "round": number, "limit": 3, "elapsed_s": 1.0, "at": at}
    return Progress.model_validate({**words, "spent": SPENT, "payload": payload})


def over(number: int = 1, **words: Any) -> RoundCompleted:
    given = {
        "findings": [KeyFinding(statement=TEXT, tag="LIKELY", confidence=0.6)],
        "hypotheses": [Hypothesis(id="H1", statement="It will grow.")],
        "gaps": ["Costs are missing"],
        "suggested": ["plant cost"],
        "answered": 0.5,
        "spent_by": {"gpt": 0.2, "tavily": 0.05},
        **words,
    }
    return RoundCompleted(round=number, claims=2, new_claims=1, **given)


def text(place: Path, name: str) -> str:
    return (place / name).read_text("utf-8")


async def test_everything_a_run_knows_is_there_to_be_read(tmp_path: Path) -> None:
    await folder(tmp_path).keep(known(), SPENT)
    found = text(tmp_path, "findings.md")
    assert found.index(f"**LIKELY** (0.60) {TEXT}") < found.index("**UNCERTAIN** (0.50) It may close.")
    assert "## How much?" in found
    assert "### Uncertain" in found
    groups = json.loads(text(tmp_path, "state.json"))["knowledge"]
    assert {name: len(own) for name, own in groups.items()} == {
        "confirmed": 0,
        "uncertain": 2,
        "disproven": 0,
    }
    assert "The plant <https://a.example/x>" in found
    assert "“240 megawatts” / “200 megawatts”: open" in found
    assert "- Costs are missing" in found
    guesses = text(tmp_path, "hypotheses.md")
    assert "- **0.50** H1. It will grow. (since round 1, last weighed in round 1)" in guesses
    assert f"  - for it: {TEXT}" in guesses
    assert "  - against it: It may close." in guesses
    assert guesses.index("## Active") < guesses.index("## Set aside") < guesses.index("It is old.")
    read_pages = text(tmp_path, "sources.md")
    assert (
        "1. The plant <https://a.example/x> (by Jules Verne, published 2020-01-01, DOI 10.1/x" in read_pages
    )
    assert "`c.example/z`: it is torn" in read_pages
    assert "1. The plant" in text(tmp_path, "citations.md")
    assert [entry["kind"] for entry in read_bibtex(text(tmp_path, "citations.bib")).values()] == [
        "article",
        "misc",
    ]
    assert "LIKELY (0.60)" in text(tmp_path, "rounds/001.md")
    assert text(tmp_path, "papers/001-the-plant.txt") == TEXT
    state = json.loads(text(tmp_path, "state.json"))
    assert (state["run"], state["rounds"], state["spent"]["usd"]) == (RUN, 1, 0.25)
    assert state["state"]["claims"][0]["statement"] == TEXT


async def test_words_of_sources_lead_nowhere(tmp_path: Path) -> None:
    await folder(tmp_path).keep(known(), SPENT)
    for name in ("findings.md", "sources.md", "citations.md"):
        assert "evil.example)" not in text(tmp_path, name).replace("]\\(evil.example)", "")
        assert "](http" not in text(tmp_path, name)


async def test_before_anything_is_found_the_files_say_so(tmp_path: Path) -> None:
    bare: RunState = {"question": "Why?", "run_config": RunConfig()}
    await folder(tmp_path).keep(bare, Spent())
    assert "Nothing has been found yet." in text(tmp_path, "findings.md")
    assert "No answer has been proposed yet." in text(tmp_path, "hypotheses.md")
    assert "No source has been read yet." in text(tmp_path, "sources.md")
    assert "Nothing is cited yet." in text(tmp_path, "citations.md")
    assert text(tmp_path, "citations.bib") == ""
    assert not (tmp_path / "report.md").exists()


async def test_a_korean_question_has_a_korean_folder(tmp_path: Path) -> None:
    asked = known(question="온돌은 얼마나 따뜻한가?")
    place = folder(tmp_path)
    await place.keep(asked, SPENT)
    await place.tell(event(over(2), 2))
    assert text(tmp_path, "findings.md").startswith("# 찾은 것: 온돌은 얼마나 따뜻한가?")
    assert "**그럴듯함** (0.60)" in text(tmp_path, "findings.md")
    assert "# 1회차: 온돌은" in text(tmp_path, "rounds/001.md")
    assert "질문의 일부에는 아직 좋은 근거가 없음" in text(tmp_path, "rounds/002.md")
    for name in ("findings.md", "hypotheses.md", "sources.md", "citations.md", "rounds/002.md"):
        for word in ("Found", "Source", "Hypothes", "Round", "Cost so", "since round", "by Jules"):
            assert word not in text(tmp_path, name), name


async def test_a_round_has_a_page_and_the_next_plan_comes_onto_it(tmp_path: Path) -> None:
    place = folder(tmp_path)
    await place.tell(event(over()))
    assert text(tmp_path, "rounds/001.md").splitlines()[2:] == [
        "Found (new claims: 1; in all: 2):",
        "",
        f"- LIKELY (0.60) {TEXT}",
        "",
        "Hypotheses:",
        "",
        "- H1 (0.50) It will grow.",
        "",
        "Next:",
        "",
        "- plant cost",
        "",
        "Missing:",
        "",
        "- Costs are missing",
        "",
        "Some parts of the question still lack good evidence",
        "",
        "Cost so far: 0.2500 of 1.00 USD (gpt 0.2000, tavily 0.0500)",
    ]
    plan = PlanGenerated(strategy="look", questions=[], queries=["plant cost 2026", "plant repairs"])
    await place.tell(event(plan, 2))
    page_text = text(tmp_path, "rounds/001.md")
    assert "- plant cost 2026\n- plant repairs\n" in page_text
    assert "- plant cost\n" not in page_text


async def test_a_plan_after_a_resume_still_finds_the_page_of_its_round(tmp_path: Path) -> None:
    await folder(tmp_path).tell(event(over()))
    plan = PlanGenerated(strategy="look", questions=[], queries=["after the crash"])
    await folder(tmp_path).tell(event(plan, 2))
    assert "- after the crash" in text(tmp_path, "rounds/001.md")


def test_a_summary_has_few_lines_and_no_control_characters() -> None:
    rude = over(findings=[KeyFinding(statement="\x1b[31mred\nline", tag="HIGH", confidence=0.8)] * 5)
    lines = round_summary(rude, SPENT)
    assert len(lines) <= 14
    assert all(line.isprintable() for line in lines)
    assert "높음 (0.80)" in "\n".join(round_summary(rude, SPENT, KOREAN))


async def test_another_runs_folder_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    await folder(tmp_path).keep(known(), SPENT)
    before = _files(tmp_path)
    with pytest.raises(BadInput, match=r"holds run 0a1b2c3d; name another one with --out\."):
        claimed(tmp_path, RUN.replace("0a", "ff"))
    assert _files(tmp_path) == before
    claimed(tmp_path, RUN)


def test_files_that_are_nobodys_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text("my own words")
    with pytest.raises(BadInput, match="no run's"):
        claimed(tmp_path, RUN)


def test_a_folder_of_an_earlier_version_is_known_by_its_report(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json.dumps({"run_id": "ffffffff", "report": "…"}))
    with pytest.raises(BadInput, match="holds run ffffffff"):
        claimed(tmp_path, RUN)


async def test_a_folder_that_is_gone_is_one_sentence(tmp_path: Path) -> None:
    place = replace(folder(tmp_path / "a"), path=tmp_path / "a" / "state.json" / "below")
    for work in (place.keep(known(), SPENT), place.tell(event(over()))):
        with pytest.raises(RunStopped, match=r"The folder .* cannot be written: Not a directory\."):
            await work


async def test_what_has_not_changed_is_not_written_again(tmp_path: Path) -> None:
    place = folder(tmp_path)
    await place.keep(known(), SPENT)
    stamps = _stamps(tmp_path, ["findings.md", "sources.md", "citations.bib"])
    await place.keep(known(), SPENT)
    assert _stamps(tmp_path, ["findings.md", "sources.md", "citations.bib"]) == stamps


def _stamps(place: Path, names: Sequence[str]) -> list[int]:
    return [(place / name).stat().st_ino for name in names]


def _files(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}


async def test_the_report_takes_form_in_a_file_of_its_own(tmp_path: Path) -> None:
    part = heading("c1", title="Output").model_copy(update={"lacks": "figures of 2025", "aim": "How much."})
    await folder(tmp_path).keep(known(outline=Outline(title="The plant", headings=[part])), SPENT)
    told = text(tmp_path, "outline.md")
    assert (
        told.index("The plant") < told.index("## Output") < told.index("figures of 2025") < told.index(TEXT)
    )
    await folder(tmp_path / "korean").keep(known(question="얼마나 만드는가?"), SPENT)
    assert "아직" in text(tmp_path / "korean", "outline.md")


def journal_event(
    payload: Payload, number: int = 1, branch: str = "", usd: float = 0.0, minute: int = 0
) -> Progress:
    return Progress(
        kind=payload.kind,
        run_id="r",
        round=number,
        limit=3,
        elapsed_s=float(minute),
        at=datetime(2026, 5, 4, 3, minute, tzinfo=UTC),
        branch=branch,
        spent=Spent(usd=usd),
        payload=payload,
    )


BEGUN = Started(question="왜?", run_config=RunConfig())


def found(query: str, hits: int = 1) -> SearchCompleted:
    return SearchCompleted(query=query, hits=hits)


def lines(path: Path) -> list[Progress]:
    return [Progress.model_validate_json(line) for line in path.read_text("utf-8").splitlines()]


def test_what_was_told_and_done_again_is_there_once(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    first = EventJournal(path)
    for payload in (BEGUN, found("a"), found("b")):
        assert first.add(journal_event(payload))
    again = EventJournal(path)
    # The search for b was told, but not saved: the resumed run does it again, later and after more work.
    assert again.add(journal_event(BEGUN, minute=5))
    assert not again.add(journal_event(found("b"), usd=0.5, minute=6))
    assert again.add(journal_event(found("c"), minute=7))
    kinds = [one.payload for one in lines(path)]
    assert kinds == [BEGUN, found("a"), found("b"), BEGUN, found("c")]


def test_the_same_words_in_another_round_or_branch_are_another_event(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    EventJournal(path).add(journal_event(found("a")))
    again = EventJournal(path)
    assert again.add(journal_event(found("a"), number=2))
    assert again.add(journal_event(found("a"), branch="b1"))
    assert again.add(journal_event(found("a", hits=2)))


def test_what_one_process_tells_twice_happened_twice(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    journal = EventJournal(path)
    assert journal.add(journal_event(ReportChunk(text="and ")))
    assert journal.add(journal_event(ReportChunk(text="and ")))
    again = EventJournal(path)
    added = [again.add(journal_event(ReportChunk(text=text))) for text in ("and ", "and ", "and ")]
    assert added == [False, False, True]


def test_half_a_line_and_a_line_of_somebody_else_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    EventJournal(path).add(journal_event(found("a")))
    with path.open("a", encoding="utf-8") as file:
        file.write('my own note\n[1]\n{"kind": "search comp')
    again = EventJournal(path)
    assert not again.add(journal_event(found("a")))
    assert again.add(journal_event(found("b")))
    assert path.read_text("utf-8").splitlines()[1:3] == ["my own note", "[1]"]
    assert Progress.model_validate_json(path.read_text("utf-8").splitlines()[3]).payload == found("b")


def test_the_last_round_is_known_again_but_not_that_of_a_branch(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    journal = EventJournal(path)
    over = RoundCompleted(round=2, claims=3, new_claims=1)
    journal.add(journal_event(over, number=2))
    journal.add(journal_event(RoundCompleted(round=7, claims=1, new_claims=1), number=7, branch="b1"))
    last = EventJournal(path).last_round
    assert last is not None
    assert last.payload == over


async def test_what_the_run_remembers_is_in_the_folder_in_three_tiers(tmp_path: Path) -> None:
    await folder(tmp_path).keep(known(), SPENT)
    history = json.loads((tmp_path / "search_history.json").read_text())
    assert [entry["query"] for entry in history] == ["plant output"]
    assert all(entry["pages"] is not None and entry["new_claims"] is not None for entry in history)
    memory = json.loads((tmp_path / "working_memory.json").read_text())
    assert memory["learnings"] == [TEXT, "It may close."]
    archive = (tmp_path / "archival/claims.jsonl").read_text().splitlines()
    assert [json.loads(line)["statement"] for line in archive] == memory["learnings"]
    assert len((tmp_path / "archival/pages.jsonl").read_text().splitlines()) == 2
