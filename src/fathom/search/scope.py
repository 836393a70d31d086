"""What a search is limited to: hosts, dates, a language.

Does not know engines. Each engine passes on what its service understands; the rest is sorted out here.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from fathom.http.urls import parse_host
from fathom.state import Hit
from fathom.text.tokens import STOP_WORDS

T = TypeVar("T")
_EARLIEST = date(1990, 1, 1)


@dataclass(frozen=True)
class Scope:
    """Limits of one run; empty means none."""

    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    language: str | None = None

    def days(self, today: date, between: str, form: str = "%Y-%m-%d") -> str | None:
        """The first and the last day, for services that want both; None without any limit."""
        if not (self.since or self.until):
            return None
        return f"{self.since or _EARLIEST:{form}}{between}{self.until or today:{form}}"

    def admits(self, hit: Hit) -> bool:
        """Whether a hit is inside the limits; one without a date is not held to them."""
        if not hit.address.lower().startswith(("https:", "http:")):
            return self._is_timely(hit.published)  # a file or a server's own document is in no domain
        host = parse_host(hit.address)
        if self.include_domains and not any(_is_within(host, d) for d in self.include_domains):
            return False
        if any(_is_within(host, d) for d in self.exclude_domains):
            return False
        return self._is_timely(hit.published)

    def _is_timely(self, published: str | None) -> bool:
        try:
            day = date.fromisoformat((published or "")[:10])
        except ValueError:
            return True
        return (self.since is None or day >= self.since) and (self.until is None or day <= self.until)


def _is_within(host: str, domain: str) -> bool:
    wanted = bare_domain(domain)
    return host.removeprefix("www.") == wanted or host.endswith(f".{wanted}")


def add_site_operators(text: str, scope: Scope, *, max_chars: int = 2000, max_words: int = 300) -> str:
    """The query and its hosts within the limits; the query's own words keep at least half the room."""
    marks = _site_operators(scope, max_chars // 2, max_words // 2)
    room_chars = max_chars - sum(len(mark) + 1 for mark in marks)
    room_words = max_words - sum(len(mark.split()) for mark in marks)
    words = " ".join(text.split()[:room_words])[:room_chars].rstrip()
    return " ".join([words, *marks]).strip()


def _site_operators(scope: Scope, max_chars: int, max_words: int) -> list[str]:
    """All hosts to look in or none, for a part would hide the others; hosts to avoid while they fit."""
    wanted = " OR ".join(f"site:{bare_domain(domain)}" for domain in scope.include_domains)
    if len(scope.include_domains) > 1:
        wanted = f"({wanted})"
    marks: list[str] = []
    for mark in (wanted, *(f"-site:{bare_domain(domain)}" for domain in scope.exclude_domains)):
        taken = " ".join([*marks, mark])
        if mark and len(taken) < max_chars and len(taken.split()) < max_words:
            marks.append(mark)
    return marks


def bare_domain(domain: str) -> str:
    """A host as services want it: no star, no `www.`, no blanks that would end the operator."""
    return "".join(domain.split()).lower().removeprefix("*.").removeprefix("www.")


_WORD = re.compile(r"\w+(?:[-.'’]\w+)*")
_OPERATORS = frozenset({"and", "andnot", "not", "or", "to", "near"})
_HANGUL = re.compile("[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]")

# The codes of the libraries (MARC), which are those of ISO 639-2 in their bibliographic form.
_LIBRARY_CODES = {
    "ar": "ara", "de": "ger", "en": "eng", "es": "spa", "fr": "fre", "it": "ita", "ja": "jpn", "ko": "kor",
    "nl": "dut", "pl": "pol", "pt": "por", "ru": "rus", "tr": "tur", "uk": "ukr", "zh": "chi",
}  # fmt: skip


def query_words(text: str, *, most: int = 12) -> list[str]:
    """The words that carry the query, each once; nothing is left that a query language could act on."""
    words = [word for word in _WORD.findall(text) if word.lower() not in _OPERATORS]
    telling = [word for word in words if word.lower() not in STOP_WORDS or _is_acronym(word)]
    return list(dict.fromkeys(telling or words))[:most]


async def ask_for_all_or_any(
    words: Sequence[str],
    ask: Callable[[str], Awaitable[list[T]]],
    all_of: str = " AND ",
    max_chars: int = 2000,
) -> list[T]:
    """What is found with all of the words, or else with any of them, as many as fit; nothing for no words."""
    found = await ask(_join_words(all_of, words, max_chars)) if words else []
    return found if found or len(words) < 2 else await ask(_join_words(" OR ", words, max_chars))


def _join_words(mark: str, words: Sequence[str], max_chars: int) -> str:
    while len(words) > 1 and len(mark.join(words)) > max_chars:
        words = words[:-1]
    return mark.join(words)[:max_chars]


def has_hangul(text: str) -> bool:
    """Whether a text has Hangul in it."""
    return _HANGUL.search(text) is not None


def language_code(language: str | None) -> str | None:
    """Two letters from a language tag such as `ko-KR`; None when it is no tag."""
    code = re.split(r"[-_]", (language or "").strip().lower())[0]
    return code if re.fullmatch(r"[a-z]{2,3}", code) else None


def library_code(language: str | None) -> str | None:
    """The three letters by which libraries know a language; None when it is not one of the common ones."""
    return _LIBRARY_CODES.get(language_code(language) or "")


def _is_acronym(word: str) -> bool:
    """Whether it is WHO rather than who."""
    return len(word) > 1 and word.isupper()
