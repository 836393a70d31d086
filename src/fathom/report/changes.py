"""What is different from an earlier run, for the top of the report that updates it.

Does not know how it came about: it compares two ends.
"""

from collections.abc import Iterable, Iterator

from fathom.state import Change, Claim, Earlier, Page, ResearchState, Section, Update, Writing
from fathom.state.updating import ChangeKind

_SHOWN_FIRST: tuple[ChangeKind, ...] = (
    "page changed", "page gone", "page back", "page new", "claim gone", "claim new",
    "section rewritten", "section new", "section gone", "section untouched",
)  # fmt: skip


def changed(state: Writing | ResearchState, sections: Iterable[Section]) -> Update | None:
    """What changed since the earlier run, in a report of these sections; None when there is none."""
    earlier = state.get("earlier")
    if earlier is None:
        return None
    found = [
        *_pages(earlier, state.get("pages", [])),
        *_claims(earlier, state.get("claims", []), state.get("pages", [])),
        *_sections(earlier, [section for section in sections if section.sentences]),
    ]
    distinct = {(change.kind, change.what): change for change in found}.values()
    ordered = sorted(distinct, key=lambda change: _SHOWN_FIRST.index(change.kind))
    return Update(run=earlier.run, since=earlier.ended, changes=ordered)


def _pages(earlier: Earlier, pages: Iterable[Page]) -> Iterator[Change]:
    before = {page.address: page for page in earlier.pages}
    for page in pages:
        known = before.get(page.address)
        if known is None:
            yield Change(kind="page new", what=page.title)
        elif page.gone:  # told every time: while a page is gone, it is not true that nothing changed
            yield Change(kind="page gone", what=page.title, why=page.gone)
        elif page.sha != known.sha:
            yield Change(kind="page changed", what=page.title)
        elif known.gone:
            yield Change(kind="page back", what=page.title)


def _claims(earlier: Earlier, claims: list[Claim], pages: Iterable[Page]) -> Iterator[Change]:
    titles = {page.sha: page.title for page in [*earlier.pages, *pages]}

    def told(kind: ChangeKind, claim: Claim) -> Change:
        return Change(kind=kind, what=claim.statement, why=titles.get(claim.quotes[0].page, ""))

    now, then = {claim.id for claim in claims}, {claim.id for claim in earlier.claims}
    yield from (told("claim gone", claim) for claim in earlier.claims if claim.id not in now)
    yield from (told("claim new", claim) for claim in claims if claim.id not in then)


def _sections(earlier: Earlier, sections: list[Section]) -> Iterator[Change]:
    before = {section.id: section for section in earlier.sections}
    for section in sections:
        known = before.get(section.id)
        if known is None:
            yield Change(kind="section new", what=_name(section))
        elif _content(known) == _content(section):
            yield Change(kind="section untouched", what=_name(section))
        else:
            yield Change(kind="section rewritten", what=_name(section))
    now = {section.id for section in sections}
    yield from (
        Change(kind="section gone", what=_name(s))
        for s in earlier.sections
        if s.sentences and s.id not in now
    )


def _content(section: Section) -> tuple[object, ...]:
    return section.title, section.sentences, section.blocks


def _name(section: Section) -> str:
    return section.title or section.kind
