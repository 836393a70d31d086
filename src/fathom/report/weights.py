"""What a report says about its evidence: where sources disagree, and how sure each part is.

Does not know how that was found out. Values are shown in the words of stored quotes, with the numbers of the
sources that say them.
"""

from collections import Counter
from collections.abc import Sequence
from typing import get_args

from fathom.report.layout import DisputeRow, Numbers, claims_of
from fathom.report.markdown import plain, table
from fathom.report.words import Words
from fathom.state import Contradiction, Finding, Section, SubQuestion, Tag

_MOST = 8


def bearing_disputes(
    contradictions: Sequence[Contradiction], sections: Sequence[Section]
) -> list[Contradiction]:
    """The disputes that bear on what the report says: it cites a side of them."""
    told = (s for section in sections for s in section.sentences if s.status == "supported")
    used = {c for sentence in told for c in claims_of(sentence)}
    found = [entry for entry in contradictions if not used.isdisjoint(disputed_claims([entry]))]
    return found[:_MOST]


def disputed_claims(contradictions: Sequence[Contradiction]) -> list[str]:
    """The claims of all sides, in the order of the table, each once."""
    return list(dict.fromkeys(c for entry in contradictions for side in entry.sides for c in side.claims))


def open_disputes(
    contradictions: Sequence[Contradiction], numbers: Numbers, words: Words
) -> list[list[frozenset[str]]]:
    """The claims of each side of the disagreements that the table shows open."""
    shown = [c for c in contradictions if c.settled_by is None and _rows(c, numbers, words)]
    return [[frozenset(side.claims) for side in entry.sides] for entry in shown]


def dispute_rows(contradictions: Sequence[Contradiction], numbers: Numbers, words: Words) -> list[DisputeRow]:
    """About what, who says what and when, and how it was settled: one row a side."""
    return [row for entry in contradictions for row in _rows(entry, numbers, words)]


def _rows(entry: Contradiction, numbers: Numbers, words: Words) -> list[DisputeRow]:
    """The sides that have a source in this report; a dispute of which only one has is not shown."""
    rows: list[DisputeRow] = []
    for place, side in enumerate(entry.sides):
        cited = sorted({n for claim in side.claims for n in numbers.get(claim, [])})
        if not cited:
            continue
        days = sorted({day[:10] for day in side.published if day}) or [words("disagree.undated")]
        settled = "" if entry.settled_by else words("disagree.open")
        if entry.settled_by and entry.favoured == place:
            settled = words("disagree.favoured", rule=words.name("settlement", entry.settled_by))
        about = "" if rows else entry.about
        rows.append(DisputeRow(about, side.value, cited, ", ".join(days), settled))
    return rows if len(rows) > 1 else []


def certainty_table(findings: Sequence[Finding], questions: Sequence[SubQuestion], words: Words) -> list[str]:
    """Of what was found about each part of the question, how much is how sure: a table and its legend."""
    tags: tuple[Tag, ...] = tuple(tag for tag in get_args(Tag) if any(f.tag == tag for f in findings))
    rows = []
    for question in questions:
        counts = Counter(f.tag for f in findings if f.question == question.id)
        if counts:
            rows.append([plain(question.text), *(str(counts[tag] or "") for tag in tags)])
    if not rows:
        return []
    legend = " ".join(f"{words.name('tag', tag)}: {words.name('tag_meaning', tag)}." for tag in tags)
    return [table([words("statistics.part"), *(words.name("tag", tag) for tag in tags)], rows), legend]
