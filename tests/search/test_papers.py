"""The papers around a paper, and papers that were retracted."""

import pytest
from standins import crossref, openalex
from standins.crossref import CrossrefServer
from standins.openalex import OpenAlexServer
from standins.semantic_scholar import SemanticScholarServer, paper
from standins.server import closed_port

from fathom.search.engines.crossref import Crossref
from fathom.search.engines.openalex import OpenAlex
from fathom.search.engines.semantic_scholar import SemanticScholar
from fathom.search.federated import PaperCatalogue, paper_id
from fathom.search.routing import links_wanted
from fathom.state import Hit, LinkKind, Query

DEAD = f"http://127.0.0.1:{closed_port()}"
SEED = Hit(
    query="q1",
    address="https://doi.org/10.1234/tt.1",
    title="Tides 1",
    snippet="",
    engine="semantic-scholar",
    rank=1,
    doi="10.1234/tt.1",
)


def asking(*links: LinkKind) -> Query:
    return Query(id="q1", text="tides", question="s1", round=1, links=list(links))


async def test_who_cites_a_found_paper_is_followed_where_the_query_wants_it() -> None:
    with SemanticScholarServer([paper(2), paper(1)], known="DOI:10.1234/tt.1") as server:
        catalogue = PaperCatalogue((SemanticScholar(base_url=server.url),))
        hits, failures = await catalogue.complete(asking("citations", "references"), [SEED], 5)
        assert [seen.route.rpartition("/")[2] for seen in server.records] == ["citations", "references"]
        assert await catalogue.complete(asking(), [SEED], 5) == ([SEED], [])
    assert [(hit.address, hit.linked) for hit in hits] == [
        (SEED.address, ""),
        ("https://doi.org/10.1234/tt.2", "cites “Tides 1”"),
    ]
    assert (hits[1].query, failures) == ("q1", [])


async def test_openalex_follows_when_semantic_scholar_is_down() -> None:
    with OpenAlexServer([openalex.work(1)], [openalex.work(3)]) as server:
        links = (SemanticScholar(base_url=DEAD, timeout_s=1), OpenAlex(base_url=server.url))
        server.rounds = [[openalex.work(1), openalex.work(3)]]
        hits, failures = await PaperCatalogue(links).complete(asking("references"), [SEED], 5)
        assert server.records[-1].params["filter"] == "cited_by:W1"
    assert [hit.linked for hit in hits] == ["", "cited by “Tides 1”"]
    assert [failure.where for failure in failures] == ["papers: semantic-scholar"]


async def test_a_paper_that_no_catalogue_knows_costs_nothing_but_a_note() -> None:
    with OpenAlexServer([]) as server:
        catalogue = PaperCatalogue((OpenAlex(base_url=server.url),))
        hits, failures = await catalogue.complete(asking("citations"), [SEED], 5)
    assert (hits, len(failures)) == ([SEED], 1)


async def test_a_retracted_paper_is_marked_and_asked_about_once() -> None:
    gone = crossref.work(1, updated_by=[{"type": "correction"}, {"type": "retraction", "DOI": "10.1/n"}])
    other = SEED.model_copy(update={"address": "https://a.example", "doi": "10.1234/TT.2"})
    with CrossrefServer([gone, crossref.work(2, updated_by=[{"type": "correction"}])]) as server:
        catalogue = PaperCatalogue(retractions={"crossref": Crossref(base_url=server.url).retracted})
        hits, _ = await catalogue.complete(asking(), [SEED, other], 5)
        again, _ = await catalogue.complete(asking(), [SEED], 5)
        assert len(server.records) == 1
    assert [hit.retracted for hit in [*hits, *again]] == ["crossref", "", "crossref"]


async def test_openalex_tells_when_crossref_is_down_and_nobody_is_told_twice() -> None:
    with OpenAlexServer([openalex.work(1, is_retracted=True)]) as server:
        checks = {
            "crossref": Crossref(base_url=DEAD, timeout_s=1).retracted,
            "openalex": OpenAlex(base_url=server.url).retracted,
        }
        hits, failures = await PaperCatalogue(retractions=checks).complete(asking(), [SEED], 5)
    assert ([hit.retracted for hit in hits], failures) == (["openalex"], [])


async def test_that_retractions_are_not_known_is_told() -> None:
    checks = {"crossref": Crossref(base_url=DEAD, timeout_s=1).retracted}
    hits, (failure,) = await PaperCatalogue(retractions=checks).complete(asking(), [SEED], 5)
    assert (hits, failure.what) == ([SEED], "retractions")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Which later papers build on the transformer paper?", ["citations"]),
        ("Which studies did the paper on tidal lagoons cite as references?", ["citations", "references"]),
        ("이 논문을 인용한 후속 연구는 무엇인가?", ["citations"]),
        ("틱달 라군 논문의 선행 연구", ["references"]),
        ("How much does tidal power cost?", []),
        ("When was the town founded, and on what is it built on?", []),
    ],
)
def test_a_question_asks_for_papers_around_a_paper_or_does_not(text: str, wanted: list[LinkKind]) -> None:
    assert links_wanted(text) == wanted


def test_catalogues_know_papers_by_doi_or_by_their_number_at_arxiv() -> None:
    assert paper_id(SEED) == "DOI:10.1234/tt.1"
    at_arxiv = SEED.model_copy(update={"address": "https://arxiv.org/abs/2101.00001v2"})
    assert paper_id(at_arxiv) == "ARXIV:2101.00001"
    assert paper_id(SEED.model_copy(update={"doi": ""})) == ""
