"""Whole runs over sources that agree, copy each other, and disagree."""

import re
from pathlib import Path

import pytest
from standins.documents import written
from standins.model import Model, ModelRequest
from standins.replies import Reply
from standins.working_model import scripted, value

from fathom import DeepResearcher, ResearchRequest, ResearchResult
from fathom.settings import load_settings

pytestmark = pytest.mark.whole

LAGOON = {
    "county.md": """# County notes

The tidal lagoon at Swale has a capacity of 320 megawatts. It was paid for by the county.
""",
    "engineer.md": """# An engineer's diary

The tidal lagoon at Swale has a capacity of 0.32 GW. Divers clean it twice a year.
""",
    "paper.md": """# The harbour paper

The tidal lagoon at Swale has a capacity of 280 megawatts. Fishermen dislike it.
""",
}

KOREAN = {
    "가.md": """# 군청 안내

솔섬 조력발전소의 설비 용량은 254메가와트이다. 발전소는 군이 지었다.
""",
    "나.md": """# 지역 신문

솔섬 조력발전소의 설비 용량은 320메가와트이다. 어민들은 발전소를 반기지 않는다.
""",
}

QUESTION = "What capacity does the tidal lagoon at Swale have?"


async def run(tmp_path: Path, documents: dict[str, str], question: str) -> ResearchResult:
    docs = written(tmp_path / "docs", documents)
    settings = load_settings(home=tmp_path)
    return await DeepResearcher(settings).research(ResearchRequest(query=question, docs=[docs]))


def table(report: str, heading: str) -> list[str]:
    found = re.search(rf"^## {heading}(?: \(.*‡\))?\n\n((?:\|.*\n)+)", report, re.MULTILINE)
    return found.group(1).splitlines() if found else []


async def test_sources_that_disagree_end_in_a_table_with_their_numbers(tmp_path: Path) -> None:
    result = await run(tmp_path, LAGOON, QUESTION)
    rows = table(result.report, "Where sources disagree")
    assert len(rows) == 4
    shas = {c.number: c.page for c in result.citations}
    (entry,) = result.contradictions
    assert (entry.kind, entry.settled_by) == ("number", None)
    assert entry.about == "The tidal lagoon at Swale has a capacity of …"
    for row, side in zip(rows[2:], entry.sides, strict=True):
        assert f"“{side.value}”" in row
        assert [shas[int(n)] for n in re.findall(r"\[(\d+)\]", row)] == sorted(
            side.pages, key=list(shas.values()).index
        )
    assert {side.value for side in entry.sides} <= {"320 megawatts", "0.32 GW", "280 megawatts"}
    assert "280 megawatts" in {side.value for side in entry.sides}
    assert re.search(r"^> The tidal lagoon at Swale has a capacity of 280 megawatts\.", result.report, re.M)
    assert len(re.findall(r"^— .* \[\d\]‡$", result.report, re.M)) == 2
    assert "## Where sources disagree (marked ‡)" in result.report
    quotes = [quote.text for citation in result.citations for quote in citation.quotes]
    assert all(any(side.value in quote for quote in quotes) for side in entry.sides)


async def test_figures_that_agree_in_other_units_are_one_finding_of_two_sources(tmp_path: Path) -> None:
    result = await run(tmp_path, {name: LAGOON[name] for name in ("county.md", "engineer.md")}, QUESTION)
    assert result.contradictions == []
    told = next(f for f in result.findings if len(f.claims) == 2)
    assert (len(told.independent_sources), told.confidence, told.tag) == (2, 0.8, "HIGH")
    assert result.report.count("> The tidal lagoon at Swale") == 1  # what both say is shown once
    assert "disagree" not in result.report


async def test_korean_sources_that_disagree_end_in_a_korean_table(tmp_path: Path) -> None:
    result = await run(tmp_path, KOREAN, "솔섬 조력발전소의 설비 용량은 얼마인가?")
    rows = table(result.report, "출처들이 서로 다르게 말하는 것")
    assert len(rows) == 4
    assert "“254메가와트”" in "".join(rows)
    assert "“320메가와트”" in "".join(rows)
    assert "미해결" in rows[2]
    assert {f.tag for f in result.findings if "용량" in f.statement} == {"CONTRADICTED"}


BRIDGE = "How long is the main span of the Orla Bridge?"

CRACK = "There is a crack in the western tower of the Orla Bridge."

DENIAL = "Correction: There is no crack in the western tower of the Orla Bridge."


async def test_figures_that_are_near_each_other_are_two_findings_in_dispute(tmp_path: Path) -> None:
    span = "The main span of the Orla Bridge is {} metres long."
    result = await run(tmp_path, {"a.txt": span.format(412), "b.txt": span.format(410)}, BRIDGE)
    assert {f.tag for f in result.findings} == {"CONTRADICTED"}
    assert {side.value for side in result.contradictions[0].sides} == {"410 metres", "412 metres"}
    quotes = {c.number: c.quotes[0].text for c in result.citations}
    shown = re.findall(r"^> (.*)\n\n— .* \[(\d+)\]‡$", result.report, re.MULTILINE)
    assert len(shown) == 2
    assert all(quotes[int(number)] == text for text, number in shown)


async def test_a_correction_is_told_first_and_settles_the_dispute_by_name(tmp_path: Path) -> None:
    page = (
        "<html><head><title>{1}</title><meta property='article:published_time' content='{0}'></head>"
        "<body><article><h1>{1}</h1><p>{2}</p></article></body></html>"
    )
    documents = {
        "a.html": page.format("2021-06-10", "Orla Bridge", CRACK),
        "b.html": page.format("2021-06-17", "Correction", f"{DENIAL} An earlier report was wrong."),
    }
    question = "Is there a crack in the western tower of the Orla Bridge?"
    result = await run(tmp_path, documents, question)
    (entry,) = result.contradictions
    assert entry.settled_by == "retraction or correction"
    assert entry.sides[entry.favoured or 0].value.startswith(DENIAL)
    first, second = re.findall(r"^> (.*)$", result.report, re.MULTILINE)[:2]
    assert first.startswith(DENIAL)
    assert second == CRACK
    rows = table(result.report, "Where sources disagree")
    assert any(DENIAL in row and "for this one: retraction or correction" in row for row in rows)


async def test_korean_figures_in_other_words_are_found_to_disagree(tmp_path: Path) -> None:
    documents = {
        "가.txt": "할덴 다리의 주경간 길이는 412미터이다.",
        "나.txt": "할덴 다리의 주경간은 398미터이다.",
    }
    result = await run(tmp_path, documents, "할덴 다리의 주경간 길이는 얼마인가?")
    assert {side.value for side in result.contradictions[0].sides} == {"412미터", "398미터"}


PLAIN = {
    "one.md": "# One\n\nThe old ferry of Merrow crosses the bay without any noise at all.\n",
    "two.md": "# Two\n\nThe old ferry of Merrow wakes the whole bay with its engine.\n",
}


@pytest.mark.parametrize(("relation", "rows"), [("contradicts", 4), ("neither", 0), ("nonsense", 0)])
async def test_what_no_rule_decides_is_ruled_on_in_the_judges_one_call(
    tmp_path: Path, relation: str, rows: int
) -> None:
    def judged(request: ModelRequest) -> Reply:
        keys = re.findall(r"^- (E\d+) \(for", request.user_text, re.MULTILINE)
        rulings = [
            {"claims": own, "why": "noise", "relation": relation, "kind": "other"}
            for own in (keys[:2], ["E1", "E99"])
        ]
        return Reply.give({**value(request), "rulings": rulings})

    docs = written(tmp_path / "docs", PLAIN)
    with Model(scripted(judge=judged)) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        request = ResearchRequest(
            query="Is the ferry of Merrow loud?", docs=[docs], model="stand-in", max_rounds=1
        )
        result = await DeepResearcher(settings).research(request)
    assert len(table(result.report, "Where sources disagree")) == rows


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

KOREAN_HOPS = {
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
        ("한빛조선소를 세운 사람은 어디에서 태어났는가?", KOREAN_HOPS, "통영에서 태어났다"),
    ],
)
async def test_the_report_quotes_the_answer_from_a_page_that_only_another_page_names(
    tmp_path: Path, question: str, books: dict[str, str], answer: str
) -> None:
    result = await asked(tmp_path, question, books)
    assert any(answer in sentence.text for section in result.sections for sentence in section.sentences)


TOWERS = {
    "guide.md": "# The Orla Tower\n\nThe Orla Tower is 330 metres tall. Lifts run from nine to midnight.\n",
    "history.md": "# Building it\n\nWhen it opened in 1889, the Orla Tower stood 312 metres high.\n",
}


@pytest.mark.parametrize("question", ["How tall is the Orla Tower?", "When did the Orla Tower open?"])
async def test_a_figure_that_may_conflict_is_never_left_out_without_a_word(
    tmp_path: Path, question: str
) -> None:
    report = (await run(tmp_path, TOWERS, question)).report
    assert ("330 metres" in report) == ("312 metres" in report)
    assert report.count("“330 metres”") <= 1
