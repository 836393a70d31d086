"""What a report says about its evidence: how sure each part is, and where sources disagree.

Does not know how that was found out. Values are shown in the words of stored quotes, with the numbers of the
sources that say them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import get_args

from fathom.report.markdown import plain
from fathom.report.weight_words import WeightWords, weight_words
from fathom.report.words import Words
from fathom.state import Claim, Contradiction, Finding, Section, SubQuestion, Tag

Numbers = Mapping[str, Sequence[int]]

_MOST_ROWS = 20
_RELEVANT = 0.5


def shown(
    contradictions: Sequence[Contradiction], sections: Sequence[Section], claims: Mapping[str, Claim]
) -> list[Contradiction]:
    """The disputes that bear on the question: the text cites a side of it, or a side is relevant itself."""
    told = (s for section in sections for s in section.sentences if s.status == "supported")
    bearing = {c for sentence in told for c in sentence.claims}
    bearing.update(c for c, claim in claims.items() if claim.relevance >= _RELEVANT)
    found = [entry for entry in contradictions if not bearing.isdisjoint(disputed_claims([entry]))]
    return found[:_MOST_ROWS]


def disputed_claims(contradictions: Sequence[Contradiction]) -> list[str]:
    """The claims of all sides, in the order of the table, each once."""
    return list(dict.fromkeys(c for entry in contradictions for side in entry.sides for c in side.claims))


def open_disputes(contradictions: Sequence[Contradiction], numbers: Numbers, words: Words) -> dict[str, str]:
    """The claims of disagreements that the table shows open, each with the remark its sentence carries."""
    own = weight_words(words)
    shown = [c for c in contradictions[:_MOST_ROWS] if c.settled_by is None and _rows(c, numbers, own)]
    return {claim: own.disputed for entry in shown for side in entry.sides for claim in side.claims}


def disagreements(contradictions: Sequence[Contradiction], numbers: Numbers, words: Words) -> list[str]:
    """A table: about what, who says what and when, and how it was settled. One row a side."""
    own = weight_words(words)
    rows = [row for entry in contradictions for row in _rows(entry, numbers, own)]
    return [f"## {own.disagree}", _table(own.columns, rows)] if rows else []


def _rows(entry: Contradiction, numbers: Numbers, own: WeightWords) -> list[list[str]]:
    """The sides that have a source in this report; a dispute of which only one has is not shown."""
    rows = []
    for place, side in enumerate(entry.sides):
        cited = sorted({n for claim in side.claims for n in numbers.get(claim, [])})
        if not cited:
            continue
        days = sorted({day[:10] for day in side.published if day}) or [own.undated]
        settled = "" if entry.settled_by else own.open
        if entry.settled_by and entry.favoured == place:
            settled = own.favoured.format(rule=own.rules.get(entry.settled_by, entry.settled_by))
        marks = "".join(f"[{n}]" for n in cited)
        rows.append([plain(entry.about), f"“{plain(side.value)}”", marks, ", ".join(days), settled])
    for row in rows[1:]:
        row[0] = ""
    return rows if len(rows) > 1 else []


def certainty(
    findings: Sequence[Finding], questions: Sequence[SubQuestion], numbers: Numbers, words: Words
) -> list[str]:
    """Of what the report tells about each part of the question, how much is how sure: a table, or a line."""
    own = weight_words(words)
    told = [f for f in findings if any(numbers.get(claim) for claim in f.claims)]
    tags: tuple[Tag, ...] = tuple(tag for tag in get_args(Tag) if any(f.tag == tag for f in told))
    names = {tag: own.tags.get(tag, tag) for tag in tags}
    rows = []
    for question in questions:
        counts = Counter(f.tag for f in told if f.question == question.id)
        if counts:
            rows.append([plain(question.text), *(str(counts[tag] or "") for tag in tags)])
    if not rows:
        return []
    if len(rows) == 1:
        return [f"## {own.sure}", _line(told, names, own)]
    legend = " ".join(f"{name}: {own.meanings[tag]}." for tag, name in names.items())
    return [f"## {own.sure}", _table([own.part, *names.values()], rows), legend]


def _line(told: Sequence[Finding], names: Mapping[Tag, str], own: WeightWords) -> str:
    """The same for a question of one part."""
    counts = Counter(finding.tag for finding in told)
    lines = [
        own.points.format(tag=name, count=counts[tag], all=len(told), meaning=own.meanings[tag])
        for tag, name in names.items()
    ]
    return " ".join(lines)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
