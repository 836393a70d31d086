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


def rules_of(report: SplitReport) -> dict[str, tuple[int, str]]:
    """How many sources each checked statement has, and by which rule."""
    return {one.text: (len(one.cites), one.cited_by if one.cites else "") for one in report.checked}


def test_a_mark_also_means_the_sentences_just_before_it() -> None:
    text = (
        f"The tower fell in 1950. It was rebuilt by 1960 ([x]({A})). It cost 5 million. {DEAR} ([y]({B})). "
        "It is 48 metres high.\n\n- The lamp is red. It turns once a minute. [z](https://z.example/)\n"
    )
    assert rules_of(split_report(text)) == {
        "The tower fell in 1950.": (1, "next"),
        "It was rebuilt by 1960.": (1, "own"),
        "It cost 5 million.": (1, "next"),
        f"{DEAR}.": (1, "own"),
        "It is 48 metres high.": (0, ""),
        "The lamp is red.": (1, "next"),
        "It turns once a minute.": (1, "own"),
    }


def test_a_korean_mark_also_means_the_sentences_just_before_it() -> None:
    text = f"탑은 1950년에 무너졌다. 1960년에 다시 세웠다. [1] 높이는 48미터다.\n\n## 출처\n\n1. 탑 기록. {A}"
    assert rules_of(split_report(text)) == {
        "탑은 1950년에 무너졌다.": (1, "next"),
        "1960년에 다시 세웠다.": (1, "own"),
        "높이는 48미터다.": (0, ""),
    }


SOURCES = f"\n\n## Sources\n\n[1] {A}\n[2] {B}\n[3] {C}\n"
TABLE = "| Tower | Height{} | Built |\n|---|---|---|\n| Merrow | 48 m | 1901 |\n| Osby | 52 m {} | 1950 |"


def test_the_marks_of_a_caption_mean_the_rows_without_marks() -> None:
    for caption in ("**Two towers** [1]", "Table 2: two towers [1]", "*Two towers.* [1]"):
        report = split_report(f"{caption}\n\n{TABLE.format('', '[2]')}{SOURCES}")
        assert [(one.kind, one.cited_by) for one in report.statements] == [
            ("label", "own"),
            ("fact", "caption"),
            ("fact", "own"),
        ]
        assert [addresses for _, addresses in cited(report)] == [[A], [B]]
        assert report.checked[0].context.startswith(("Two towers", "Table 2"))


def test_the_marks_of_a_column_and_of_the_words_above_mean_the_rows() -> None:
    column = split_report(f"{TABLE.format(' [3]', '')}{SOURCES}")
    assert [(one.cites, one.cited_by) for one in column.checked] == [(["s3"], "column")] * 2
    above = split_report(f"The table below compares two towers. [1]\n\n{TABLE.format('', '')}{SOURCES}")
    assert [one.cited_by for one in above.checked] == ["own", "lead-in", "lead-in"]


def test_the_marks_of_a_lead_in_or_a_heading_mean_what_is_below() -> None:
    text = "It was dear for two reasons [1]:\n\n- Stone cost 2 million.\n- Work cost 1 million [2]."
    report = split_report(f"{text}\n\n## Height [3]\n\nThe tower is 48 metres high.{SOURCES}")
    assert [(one.cites, one.cited_by) for one in report.checked] == [
        (["s1"], "own"),
        (["s1"], "lead-in"),
        (["s2"], "own"),
        (["s3"], "heading"),
    ]
    assert report.checked[1].context == "It was dear for two reasons:"


def test_the_label_of_a_row_that_goes_on_is_that_of_the_row_above() -> None:
    rows = "| About | They say | Sources |\n|---|---|---|\n| Height | 48 m | [1] |\n|  | 52 m | [2] |"
    assert [one.text for one in split_report(rows + SOURCES).checked] == [
        "Height; They say: 48 m",
        "Height; They say: 52 m",
    ]


def test_marked_inferences_and_calculations_are_known_as_such() -> None:
    text = (
        "The tower is dear.† [1] It cost 3 million. [1][a] It leans. [2]‡ It may fall.† [1][2]\n\n"
        "† Inferred from the sources named. ‡ Sources disagree. A letter: calculated, see below.\n\n"
        "## Calculations\n\n- [a] 2 million + 1 million = 3 million, figures from [1], [2]"
    )
    report = split_report(text + SOURCES)
    assert [(one.text, one.nature, one.cites) for one in report.checked] == [
        ("The tower is dear.", "inference", ["s1"]),
        ("It cost 3 million.", "calculation", ["s1", "s2"]),
        ("It leans.", "stated", ["s2"]),
        ("It may fall.", "inference", ["s1", "s2"]),
        ("2 million + 1 million = 3 million", "calculation", ["s1", "s2"]),
    ]
    assert report.checked[1].calculation == "2 million + 1 million = 3 million"
    assert not any("Inferred" in one.text for one in report.statements)


def test_a_sentence_may_say_what_the_dagger_means() -> None:
    for told in ("Conclusions of this report are marked †.", "이 보고서의 결론에는 † 표시가 있습니다."):
        report = split_report(f"The tower is dear.† [1]\n\n## Notes on this report\n\n- {told}{SOURCES}")
        assert report.checked[0].nature == "inference"


def test_a_paragraph_that_begins_as_a_reading_of_its_author_concludes() -> None:
    own = "Our reading: the tower is dear. It will fall. [1]"
    told = f"It cost 3 million. [1]\n\n{own}\n\n## Sources\n\n1. Tower. {A}\n"
    report = split_report(told)
    assert [one.nature for one in report.checked] == ["stated", "inference", "inference"]


def test_a_dagger_that_means_something_else_is_no_inference() -> None:
    report = split_report("Sales rose by 4 percent.† [1]\n\n† Preliminary figures." + SOURCES)
    assert [(one.text, one.nature) for one in report.checked] == [("Sales rose by 4 percent.", "stated")]


def test_a_bold_label_is_set_apart_and_a_bold_sentence_is_not() -> None:
    text = "**사전 추정(2023년).** 높이는 48미터다[1].\n\n**The tower fell in 1950.** It was rebuilt [2]."
    report = split_report(text + SOURCES)
    assert [(one.kind, one.text) for one in report.statements] == [
        ("label", "사전 추정(2023년)."),
        ("fact", "높이는 48미터다."),
        ("fact", "The tower fell in 1950."),
        ("fact", "It was rebuilt."),
    ]
    assert report.statements[1].context == "사전 추정(2023년)."


def test_a_number_that_is_part_of_the_sentence_leaves_the_name_of_its_source() -> None:
    report = split_report(
        f"연구는 오래되었고, [1]는 비전문가의 글이다.\n\n## 출처\n\n[1] 탑 이야기 (tower.md)\n[2] {B}"
    )
    assert report.checked[0].text == "연구는 오래되었고, “탑 이야기”는 비전문가의 글이다."
    assert report.sources[0].address == "tower.md"
    english = split_report(f"[1] argues that the tower leans.\n\nSources\n\n[1] The leaning tower. {A}")
    assert english.checked[0].text == "“The leaning tower” argues that the tower leans."


def test_files_of_a_source_list_have_their_address_and_no_part_of_it_in_the_label() -> None:
    text = "It is high. [1]\n\n## Sources\n\n1. Towers, the county, published 1901. <file:///shelf/towers.md>"
    source = split_report(text).sources[0]
    assert (source.label, source.address) == (
        "Towers, the county, published 1901",
        "file:///shelf/towers.md",
    )


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


def test_a_column_mark_means_its_cells_without_marks_beside_marked_ones() -> None:
    rows = "| 2023 | 351 [1] | 6 million |\n| 2024 | 378 | 2 million |"
    text = f"| Year | Ships | Result [2] |\n|---|---|---|\n{rows}"
    found = [(one.cites, one.cited_by) for one in split_report(text + SOURCES).checked]
    assert found == [(["s1", "s2"], "own"), (["s2"], "column")]


def test_bylines_and_lead_ins_are_no_statements() -> None:
    byline = "*Prepared by an assistant on 3 March 2026*"
    text = f"{byline}\n\nThree causes are named:\n\n- Fares fell by 6 crowns [1]."
    kinds = [(one.kind, one.text) for one in split_report(text + SOURCES).statements]
    assert kinds == [
        ("label", "Prepared by an assistant on 3 March 2026"),
        ("transition", "Three causes are named:"),
        ("fact", "Fares fell by 6 crowns."),
    ]
    advice = split_report("I would recommend that the council keep the fare.")
    assert [one.kind for one in advice.statements] == ["opinion"]


def test_code_is_no_statement() -> None:
    assert split_report("```\nx = 5 [1]\n```\n").statements == []


def test_a_line_of_sources_below_a_table_means_its_rows() -> None:
    text = f"| Year | Height |\n|--|--|\n| 1901 | 48 m |\n| 1960 | 52 m [old]({B}) |\n\nSource: {A}"
    assert cited(split_report(text)) == [("1901; Height: 48 m", [A]), ("1960; Height: 52 m", [B])]
