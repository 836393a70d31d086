"""Queries in three families: the web's own words, papers, and what speaks against; English and Korean.

Does not know which query is worth asking.
"""

import re

from fathom.state import Family
from fathom.text.normal import is_korean, one_line
from fathom.text.tokens import STOP_WORDS

_COUNTER = re.compile(
    r"\bcritici[sz](?:m|ms|e|ed|ing)\b|\bcritiques?\b|\bevidence against\b|\blimits? of\b"
    r"|\blimitations?\b"
    r"|\bdebunk\w*|\brefut\w*|\bcounter-?(?:evidence|arguments?|examples?)\b|\bcontroversy\b|\bdrawbacks?\b"
    r"|비판|반박|반론|한계|논란",
    re.IGNORECASE,
)
_ACADEMIC = re.compile(
    r"\bsystematic review\b|\bmeta-?analysis\b|\bpeer.reviewed\b|\bpapers?\b|\bjournal\b"
    r"|\bstud(?:y|ies)\b|\barxiv\b|논문|학술|연구|메타분석",
    re.IGNORECASE,
)
_ASKING = frozenset(
    """happen happens happened work works mean means explain describe tell give list much many does did do
    is are was were can could should would will what which who whom whose why when where how""".split()  # noqa: SIM905
)
_WORD = re.compile(r"\{?\w+\}?(?:[-.'’&/]\w+)*")
# Endings that are never part of the word, unlike 이, 가 or 로.
_SURE_ENDING = re.compile(r"(?<=[가-힣]{2})(?:에서|으로|은|는|을|를|의)$")
_KOREAN_VERB = re.compile(r"(?:나|나요|니까|는가|은가|인가|한가|을까|할까|일까|인지|는지|줘|세요|다)$")
_MOST_WORDS = 10
FORMS: dict[Family, tuple[str, ...]] = {
    "web": ("{}", "{} data and figures", "{} examples"),
    "academic": ("{} systematic review study", "{} peer-reviewed paper", "{} journal article"),
    "counter": ("criticism of {}", "evidence against {}", "limits of {}", "controversy about {}"),
}
KOREAN_FORMS: dict[Family, tuple[str, ...]] = {
    "web": ("{}", "{} 통계", "{} 사례"),
    "academic": ("{} 연구 논문", "{} 학술 자료", "{} 메타분석"),
    "counter": ("{} 비판", "{} 반박 근거", "{} 한계", "{} 논란"),
}


def family_of(text: str) -> Family:
    """The family a query's own words put it in."""
    if _COUNTER.search(text):
        return "counter"
    return "academic" if _ACADEMIC.search(text) else "web"


def named_family(word: str, text: str) -> Family:
    """The family a mind named, if there is one of that name; else by the words."""
    name = word.strip().lower()
    if name.startswith("counter"):
        return "counter"
    if name == "academic":
        return "academic"
    return "web" if name == "web" else family_of(text)


def topic(text: str) -> str:
    """What a question is about, as the words to search with, in their order."""
    words = [word for word in _WORD.findall(one_line(text)) if not _is_empty(word)]
    if is_korean(text):
        if len(words) > 1 and _KOREAN_VERB.search(words[-1]):
            words = words[:-1]
        words = [_SURE_ENDING.sub("", word) for word in words]
    return " ".join(words[:_MOST_WORDS]) or one_line(text).rstrip("?？")


def forms(about: str, family: Family) -> list[str]:
    """The ways to ask about a topic in one family."""
    known = KOREAN_FORMS if is_korean(about) else FORMS
    return [form.format(about) for form in known[family]]


def _is_empty(word: str) -> bool:
    lower = word.lower()
    is_acronym = len(word) > 1 and word.isupper()
    return not is_acronym and (lower in STOP_WORDS or lower in _ASKING)
