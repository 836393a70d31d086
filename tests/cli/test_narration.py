"""What a run tells line by line: in the language of its question, and no more than it knows."""

import re
from pathlib import Path

from standins.commandline import Fathom
from standins.documents import KOREAN_QUESTION, QUESTION

_LATIN = re.compile(r"[A-Za-z]{3,}")


def test_a_korean_run_is_told_in_korean(fathom: Fathom, shelf: Path) -> None:
    told = fathom(KOREAN_QUESTION, "--docs", str(shelf))
    assert told.code == 0, told.err
    steps = [line for line in told.err.splitlines() if line.startswith("[")]
    assert steps
    assert [line for line in steps if _LATIN.search(re.sub(r": .*", "", line))] == []
    assert "라운드 1/" in steps[0]
    assert "물음)" in steps[0]  # why it is taken for a fact
    assert told.err.splitlines()[-1].startswith("보고서: ")


def test_a_korean_plan_and_the_round_after_it_are_told_in_korean(fathom: Fathom, shelf: Path) -> None:
    asked = fathom(KOREAN_QUESTION, "--docs", str(shelf), "--review", "plan")
    assert asked.code == 3, asked.err
    plan = asked.err[asked.err.index("1라운드 계획") :]
    assert "아직 읽은 것이 없습니다. 질문은 하위 질문 1개로 나뉘고" in plan
    assert "생각의 도구: 과학적 방법 (다른 방식이 필요하지 않음)" in plan
    own = [line for line in plan.splitlines() if "fathom" not in line]
    assert [line for line in own if _LATIN.search(line.replace("USD", ""))] == []
    gone_on = fathom("resume", "--approve")
    assert gone_on.code == 0, gone_on.err
    assert "요약: 1라운드를 마친 지금" in gone_on.err


def test_without_a_model_passages_are_told_and_nothing_is_called_verified(
    fathom: Fathom, shelf: Path
) -> None:
    told = fathom(QUESTION, "--docs", str(shelf))
    assert re.search(r"\d passages?; the end", told.err)
    for word in ("claim", "verified", "score", "LIKELY"):
        assert word not in told.err


def test_a_limit_below_that_of_the_depth_says_why(fathom: Fathom, shelf: Path) -> None:
    told = fathom("How high is the barrage?", "--docs", str(shelf), "--depth", "comprehensive")
    assert "round 1/5  a fact (asks for one thing): at most 5 rounds" in told.err


def test_without_a_model_the_pages_of_a_run_are_no_surer_than_its_lines(
    fathom: Fathom, shelf: Path, work: Path
) -> None:
    fathom(QUESTION, "--docs", str(shelf), "--out", "out")
    findings = (work / "out" / "findings.md").read_text("utf-8")
    assert len(findings.splitlines()) > 5
    hypotheses = (work / "out" / "hypotheses.md").read_text("utf-8")
    assert "There are no hypotheses: a model proposes them" in hypotheses
    for page in (findings, (work / "out" / "statistics.md").read_text("utf-8").partition("\n## Rounds")[0]):
        for word in ("LIKELY", "HIGH", "Confirmed", "Uncertain", "Score"):
            assert word not in page


def test_without_a_model_a_search_that_finds_nothing_has_no_score_and_names_each_query_once(
    fathom: Fathom, shelf: Path
) -> None:
    told = fathom("Which comet hit Jupiter?", "--docs", str(shelf))
    assert told.code == 4
    assert "score" not in told.err
    assert "claim" not in told.err
    assert told.out.count("- Which comet hit Jupiter?") == 1


def test_branches_without_a_model_find_passages(fathom: Fathom, shelf: Path) -> None:
    told = fathom(QUESTION, "--docs", str(shelf), "--breadth", "2", "--depth", "1")
    assert "claim" not in told.err
    assert "at most 1 rounds" not in told.err
    assert "b1 round 1/1  back with" in told.err
