"""Statements and citations of a report, in the styles that tools and people use."""

import pytest

from fathom.audit.statements import SplitReport, split_report


def cited(report: SplitReport) -> list[tuple[str, list[str]]]:
    """Each checked statement with the addresses it cites."""
    known = {source.id: source.address for source in report.sources}
    return [(one.text, [known[key] for key in one.cites]) for one in report.checked]


A, B, C = "https://a.example/one", "https://b.example/two", "https://c.example/three"
HIGH, DEAR = "The tower is 48 metres high", "It cost 3 million"

STYLES = {
    "inline links": f"{HIGH} ([Archive]({A})). {DEAR} [2]({B}).",
    "links on the words": f"The [tower is 48 metres]({A}) high. {DEAR}, [the town says]({B}).",
    "numbers with a list": f"{HIGH} [1]. {DEAR}.[2]\n\n## References\n\n[1] Tower. {A}\n[2] Cost. {B}",
    "a numbered list": f"{HIGH}[1]. {DEAR}[2].\n\n**Sources:**\n\n1. [Tower]({A})\n2. [Cost]({B})",
    "footnotes": f"{HIGH}.[^1] {DEAR}.[^b]\n\n[^1]: Tower, {A}\n[^b]: {B}",
    "tool marks": f"{HIGH}【1†source】. {DEAR}.【2:0†L3-L9】\n\nSources\n\n1. {A}\n2. {B}",
    "bare addresses": f"{HIGH} ({A}). {DEAR}, see {B}.",
    "raised numbers": f"{HIGH}.¹ {DEAR}².\n\n# Notes\n\n¹ {A}\n² {B}",
    "reference links": f"{HIGH} [[1]]({A}). It cost [3 million][x].\n\n[x]: {B}",
    "a line of sources": f"{HIGH}.\nSource: {A}\n\n{DEAR}.\n\n**Sources:** [Accounts]({B})",
    "links behind sentences": f"{HIGH}. [Archive]({A})\n\n- {DEAR}. [Accounts of the town]({B})",
    "a list in one line": f"{HIGH} [1]. {DEAR} [2].\n\n**Citations:** [1] Tower {A} [2] Cost {B}",
}


@pytest.mark.parametrize("style", STYLES)
def test_citations_of_every_style_are_found(style: str) -> None:
    found = cited(split_report(STYLES[style]))
    assert [addresses for _, addresses in found] == [[A], [B]], found
    assert "48 metres" in found[0][0] and "3 million" in found[1][0]
    assert not any(mark in text for text, _ in found for mark in "[]【】\ue010¹²")


def test_korean_reports_are_split_and_cited() -> None:
    text = (
        f"# 탑\n\n탑의 높이는 48미터다[1][2]. 공사비는 300만 원이었다(출처: [기록]({C})).\n\n"
        "이 보고서는 탑을 살펴본다.\n\n"
        f"더 조사해야 한다.\n\n## 참고 문헌\n\n1. 탑 기록. {A}\n2. {B}"
    )
    report = split_report(text)
    assert cited(report) == [("탑의 높이는 48미터다.", [A, B]), ("공사비는 300만 원이었다.", [C])]
    assert [one.kind for one in report.statements] == ["fact", "fact", "transition", "opinion"]


def test_ranges_and_lists_of_numbers_are_opened() -> None:
    sources = "\n".join(f"[{n}] https://s.example/{n}" for n in range(1, 6))
    report = split_report(f"It rose by 4 percent [1, 3-5].\n\nReferences\n{sources}")
    assert [address[-1] for address in cited(report)[0][1]] == ["1", "3", "4", "5"]


def test_opinions_headings_questions_and_transitions_are_set_apart() -> None:
    text = (
        "# The tower\n\nThis report looks at the tower. What does it cost? I think it is too dear. "
        "The reasons are:\n\n"
        "The council should act soon.\n\nThe tower fell in 1950."
    )
    report = split_report(text)
    kinds = [one.kind for one in report.statements]
    assert kinds == ["transition", "question", "opinion", "transition", "opinion", "fact"]
    assert report.title == "The tower"


def test_a_mark_at_the_paragraphs_end_counts_for_all_of_it() -> None:
    text = f"The tower fell in 1950. It was rebuilt by 1960 ([x]({A})).\n\nIt is 48 metres high. {DEAR}."
    found = {one.text: (len(one.cites), one.is_cited_by_paragraph) for one in split_report(text).checked}
    assert found == {
        "The tower fell in 1950.": (1, True),
        "It was rebuilt by 1960.": (1, False),
        "It is 48 metres high.": (0, False),
        "It cost 3 million.": (0, False),
    }


def test_a_mark_that_the_report_does_not_explain_is_a_source_without_address() -> None:
    report = split_report("The tower is 48 metres high【7†source】.")
    assert cited(report) == [("The tower is 48 metres high.", [""])]
    assert report.sources[0].label == "[7]"


def test_table_rows_are_statements_with_their_column_names() -> None:
    text = f"| Tower | Height | Source |\n|---|---|---|\n| Merrow | 48 m | [1] |\n\n## Sources\n[1] {A}"
    assert cited(split_report(text)) == [("Merrow; Height: 48 m", [A])]


def test_two_numbers_for_one_address_are_one_source() -> None:
    text = (
        f"One is 1 m [1]. Two is 2 m [2].\n\n## Sources\n[1] Page. {A}?utm_source=chatgpt.com\n[2] {A}#part"
    )
    assert len(split_report(text).sources) == 1


def test_code_is_no_statement() -> None:
    assert split_report("```\nx = 5 [1]\n```\n").statements == []


def test_a_line_of_sources_below_a_table_means_its_rows() -> None:
    text = f"| Year | Height |\n|--|--|\n| 1901 | 48 m |\n| 1960 | 52 m [old]({B}) |\n\nSource: {A}"
    assert cited(split_report(text)) == [("1901; Height: 48 m", [A]), ("1960; Height: 52 m", [B])]
