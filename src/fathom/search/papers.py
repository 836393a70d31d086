"""Papers beyond a search: who knows a subject best, who cites a paper, whom it cites, what was retracted.

What a query is about is decided by its words alone. What a catalogue does not tell costs no hit.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fathom.errors import ProviderError
from fathom.state import Failure, Hit, LinkKind, Query

_ARXIV = re.compile(r"arxiv\.org/abs/((?:[a-z.-]+/\d{7}|\d{4}\.\d{4,5}))", re.IGNORECASE)
_FOLLOWED = 2  # papers of one search
_MOST_REMEMBERED = 5000
_WORDS: dict[LinkKind, str] = {"citations": "cites", "references": "cited by"}

# For DOIs, which of them were retracted.
RetractionCheck = Callable[[Collection[str]], Awaitable[Collection[str]]]


class LinkSource(Protocol):
    """A catalogue that knows who cites whom; `DOI:…` and `ARXIV:…` are its ids."""

    @property
    def name(self) -> str:
        """The word by which users know it."""

    async def citations(self, paper_id: str, limit: int) -> list[Hit]:
        """Papers that cite this one."""

    async def references(self, paper_id: str, limit: int) -> list[Hit]:
        """Papers that this one cites."""


@dataclass(frozen=True)
class PaperCatalogue:
    """Follows papers and marks retracted ones; catalogues are asked in turn until one answers."""

    links: Sequence[LinkSource] = ()
    retractions: Mapping[str, RetractionCheck] = field(default_factory=dict)  # by the catalogue's name
    known: dict[str, str] = field(default_factory=dict, repr=False)  # DOI: who says it was retracted, or ""

    async def complete(self, query: Query, hits: list[Hit], limit: int) -> tuple[list[Hit], list[Failure]]:
        """The hits, with the papers around them if the query wants those, and retracted ones marked."""
        found, failures = await self._follow(query, hits, limit) if query.links else ([], [])
        marked, lost = await self._mark_retracted([*hits, *found])
        return marked, [*failures, *lost]

    async def _follow(self, query: Query, hits: list[Hit], limit: int) -> tuple[list[Hit], list[Failure]]:
        """The papers around the first ones that a catalogue can name, as hits of the same query."""
        papers = [(paper_id(hit), hit) for hit in hits]
        known, failures = {hit.address for hit in hits}, list[Failure]()
        linked: list[Hit] = []
        for name, paper in [(name, hit) for name, hit in papers if name][:_FOLLOWED]:
            for kind in query.links:
                around, lost = await self._around(name, kind, limit)
                failures += lost
                words = f"{_WORDS[kind]} “{paper.title}”"
                new = [hit for hit in around if hit.address not in known]
                known |= {hit.address for hit in new}
                linked += [hit.model_copy(update={"query": query.id, "linked": words}) for hit in new]
        ranked = enumerate(linked[:limit], start=2)  # behind the paper itself
        return [hit.model_copy(update={"rank": rank}) for rank, hit in ranked], failures

    async def _around(self, name: str, kind: LinkKind, limit: int) -> tuple[list[Hit], list[Failure]]:
        failures: list[Failure] = []
        for source in self.links:
            try:
                ask = source.citations if kind == "citations" else source.references
                return await ask(name, limit), failures
            except ProviderError as error:
                failures.append(
                    Failure(where=f"papers: {source.name}", what=f"{kind} of {name}", why=str(error))
                )
        return [], failures

    async def _mark_retracted(self, hits: list[Hit]) -> tuple[list[Hit], list[Failure]]:
        """The hits, those of retracted papers marked with who says so; each DOI is asked about once."""
        self.known.update({hit.doi.lower(): hit.retracted for hit in hits if hit.doi and hit.retracted})
        asked = list(dict.fromkeys(h.doi.lower() for h in hits if h.doi and h.doi.lower() not in self.known))
        failures: list[Failure] = []
        for who, check in self.retractions.items() if asked else ():
            try:
                gone = {doi.lower() for doi in await check(asked)}
            except ProviderError as error:
                why = f"whether papers were retracted is not known: {error}"
                failures.append(Failure(where=f"papers: {who}", what="retractions", why=why))
                continue
            while len(self.known) > _MOST_REMEMBERED:
                self.known.pop(next(iter(self.known)))
            self.known.update({doi: who if doi in gone else "" for doi in asked})
            failures = []  # another one knew it
            break
        marks = [hit.retracted or self.known.get(hit.doi.lower(), "") for hit in hits]
        return [
            h.model_copy(update={"retracted": m}) if m else h for h, m in zip(hits, marks, strict=True)
        ], failures


def paper_id(hit: Hit) -> str:
    """The name by which catalogues know a paper; nothing, if it is none."""
    if found := _ARXIV.search(hit.address):
        return f"ARXIV:{found[1]}"
    return f"DOI:{hit.doi}" if hit.doi else ""


# Stems of English words, and Korean words as they begin; `~` marks a whole word.
_MEDICINE = """
patient clinical disease disorder syndrome cancer tumor tumour diabet insulin drug dose dosage vaccin therap
treatment symptom diagnos surg infect virus viral bacteri antibiotic mortality placebo randomi epidemi cardi
neuro psychiatr depress pediatr paediatr pregnan obes hypertens stroke dement alzheimer gene~ genom protein
metformin statin nutrition vitamin health~ medical medicine hospital
환자 임상 질환 질병 항암 당뇨 약물 백신 치료 증상 진단 감염 바이러스
항생제 사망률 우울증 임신 비만 고혈압 치매 의학
"""
_EXACT_SCIENCES = """
neural transformer~ transformers~ machine-learning deep-learning language-model llm~ llms~ quantum
cosmolog galax astrophys black-hole exoplanet particle~ boson lattice theorem topolog algebra conjecture
superconduct semiconductor photonic plasma~ gravitation algorithm~ algorithms~ cryptograph robotics
신경망 트랜스포머 기계학습 딥러닝 언어모델 양자역학 우주론 은하 블랙홀 초전도 알고리즘
"""
_SOCIETY = """
econom inflation labor~ labour~ wage inequalit poverty migration election voter democra sociolog
education school teacher histor philosoph linguist literature archaeolog anthropolog policy~
policies~ governance bibliometric
경제 물가 노동 임금 불평등 빈곤 선거 민주주의 사회학 교육 역사 철학 언어학 고고학 인류학 정책
"""
_GREY = """
thesis theses dissertation monograph patent proceedings textbook working-paper google-scholar
학위논문 박사논문 석사논문 특허 단행본 구글-스칼라
"""
# The engine that knows a subject best; a name of an engine's own in a query is such a word too.
SPECIALISTS = {
    "pubmed": f"{_MEDICINE} pubmed medline",
    "arxiv": f"{_EXACT_SCIENCES} arxiv",
    "openalex": f"{_SOCIETY} openalex",
    "google-scholar": _GREY,
}
_CITING = re.compile(
    r"\bcit(?:es?|ed|ing|ations?)\b|\bfollow-?ups?\b|\b(?:builds?|built|building|based) on\b|\binfluenced?\b"
    r"|\blater (?:work|papers|studies)\b|\bsucceed|\breplicat|인용|후속|영향을\s*(?:준|받은|미친)|재현",
    re.IGNORECASE,
)
_CITED = re.compile(
    r"\breferences?\b|\bprior work\b|\bearlier (?:work|papers|studies)\b|\bfoundations?\b|\bseminal\b"
    r"|\borigins? of\b|\bliterature review\b|참고\s*문헌|선행\s*연구|이전\s*연구|기초가\s*된",
    re.IGNORECASE,
)
_PAPER = re.compile(
    r"\bpapers?\b|\bstud(?:y|ies)\b|\barticles?\b|\bpreprints?\b|\bliterature\b|논문|연구|문헌", re.I
)


def specialists_for(query: Query, known: Collection[str], *, is_academic: bool) -> list[str]:
    """The engines whose subject a query is about; outside academic runs only for queries after papers."""
    if not (is_academic or query.family == "academic"):
        return []
    return [name for name in known if name in SPECIALISTS and _PATTERNS[name].search(query.text)]


def links_wanted(text: str) -> list[LinkKind]:
    """Which papers around a paper a question asks for; none, if it does not speak of papers."""
    if not _PAPER.search(text):
        return []
    wanted: list[LinkKind] = ["citations"] if _CITING.search(text) else []
    return [*wanted, "references"] if _CITED.search(text) else wanted


def _pattern(words: str) -> re.Pattern[str]:
    """Any of the words: a stem may go on, but begins where a word begins, unless it is Korean."""
    parts = []
    for word in words.split():
        is_whole = word.endswith("~")
        stem = re.escape(word.removesuffix("~")).replace(r"\-", r"[\s-]?")
        parts.append((rf"\b{stem}\b" if is_whole else rf"\b{stem}") if word.isascii() else stem)
    return re.compile("|".join(parts), re.IGNORECASE)


_PATTERNS = {name: _pattern(words) for name, words in SPECIALISTS.items()}
