"""Other ways to ask when all was asked: another family, another perspective, broader, narrower, other words.

Does not know what was asked before; the number of tries is bounded.
"""

import re
from collections.abc import Iterator, Sequence

from fathom.evidence.facts import names
from fathom.planning.candidates import Theme, made
from fathom.planning.families import topic
from fathom.state import Claim, Query
from fathom.text.normal import is_korean
from fathom.text.ranking import terms

MOST = 40
_LEADS = 6
_BROAD_WORDS = 3


def angles(theme: Theme, findings: Sequence[Claim], asked: Sequence[Query]) -> list[Query]:
    """Queries from other angles, the nearest first."""
    found: list[Query] = []
    for query in _turned(theme, findings, asked):
        found.append(query)
        if len(found) == MOST:
            break
    return found


def broader(text: str) -> str:
    """The topic with its names only, or with its first words."""
    about = topic(text)
    named = [word for word in about.split() if word[:1].isupper()]
    words = named if named and len(named) < len(about.split()) else about.split()[:_BROAD_WORDS]
    return " ".join(words[:_BROAD_WORDS])


def unused_words(findings: Sequence[Claim], asked: Sequence[Query]) -> list[str]:
    """Words that findings use and no query has used: names first, then what is said most relevantly."""
    known = set().union(*(terms(q.text) for q in asked)) if asked else set[str]()
    best = sorted(findings, key=lambda claim: -claim.relevance)[:30]
    words = [name for claim in best for name in names(claim.statement)]
    words += [w for claim in best for w in re.findall(r"[\w-]{4,}|[가-힣]{2,}", topic(claim.statement))]
    fresh = [word for word in dict.fromkeys(words) if terms(word) and not terms(word) & known]
    return fresh[:_LEADS]


def _turned(theme: Theme, findings: Sequence[Claim], asked: Sequence[Query]) -> Iterator[Query]:
    yield from made([], theme)
    about = [*((q.text, q.id) for q in theme.open_questions)] or [(theme.question, "Q1")]
    for text, name in about:
        wide = broader(text)
        overview = "개요" if is_korean(text) else "overview"
        yield _web(wide, name, theme)
        yield _web(f"{wide} {overview}", name, theme)
        for lead in unused_words(findings, asked):
            yield _web(f"{wide} {lead}", name, theme)
            yield _web(f"{topic(text)} {lead}", name, theme)


def _web(text: str, question: str, theme: Theme) -> Query:
    return Query(id="", text=text, question=question, round=theme.round)
