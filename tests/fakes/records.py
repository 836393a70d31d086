"""Records made with one word, and plain stand-ins for everything a node may ask for.

Every fake gives what it was told to give, raises what it was told to raise, and refuses to run dry.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from fathom.state import (
    Claim,
    ClaimDraft,
    Cost,
    EarlierRun,
    Finding,
    Gap,
    Heading,
    Hit,
    Judgement,
    Outline,
    Page,
    Plan,
    Query,
    Quote,
    Rubric,
    Section,
    Sentence,
    SubQuestion,
    ThreadKnowledge,
    ThreadTurn,
    Verdict,
    short_hash,
)
from fathom.state.model_io import ReportPoint, WriteInput

RUBRIC = Rubric(evidence="E1", accuracy=4, relevance=4, completeness=4, consistency=4)

SOUND = Verdict(is_explicit=True, is_same_scope=True, is_not_overstated=True, score=0.9)

DOUBTED = Verdict(is_explicit=False, is_same_scope=True, is_not_overstated=True, score=0.3)


def clock() -> datetime:
    """Always the same moment."""
    return datetime(2025, 6, 1, 12, 0, tzinfo=UTC)


def sha(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def question(number: int = 1, text: str = "") -> SubQuestion:
    return SubQuestion(id=f"Q{number}", text=text or f"What is part {number}?")


def query(text: str = "tidal power", name: str = "r1q1", about: str = "Q1", number: int = 1) -> Query:
    return Query(id=name, text=text, question=about, round=number)


def hit(address: str = "https://a.example/x", rank: int = 1, query: str = "r1q1", **words: Any) -> Hit:
    given = {"title": "A page", "snippet": "words", "engine": "fake", **words}
    return Hit(query=query, address=address, rank=rank, **given)


def page(text: str = "page one", address: str = "https://a.example/x", **words: Any) -> Page:
    given = {"title": "A page", "how": "html", "fetched": "2025-06-01T12:00:00+00:00", **words}
    return Page(sha=sha(text), address=address, chars=len(text), **given)


def quote(text: str = "the plant makes 240 megawatts", of: str = "page one", start: int = 0) -> Quote:
    return Quote(page=sha(of), start=start, end=start + len(text), text=text)


def claim(statement: str = "The plant makes 240 megawatts.", name: str = "c1", **words: Any) -> Claim:
    """A claim that is its quote, unless told otherwise; `of` is the text of its page."""
    quotes = words.pop("quotes", None) or [quote(words.pop("said", statement), words.pop("of", "page one"))]
    given = {"question": "Q1", "verdict": SOUND, "relevance": 0.9, **words}
    return Claim(id=name, statement=statement, quotes=quotes, **given)


def draft(statement: str = "The plant makes power.", **words: Any) -> ClaimDraft:
    """A claim that nobody has verified yet; `of` is the text of its page, `said` its quote there."""
    of, said = words.pop("of", "page one"), words.pop("said", "")
    quotes = [quote(said, of, of.index(said))] if said else [quote(of=of)]
    given = {"question": "Q1", "relevance": 0.9, "quotes": quotes, "page": sha(of), **words}
    return ClaimDraft(id=short_hash(sha(of), statement), statement=statement, **given)


def points(*claims: Claim, tag: str = "LIKELY", sources: int = 1) -> list[ReportPoint]:
    """A finding a claim, in the order given."""
    words = {"confidence": 0.6, "tag": tag, "independent_sources": [f"v{n}" for n in range(sources)]}
    return [
        ReportPoint(
            Finding.model_validate(
                {"id": c.id, "statement": c.statement, "question": c.question, "claims": [c.id], **words}
            ),
            [c],
        )
        for c in claims
    ]


def gap(priority: str = "high", description: str = "Costs are missing") -> Gap:
    return Gap.model_validate(
        {"description": description, "priority": priority, "suggested_query": "cost", "question": "Q1"}
    )


def cost(call: str = "call", usd: float = 0.01) -> Cost:
    return Cost(call=call, role="plan", model="m", tokens_in=10, tokens_out=5, usd=usd)


def judgement(number: int = 1, **words: Any) -> Judgement:
    scores = dict.fromkeys(("coverage", "diversity", "quality", "freshness", "overall"), 0.5)
    given = {"rubric": RUBRIC, "gaps": [], "claims": 1, "new_claims": 1, **words}
    return Judgement(round=number, **scores, **given)


def heading(*claims: str, name: str = "S1", title: str = "What is known") -> Heading:
    return Heading(id=name, title=title, question="Q1", claims=list(claims))


def sentence(text: str, *claims: str, status: str = "supported") -> Sentence:
    return Sentence.model_validate({"text": text, "claims": list(claims), "status": status})


def section_brief(*points: ReportPoint, **words: Any) -> WriteInput:
    """What the writer of a report with one part gets."""
    part = heading(*(claim_id for point in points for claim_id in point.ids))
    outline = Outline(title="T", headings=[part])
    return WriteInput(
        **{"question": "What?", "headings": [part], "points": points, "outline": outline, **words}
    )


def section(*sentences: Sentence, name: str = "S1", title: str = "What is known") -> Section:
    return Section(id=name, title=title, sentences=list(sentences))


def earlier(**words: Any) -> EarlierRun:
    """What an earlier run knew: one page, one claim, one section written from it."""
    given = {
        "pages": [page()],
        "claims": [claim()],
        "questions": [question()],
        "asked": [query()],
        "offered": [],
        "judgements": [judgement()],
        "rulings": [],
        "outline": Outline(title="T", headings=[heading("c1")]),
        "sections": [section(sentence("The plant makes 240 megawatts.", "c1"))],
        **words,
    }
    return EarlierRun(run="0a1b2c3d", ended="2025-05-01", **given)


def known(*turns: str, **words: Any) -> ThreadKnowledge:
    """What a thread knew: these questions, one page and one claim."""
    asked = [
        ThreadTurn(run=f"run{n}", question=text, answer="240 megawatts.", ended="2025-05-01T12:00:00+00:00")
        for n, text in enumerate(turns or ("How strong is the plant?",), 1)
    ]
    given = {"pages": [page()], "claims": [claim()], **words}
    return ThreadKnowledge(turns=asked, **given)


def plan(*queries: str, questions: Sequence[str] = ("What is part 1?",)) -> Plan:
    """A plan whose queries all serve the first sub-question."""
    asked = [SubQuestion(id=f"Q{n}", text=text) for n, text in enumerate(questions, 1)]
    return Plan(
        strategy="look", questions=asked, queries=[query(text, name="", about="Q1") for text in queries]
    )
