"""A paper that was retracted, and an image, are told with their source."""

from fakes.records import page

from fathom.report import listings
from fathom.report.formats.markdown import source_reference
from fathom.state import Citation
from fathom.text.messages import ENGLISH, KOREAN


def test_a_retracted_paper_is_marked_in_the_report_and_in_the_list_of_sources() -> None:
    paper = page("t", "https://doi.org/10.1/x", title="Tides", retracted="crossref", linked="cites “Waves”")
    cited = Citation(
        number=1,
        page=paper.sha,
        address=paper.address,
        title=paper.title,
        published=None,
        fetched=paper.fetched,
        quotes=[],
        retracted="crossref",
        image="https://a.example/barrage.png",
    )
    assert "**RETRACTED (crossref says so)**" in source_reference(cited, ENGLISH)
    assert "철회된 논문 (crossref" in source_reference(cited, KOREAN)
    # The image was not read: its name is told, and nothing that looks like a source.
    assert "image: a.example/barrage.png" in source_reference(cited, ENGLISH)
    assert "https://a.example" not in source_reference(cited, ENGLISH)
    told = listings.render_sources({"question": "Q", "pages": [paper]})
    assert "RETRACTED (crossref says so)" in told
    assert "cites “Waves”" in told
