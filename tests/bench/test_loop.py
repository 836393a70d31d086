"""The bench of the loop, on fifteen paragraphs: what the first search cannot find, the next ones do."""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
loop: Any = import_module("loop")  # a script, no part of the package
pytestmark = pytest.mark.whole
KEYS = {"recall_1", "recall_2", "recall_3", "searches", "s_per_question", "saved", "lost"}
PARAGRAPHS = [
    ("p1", "Rance barrage", "The Rance barrage holds back the tide. It was designed by Ada Morin."),
    ("p2", "Ada Morin", "Ada Morin grew up in the village of Saltmere, where her mother kept bees."),
    ("p3", "Thorn lighthouse", "The Thorn lighthouse stands on a cliff. Its keeper was Jonas Wick."),
    ("p4", "Jonas Wick", "Jonas Wick wrote a cookbook about soup in 1931, which sold well."),
    ("p5", "Velvet Harbour", "The song Velvet Harbour was first sung by Mira Oduya on a ferry."),
    ("p6", "Mira Oduya", "Mira Oduya speaks four languages and plays the harp. Oduya lives in Porto Vell."),
    ("p7", "가람 조력발전소", "가람 조력발전소를 설계한 기술자는 『윤도현수』이다. 발전소는 바닷가에 있다."),
    ("p8", "윤도현수", "윤도현수는 통영에서 태어나 자랐다. 그의 취미는 낚시이다."),
    *[
        (
            f"x{n}",
            f"Village {n}",
            f"Village number {n} has a barrage of reeds, a school and a designer of hats.",
        )
        for n in range(4)
    ],
    *[
        (f"k{n}", f"마을 {n}", f"마을 {n}에는 발전소와 학교가 있다. 사람들은 고향을 좋아하고 기술자도 많다.")
        for n in range(3)
    ],
]
QUESTIONS = [
    ("In which village did the designer of the Rance barrage grow up?", ["p1", "p2"]),
    ("What did the keeper of the Thorn lighthouse write?", ["p3", "p4"]),
    ("Which instrument does the first singer of Velvet Harbour play?", ["p5", "p6"]),
    ("가람 조력발전소를 설계한 기술자의 고향은 어디인가?", ["p7", "p8"]),
]


def written(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "bench"
    folder.mkdir()
    written(folder, "corpus.jsonl", [{"id": i, "title": t, "text": x} for i, t, x in PARAGRAPHS])
    written(folder, "questions.jsonl", [{"question": q, "gold": g} for q, g in QUESTIONS])
    return folder


async def test_later_rounds_find_what_the_first_search_cannot(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "SOURCES", 2)  # of so few paragraphs, a round of ten would read nearly all
    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        found.append(await loop.measured(corpus, tmp_path / name))
    figures, asked = found[0]
    assert figures.keys() >= KEYS
    assert figures["recall_3"] > figures["recall_1"]
    assert figures["recall_3"] == 100.0
    assert figures["searches"] >= figures["searches_stopping"]
    korean = asked[-1]
    assert korean.recall(3) == 1.0
    # The same again: what was chosen, what was asked, why it stopped.
    assert [(a.evidence, a.searches, a.rule) for a in asked] == [
        (a.evidence, a.searches, a.rule) for a in found[1][1]
    ]


def test_a_sample_is_spread_over_the_file(corpus: Path) -> None:
    every = list(loop.lines(corpus / "questions.jsonl"))
    assert loop.spread(every, 2) == [every[0], every[2]]
    assert loop.spread(every, None) == loop.spread(every, 9) == every
