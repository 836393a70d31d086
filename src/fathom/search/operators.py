"""A query in the words that most web search engines understand: `site:` and `-site:`.

Does not know any engine. What does not fit is left to `Scope.admits`.
"""

from fathom.search.scope import Scope


def spelled(text: str, scope: Scope, *, max_chars: int = 2000, max_words: int = 300) -> str:
    """The query and its hosts within the limits; the query's own words keep at least half the room."""
    marks = _marks(scope, max_chars // 2, max_words // 2)
    room_chars = max_chars - sum(len(mark) + 1 for mark in marks)
    room_words = max_words - sum(len(mark.split()) for mark in marks)
    words = " ".join(text.split()[:room_words])[:room_chars].rstrip()
    return " ".join([words, *marks]).strip()


def _marks(scope: Scope, max_chars: int, max_words: int) -> list[str]:
    """All hosts to look in or none, for a part would hide the others; hosts to avoid while they fit."""
    wanted = " OR ".join(f"site:{bare(domain)}" for domain in scope.include_domains)
    if len(scope.include_domains) > 1:
        wanted = f"({wanted})"
    marks: list[str] = []
    for mark in (wanted, *(f"-site:{bare(domain)}" for domain in scope.exclude_domains)):
        taken = " ".join([*marks, mark])
        if mark and len(taken) < max_chars and len(taken.split()) < max_words:
            marks.append(mark)
    return marks


def bare(domain: str) -> str:
    """A host as services want it: no star, no `www.`, no blanks that would end the operator."""
    return "".join(domain.split()).lower().removeprefix("*.").removeprefix("www.")
