"""PubMed's E-utilities: https://www.ncbi.nlm.nih.gov/books/NBK25499/.

Does not search: it gives the papers it was made with, in their order.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from standins.server import Answer, Seen, StandIn, json_answer

KEY = "ncbi-test-0123456789"
SET = """<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle//EN" "https://dtd.example/pubmed.dtd" {entities}>
<PubmedArticleSet><?note?>{articles}</PubmedArticleSet>"""
ARTICLE = """<PubmedArticle><MedlineCitation><PMID Version="1">{id}</PMID><Article>
<ArticleTitle>Tides and <i>turbines</i>.</ArticleTitle>{abstract}</Article></MedlineCitation>
<PubmedData><ReferenceList><Reference><ArticleIdList/></Reference></ReferenceList></PubmedData></PubmedArticle>"""


@dataclass(frozen=True)
class Paper:
    """What the stand-in knows of a paper; `abstract` is XML."""

    id: str
    title: str = "Tides and turbines."
    published: str = "2021 May 4"
    abstract: str = (
        '<AbstractText Label="AIM">We study.</AbstractText><AbstractText>It <b>works</b>.</AbstractText>'
    )
    ids: dict[str, str] = field(default_factory=lambda: {"doi": "10.1234/tt.5", "pmc": "PMC7000001"})

    def summary(self) -> dict[str, Any]:
        """As esummary writes it."""
        ids = [{"idtype": "pubmed", "value": self.id}]
        ids += [{"idtype": kind, "value": value} for kind, value in self.ids.items()]
        authors = [{"name": "Writer A", "authtype": "Author"}, {"name": "Other B", "authtype": "Author"}]
        about = {"title": self.title, "pubdate": self.published, "authors": authors}
        return {"uid": self.id, **about, "articleids": ids}

    def article(self) -> str:
        """As efetch writes it."""
        whole = f"<Abstract>{self.abstract}</Abstract>" if self.abstract else ""
        return ARTICLE.format(id=self.id, abstract=whole)


def fields(seen: Seen) -> dict[str, str]:
    """What a form holds."""
    return {name: values[-1] for name, values in parse_qs(seen.body.decode()).items()}


class PubMedServer(StandIn):
    """Gives `rounds` of ids to esearch, one a request and the last for ever; `instead` goes by tool."""

    def __init__(
        self, *rounds: Iterable[Paper], instead: dict[str, Answer] | None = None, entities: str = ""
    ) -> None:
        super().__init__()
        self.rounds = [list(papers) for papers in rounds] or [[]]
        self.known = {paper.id: paper for papers in self.rounds for paper in papers}
        self.instead = instead or {}
        self.entities = entities

    def answer_to(self, seen: Seen) -> Answer:
        """What the tool would say to this form."""
        tool = seen.route.removeprefix("/entrez/eutils/")
        asked = fields(seen)
        assert seen.method == "POST"
        assert asked["db"] == "pubmed"
        if asked.get("api_key", KEY) != KEY:
            return json_answer({"error": "API key invalid", "api-key": asked["api_key"]}, 400)
        if tool in self.instead:
            return self.instead[tool]
        if tool == "esearch.fcgi":
            papers = self.rounds.pop(0) if len(self.rounds) > 1 else self.rounds[0]
            ids = [paper.id for paper in papers][: int(asked["retmax"])]
            return json_answer({"esearchresult": {"count": str(len(papers)), "idlist": ids}})
        found = {i: self.known.get(i) for i in asked["id"].split(",")}
        if tool == "esummary.fcgi":
            rows = {i: p.summary() if p else {"uid": i, "error": "cannot get"} for i, p in found.items()}
            return json_answer({"header": {}, "result": {"uids": list(rows), **rows}})
        articles = "".join(paper.article() for paper in found.values() if paper)
        body = SET.format(entities=self.entities, articles=articles).encode()
        return Answer(200, {"content-type": "text/xml; charset=UTF-8"}, body)
