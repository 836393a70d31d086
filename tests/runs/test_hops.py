"""Whole runs over questions whose answer stands on a page that only another page names."""

from pathlib import Path

import pytest
from standins.library import written

from fathom import DeepResearcher, ResearchRequest, ResearchResult
from fathom.settings import load_settings

pytestmark = pytest.mark.whole

_YARDS = ("Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir")
ENGLISH = {
    "yard.md": "# Marrow Point Shipyard\n\nMarrow Point Shipyard was founded in 1931 by Anneke Vorst. "
    "The yard built ferries for the northern islands.\n",
    "vorst.md": "# Anneke Vorst\n\nAnneke Vorst was an engineer and a painter. She studied bridges in Delft. "
    "Anneke Vorst was born in Harlingen and grew up by the harbour.\n",
    **{
        f"{name}.md": f"# {name} Shipyard\n\nThe founder of {name} Shipyard liked the {name.lower()} tree. "
        f"A shipyard at {name} Point repairs boats.\n"
        for name in _YARDS
    },
}
KOREAN = {
    "yard.md": "# 한빛조선소\n\n한빛조선소는 1931년 김도윤이 세웠다. 섬을 오가는 여객선을 만들었다.\n",
    "kim.md": "# 김도윤\n\n김도윤은 기술자이자 화가였다. 다리 설계를 공부했다. 김도윤은 통영에서 태어났다.\n",
    **{
        f"{name}.md": f"# {name}조선소\n\n{name}조선소를 세운 사람은 나무를 좋아했다. {name}조선소를 "
        "세운 사람은 배를 고쳤다.\n"
        for name in ("동백", "소나무", "느티", "은행", "버들", "매화")
    },
}


async def asked(home: Path, question: str, books: dict[str, str]) -> ResearchResult:
    docs = written(home / "docs", books)
    request = ResearchRequest(query=question, docs=[docs], max_sources=4)
    return await DeepResearcher(load_settings(home=home)).research(request)


@pytest.mark.parametrize(
    ("question", "books", "answer"),
    [
        ("Where was the founder of Marrow Point Shipyard born?", ENGLISH, "born in Harlingen"),
        ("한빛조선소를 세운 사람은 어디에서 태어났는가?", KOREAN, "통영에서 태어났다"),
    ],
)
async def test_the_report_quotes_the_answer_from_a_page_that_only_another_page_names(
    tmp_path: Path, question: str, books: dict[str, str], answer: str
) -> None:
    result = await asked(tmp_path, question, books)
    assert any(answer in sentence.text for section in result.sections for sentence in section.sentences)
