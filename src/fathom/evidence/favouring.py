"""Which side of a contradiction a rule favours, by name. A rule that speaks for two sides does not speak.

1. "retraction or correction": all of the other side was retracted, as its titles say; or this side's title or
   quote says that it corrects, and it may: it has the other's owner, is official, names the other's value, or
   both are files that somebody laid side by side, of which it is not the older.
2. "same source, later version": all sides are one owner's, and this one was published after the others.
3. "newer official figure": a number, of which an official page was published after all of the others.

Dates must be known to the day, all of them. Does not know how sides come about.
"""

import re
from collections.abc import Mapping, Sequence

from fathom.evidence.dates import day_of
from fathom.evidence.owners import is_official, owner
from fathom.state import Claim, Difference, Page, Settlement, Side

_TAKEN_BACK = re.compile(r"^\W*(?:retracted|withdrawn)\b|^\W*철회(?:된|됨|:)", re.IGNORECASE)
_CORRECTS = re.compile(
    r"\b(?:correction|corrigend(?:um|a)|errat(?:um|a)|retraction notice|we (?:hereby )?(?:correct|retract)"
    r"|corrected (?:from|figure|value|version))\b"
    r"|\b(?:earlier|previous) (?:version|figure|report|article)\b.{0,80}\b(?:wrong|error|incorrect|misstated)"
    r"|\b(?:not|rather than|instead of)\b[^.;]{1,60}\bas (?:we |was |were |had been )?"
    r"(?:(?:earlier|first|previously|originally|wrongly|mistakenly) )*(?:reported|stated|printed|said)\b"
    r"|(?:보도|발표|기사)[^.]{0,20}(?:아니라|아닌|달리|잘못)"
    r"|정정|바로잡|철회합니다|오류가 있었",
    re.IGNORECASE,
)

Pages = Mapping[str, Page]


def favoured(
    kind: Difference, sides: Sequence[Side], claims: Mapping[str, Claim], pages: Pages
) -> tuple[Settlement | None, int | None]:
    """The first rule that speaks for one side only, and for which; nothing when none does."""
    places = range(len(sides))
    rules: dict[Settlement, list[bool]] = {
        "retraction or correction": [_is_correction(n, sides, claims, pages) for n in places],
        "same source, later version": [_is_later_version(n, sides, pages) for n in places],
        "newer official figure": [kind == "number" and _is_official_news(n, sides, pages) for n in places],
    }
    return next(((name, won.index(True)) for name, won in rules.items() if sum(won) == 1), (None, None))


def _is_correction(place: int, sides: Sequence[Side], claims: Mapping[str, Claim], pages: Pages) -> bool:
    others = [side for n, side in enumerate(sides) if n != place]
    if _is_taken_back(sides[place], pages):
        return False
    if all(_is_taken_back(other, pages) for other in others):
        return True
    owners = {owner(page) for side in others for page in _read(side, pages)}
    quotes = [quote for c in sides[place].claims for quote in claims[c].quotes if quote.page in pages]
    return any(
        _CORRECTS.search(f"{pages[quote.page].title}\n{quote.text}")
        and (
            owner(pages[quote.page]) in owners
            or is_official(pages[quote.page])
            or _is_later_file(pages[quote.page], place, sides, pages)
            or any(side.value in quote.text for side in others)
        )
        for quote in quotes
    )


def _is_later_file(page: Page, place: int, sides: Sequence[Side], pages: Pages) -> bool:
    """Whether all are files, and no date says that this one came first."""
    read = [other for side in sides for other in _read(side, pages)]
    is_dated = any(other.published for other in read)
    are_files = all(other.address.startswith("file:") for other in read)
    return are_files and (not is_dated or _is_after([page], place, sides))


def _is_taken_back(side: Side, pages: Pages) -> bool:
    read = _read(side, pages)
    return bool(read) and all(_TAKEN_BACK.search(page.title) for page in read)


def _is_later_version(place: int, sides: Sequence[Side], pages: Pages) -> bool:
    owners = {owner(page) for side in sides for page in _read(side, pages)}
    return len(owners) == 1 and _is_after(_read(sides[place], pages), place, sides)


def _is_official_news(place: int, sides: Sequence[Side], pages: Pages) -> bool:
    return _is_after([p for p in _read(sides[place], pages) if is_official(p)], place, sides)


def _is_after(own: Sequence[Page], place: int, sides: Sequence[Side]) -> bool:
    """Whether one of the pages was published after every page of the other sides."""
    others = [day_of(when) for n, side in enumerate(sides) if n != place for when in side.published]
    known = [day for day in others if day]
    mine = [day for page in own if (day := day_of(page.published))]
    return bool(mine) and len(known) == len(others) > 0 and max(mine) > max(known)


def _read(side: Side, pages: Pages) -> list[Page]:
    return [pages[sha] for sha in side.pages if sha in pages]
