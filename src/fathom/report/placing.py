"""Sentences of several sections as one list, and back again.

Does not know what they say. A place counts over all sections in the outline's order.
"""

from collections.abc import Sequence

from fathom.state import Heading, Section, Sentence


def order_drafts(drafts: Sequence[Section], headings: Sequence[Heading]) -> list[Section]:
    """Return the drafts in the order of their headings, however they came."""
    written = {draft.id: draft for draft in drafts}
    return [written[heading.id] for heading in headings if heading.id in written]


def flatten_drafts(drafts: Sequence[Section]) -> list[tuple[Section, Sentence]]:
    """Return every sentence with its section."""
    return [(draft, sentence) for draft in drafts for sentence in draft.sentences]


def put_back(drafts: Sequence[Section], sentences: Sequence[Sentence]) -> list[Section]:
    """Return the drafts with these sentences in the place of their own."""
    rest = iter(sentences)
    return [draft.model_copy(update={"sentences": [next(rest) for _ in draft.sentences]}) for draft in drafts]
