"""Charts: only verified figures that can be compared are drawn, with the words of their cells."""

from typing import Any

import pytest
from fakes.full_reports import charted_words, full_result
from lxml import etree  # type: ignore[import-untyped]

from fathom.report.formats.chart import Chart, charts_of, draw_chart
from fathom.report.layout import lay_out_blocks
from fathom.report.rerender import prepare_any
from fathom.state import Block, Heading, Section, Sentence

_SVG = "{http://www.w3.org/2000/svg}"


def cell(text: str, row: int, column: int, **words: Any) -> Sentence:
    is_label = column == 0
    told = {"claims": [] if is_label else ["c1"], "status": "connective" if is_label else "supported"}
    return Sentence.model_validate({"text": text, "row": row, "column": column, **told, **words})


def charts(columns: list[str], *rows: list[str | Sentence]) -> list[Chart]:
    """The charts of a table; a row is its label and the words of its cells."""
    sentences = [
        one if isinstance(one, Sentence) else cell(one, number, place)
        for number, row in enumerate(rows)
        for place, one in enumerate(row)
    ]
    section = Section(
        id="S1", title="x", blocks=[Block(kind="table", title="T", columns=columns)], sentences=sentences
    )
    outline = charted_words()["outline"].model_copy(
        update={"headings": [Heading(id="S1", title="x", question="x", claims=[])]}
    )
    report = prepare_any(full_result(sections=[section], outline=outline, contradictions=[]))
    return [chart for layout in lay_out_blocks(report.sections[0]) for chart in charts_of(layout, report)]


def drawn(chart: Chart) -> etree._Element:
    return etree.fromstring(draw_chart(chart).encode())


def test_a_series_over_years_is_columns_in_order_with_the_words_of_the_cells() -> None:
    (chart,) = charts(["", "2020", "2021", "2022"], ["Passengers", "301,000", "322,500", "367,000"])
    assert chart.is_over_time
    assert chart.labels == ["2020", "2021", "2022"]
    assert [point.value for point in chart.series[0].known] == [301000, 322500, 367000]
    tree = drawn(chart)
    assert [one.text for one in tree.iter(f"{_SVG}text")] == [
        "2020", "301,000", "2021", "322,500", "2022", "367,000",
    ]  # fmt: skip
    heights = [float(one.get("height", "0")) for one in tree.iter(f"{_SVG}rect")]
    assert heights[0] / heights[2] == pytest.approx(301 / 367, abs=0.01)
    assert chart.cited == [1]


def test_a_comparison_in_one_unit_is_bars_also_across_units_of_one_kind() -> None:
    (chart,) = charts(["Plant", "Power"], ["Sihwa", "254 MW"], ["Rance", "0.24 GW"], ["Uldolmok", "1 MW"])
    assert not chart.is_over_time
    assert [point.value for point in chart.series[0].known] == [254e6, 240e6, 1e6]


def test_korean_figures_are_drawn_by_their_values() -> None:
    (chart,) = charts(
        ["노선", "비용"], ["섬", "450만 크로나"], ["강", "725만 크로나"], ["북부", "1,250만 크로나"]
    )
    assert [point.value for point in chart.series[0].known] == [4.5e6, 7.25e6, 12.5e6]


def test_two_series_in_one_unit_stand_beside_each_other_with_a_legend() -> None:
    (chart,) = charts(["", "Won", "Lost"], ["A", "12 %", "3 %"], ["B", "9 %", "4 %"], ["C", "-5 %", "8 %"])
    assert [series.name for series in chart.series] == ["Won", "Lost"]
    assert chart.series[0].known[2].value == -5
    texts = [one.text for one in drawn(chart).iter(f"{_SVG}text")]
    assert texts[:2] == ["Won", "Lost"]
    assert len(list(drawn(chart).iter(f"{_SVG}rect"))) == 2 + 6


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        (["", "2023", "2024"], [["Passengers", "412,000", "478,000"]]),
        (["", "Ferry"], [["Passengers", "412,000"], ["Crew", "14"], ["Decks", "3"]]),
        (["Line", "Opened in"], [["A", "1998"], ["B", "2003"], ["C", "2011"]]),
        (["Line", "Cost"], [["A", "$3 million"], ["B", "4 MW"], ["C", "12 %"]]),
        (["Line", "Share"], [["A", "over 3 %"], ["B", "4 %"], ["C", "12–15 %"]]),
        (["Line", "What"], [["A", "fast"], ["B", "slow"], ["C", "new"]]),
        (["Line", "Share"], [["A", "0 %"], ["B", "0 %"], ["C", "0 %"]]),
    ],
    ids=["two figures", "other things", "years", "other units", "bounds and ranges", "words", "nothing"],
)
def test_what_cannot_be_compared_is_not_drawn(columns: list[str], rows: list[list[str | Sentence]]) -> None:
    assert charts(columns, *rows) == []


def test_a_figure_without_support_is_not_drawn() -> None:
    row: list[str | Sentence] = ["Passengers"]
    row += ["301,000", "322,500", cell("367,000", 0, 3, status="unsupported", claims=[])]
    assert charts(["", "2020", "2021", "2022"], row) == []
    (chart,) = charts(["", "2020", "2021", "2022", "2023"], [*row, "412,000"])
    assert [point and point.text for point in chart.series[0].points] == [
        "301,000",
        "322,500",
        None,
        "412,000",
    ]


def test_labels_are_words_and_long_ones_are_cut() -> None:
    rude = '<script>alert(1)</script> & "a very long name of a line that nobody can read in a picture"'
    (chart,) = charts(["", "Share"], [rude, "3 %"], ["B", "4 %"], ["C", "12 %"])
    tree = drawn(chart)
    assert {etree.QName(one).localname for one in tree.iter()} == {"svg", "title", "text", "rect", "line"}
    assert not [name for one in tree.iter() for name in one.attrib if "href" in name or name.startswith("on")]
    assert rude in (tree.findtext(f"{_SVG}title") or "")
    assert next(tree.iter(f"{_SVG}text")).text.endswith("…")
