"""Generate queries in three families (web, academic, counter), in English and Korean."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from typing import Literal

from fathom.evidence.checks import load_table
from fathom.state import Claim, Family, Hypothesis, Query, SubQuestion
from fathom.text.languages import is_korean
from fathom.text.mentions import find_name_words
from fathom.text.normalization import fold_text, one_line
from fathom.text.ranking import terms
from fathom.text.tokens import STOP_WORDS

_ASKING_WORDS = frozenset(
    """happen happens happened work works mean means explain describe tell give list much many does did do
    is are was were can could should would will what which who whom whose why when where how""".split()  # noqa: SIM905
)
_WORD = re.compile(r"\{?\w+\}?(?:[-.'’&/]\w+)*")

# Particles that are never part of the word, unlike 이, 가 or 로.
_SURE_ENDING = re.compile(r"(?<=[가-힣]{2})(?:에서|으로|은|는|을|를|의)$")
_KOREAN_VERB = re.compile(r"(?:나|나요|니까|는가|은가|인가|한가|을까|할까|일까|인지|는지|줘|세요|다)$")
_MAX_TOPIC_WORDS = 10


def detect_family(text: str) -> Family:
    """Detect the family from a query's words."""
    telling: tuple[Family, ...] = ("counter", "academic")
    return next((family for family in telling if _load_signs(family).search(text)), "web")


@cache
def _load_signs(family: Family) -> re.Pattern[str]:
    return re.compile("|".join(load_table("queries")["signs"][family]), re.IGNORECASE)


def _load_words(table: Literal["forms", "endings"], kind: str, text: str) -> list[str]:
    """Return the forms or endings of a kind in the language of a text."""
    words: list[str] = load_table("queries")[table]["ko" if is_korean(text) else "en"][kind]
    return words


def mark_academic(query: Query) -> Query:
    """Return a query that was worded without a family as one for papers, if its words ask for them."""
    is_academic = query.family == "web" and detect_family(query.text) == "academic"
    return query.model_copy(update={"family": "academic"}) if is_academic else query


def read_family(word: str, text: str) -> Family:
    """Return the family a model named, if it exists; else detect it from the words."""
    name = word.strip().lower()
    if name.startswith("counter"):
        return "counter"
    if name == "academic":
        return "academic"
    return "web" if name == "web" else detect_family(text)


def extract_topic(text: str) -> str:
    """Return the topic of a question as search words, in their order."""
    words = [word for word in _WORD.findall(one_line(text)) if not _is_filler(word)]
    if is_korean(text):
        if len(words) > 1 and _KOREAN_VERB.search(words[-1]):
            words = words[:-1]
        words = [_SURE_ENDING.sub("", word) for word in words]
    return " ".join(words[:_MAX_TOPIC_WORDS]) or one_line(text).rstrip("?？")


def family_queries(about: str, family: Family) -> list[str]:
    """Return the queries for a topic in one family."""
    return [form.format(about) for form in _load_words("forms", family, about)]


def _is_filler(word: str) -> bool:
    lower = word.lower()
    is_acronym = len(word) > 1 and word.isupper()
    return not is_acronym and (lower in STOP_WORDS or lower in _ASKING_WORDS)


@lru_cache(maxsize=512)
def normalize_query(text: str) -> str:
    """Normalize a query for comparison."""
    return fold_text(text).text.strip(" ?.!？。")


MIN_CANDIDATES = 10
_FAMILIES: tuple[Family, ...] = ("web", "academic", "counter")


@dataclass(frozen=True)
class QueryCandidate:
    """A query that may be asked, and where it comes from."""

    query: Query
    origin: Literal["model", "code"] = "model"


@dataclass(frozen=True)
class QueryTheme:
    """What code can generate queries from."""

    question: str
    round: int
    open_questions: Sequence[SubQuestion]  # askable now, most wanted first
    perspectives: Sequence[str] = ()
    found_names: Sequence[str] = ()  # that findings brought up and the question does not have


def collect_candidates(own: Sequence[Query], theme: QueryTheme) -> list[QueryCandidate]:
    """Return the model's own queries, filled up to ten from three families without repeats."""
    found: dict[str, QueryCandidate] = {}
    for query in own:
        found.setdefault(normalize_query(query.text), QueryCandidate(query))
    for query in generate_queries(own, theme):
        if len(found) >= MIN_CANDIDATES:
            break
        found.setdefault(normalize_query(query.text), QueryCandidate(query, "code"))
    return [candidate for text, candidate in found.items() if text]


def generate_queries(own: Sequence[Query], theme: QueryTheme) -> Iterator[Query]:
    """Generate queries in code, the most specific first: with a name that was found, where there is one."""
    for question, name in zip(theme.open_questions, theme.found_names, strict=False):
        yield _make_query(f"{extract_topic(question.text)} {name}", question.id, "web", theme)
    for question in theme.open_questions:
        for family in _FAMILIES:
            text = family_queries(extract_topic(question.text), family)[0]
            yield _make_query(text, question.id, family, theme)
    for perspective in theme.perspectives:
        text = f"{extract_topic(theme.question)} {extract_topic(perspective)}"
        yield _make_query(text, _perspective_question(perspective, theme), "web", theme)
    for query in [q for q in own if q.family == "web"][:3]:
        for family in _FAMILIES[1:]:
            text = family_queries(extract_topic(query.text), family)[0]
            yield _make_query(text, query.question, family, theme)
    asked = [*(q.text for q in theme.open_questions), theme.question]
    ids = [*(q.id for q in theme.open_questions), _first_id(theme)]
    for text, name in zip(asked, ids, strict=True):
        for family in _FAMILIES:
            for form in family_queries(extract_topic(text), family):
                yield _make_query(form, name, family, theme)


def _perspective_question(perspective: str, theme: QueryTheme) -> str:
    own = (q.id for q in theme.open_questions if q.perspective == perspective)
    return next(own, _first_id(theme))


def _first_id(theme: QueryTheme) -> str:
    return theme.open_questions[0].id if theme.open_questions else "Q1"


def _make_query(text: str, question: str, family: Family, theme: QueryTheme) -> Query:
    return Query(id="", text=" ".join(text.split()), question=question, round=theme.round, family=family)


MAX_ANGLES = 40
_MAX_UNUSED_WORDS = 6
_BROAD_WORDS = 3
_BEST_FINDINGS = 30


def queries_from_other_angles(
    theme: QueryTheme, findings: Sequence[Claim], asked: Sequence[Query]
) -> list[Query]:
    """Return queries from other angles, the nearest first."""
    return list(islice(_angle_variants(theme, findings, asked), MAX_ANGLES))


def broaden_topic(text: str) -> str:
    """Return the topic reduced to its names or first words."""
    about = extract_topic(text)
    named = [word for word in about.split() if word[:1].isupper()]
    words = named if named and len(named) < len(about.split()) else about.split()[:_BROAD_WORDS]
    return " ".join(words[:_BROAD_WORDS])


def find_new_names(question: str, findings: Sequence[Claim]) -> list[str]:
    """Return names that the best findings brought up and the question does not have, best first."""
    known = terms(question)
    best = sorted(findings, key=lambda claim: -claim.relevance)[:_BEST_FINDINGS]
    names = dict.fromkeys(name for claim in best for name in find_name_words(claim.statement))
    return [name for name in names if terms(name) and not terms(name) & known]


def find_unused_words(findings: Sequence[Claim], asked: Sequence[Query]) -> list[str]:
    """Return words of findings that no query used: names first, then by relevance."""
    known = set().union(*(terms(q.text) for q in asked)) if asked else set[str]()
    best = sorted(findings, key=lambda claim: -claim.relevance)[:_BEST_FINDINGS]
    words = [name for claim in best for name in find_name_words(claim.statement)]
    words += [
        w for claim in best for w in re.findall(r"[\w-]{4,}|[가-힣]{2,}", extract_topic(claim.statement))
    ]
    fresh = [word for word in dict.fromkeys(words) if terms(word) and not terms(word) & known]
    return fresh[:_MAX_UNUSED_WORDS]


def _angle_variants(theme: QueryTheme, findings: Sequence[Claim], asked: Sequence[Query]) -> Iterator[Query]:
    yield from generate_queries([], theme)
    about = [*((q.text, q.id) for q in theme.open_questions)] or [(theme.question, "Q1")]
    for text, name in about:
        wide = broaden_topic(text)
        for form in _load_words("forms", "overview", text):
            yield _make_query(form.format(wide), name, "web", theme)
        for lead in find_unused_words(findings, asked):
            yield _make_query(f"{wide} {lead}", name, "web", theme)
            yield _make_query(f"{extract_topic(text)} {lead}", name, "web", theme)


_MAX_CORE_WORDS = 9


def counter_queries(
    hypotheses: Sequence[Hypothesis], claims: Sequence[Claim], asked: Sequence[Query], most: int
) -> list[str]:
    """Return queries for counter-evidence to the leading hypothesis, else to the strongest claim."""
    strongest = sorted(claims, key=lambda c: (-c.relevance * c.verdict.score, c.id))
    statements = [*(h.statement for h in hypotheses), *(c.statement for c in strongest)]
    return _drop_asked(_with_endings(statements, "counter"), asked, most)


def angle_queries(question: str, claims: Sequence[Claim], asked: Sequence[Query], most: int) -> list[str]:
    """Return queries that take another angle on the question or on what is known."""
    strongest = sorted(claims, key=lambda c: (-c.relevance, c.id))
    statements = [question, *(c.statement for c in strongest)]
    return _drop_asked(_with_endings(statements, "angle"), asked, most)


def _with_endings(statements: Sequence[str], kind: str) -> Iterator[str]:
    for statement in dict.fromkeys(statements):
        if core := _core_words(statement):
            yield from (f"{core} {ending}" for ending in _load_words("endings", kind, statement))


def _drop_asked(offered: Iterator[str], asked: Sequence[Query], most: int) -> list[str]:
    known = {normalize_query(query.text) for query in asked}
    return list(islice((text for text in offered if normalize_query(text) not in known), most))


def _core_words(statement: str) -> str:
    """Return the statement's content words, in order."""
    words = [w.strip(".,;:!?()[]“”\"'") for w in statement.split()]
    telling = [w for w in words if w and w.casefold() not in STOP_WORDS]
    return " ".join(telling[:_MAX_CORE_WORDS])
