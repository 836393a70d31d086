"""A report of extracts: for each part of the question the passages that may answer it, as they stand.

It is what a run without a model gives, and says so in its first line. Does not know how passages are found;
whether one answers, nobody has judged.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from fathom.evidence.checks.strict import find_amounts
from fathom.evidence.statement_pairs import compare_statements, find_difference, is_same_number
from fathom.evidence.statements import parse_statement
from fathom.report.formats.markdown import (
    bullet_list,
    dispute_columns,
    dispute_heading,
    escape_markdown,
    markdown_table,
    render_changes,
    render_dispute,
    render_markdown,
    render_section,
    render_source,
)
from fathom.report.layout import PreparedReport
from fathom.state import Claim, Section
from fathom.text.messages import Messages
from fathom.text.ranking import stem, terms
from fathom.text.sentences import split_sentences
from fathom.text.tokens import tokens

_MOST_DIFFERENCES = 6
_LEAST_SHARED_WORDS = 0.6
_FIGURES = ("number", "date")
# Words that say how is asked, not about what: an answer does without them.
_WAYS_OF_ASKING = re.compile(
    r"compar\w+|differ\w*|purpose|reasons?|means?|meaning|defin\w+|explain|describe|versus",
    re.IGNORECASE,
)

_HOW_MUCH = re.compile(
    r"\bhow (?:much|many|long|far|old|tall|high|big|large|deep|wide|heavy|fast|often|soon)\b", re.IGNORECASE
)


def render_report(report: PreparedReport) -> str:
    """The whole text of a report or of extracts."""
    return (
        _render_extracts(report)
        if report.kind == "extracts" and report.citations
        else render_markdown(report)
    )


def _render_extracts(report: PreparedReport) -> str:
    """What it is in the first line, the passages, what is missing, the sources."""
    words = report.words
    blocks = [f"*{words('report.extracts')}*", f"# {escape_markdown(report.title)}"]
    blocks += render_changes(report.update, words)
    for section in (s for s in report.sections if s.sentences):
        blocks += render_section(section, report)
        blocks += remarks(section, report)
    if report.disputes:
        rows = [render_dispute(row) for row in report.disputes]
        blocks += [f"## {dispute_heading(report)}", markdown_table(dispute_columns(words), rows)]
    if report.certainty:
        blocks += [f"## {words('report.sure')}", bullet_list(report.certainty)]
    entries = [render_source(citation, report) for citation in report.citations]
    blocks += [f"## {words('report.sources')}", "\n".join(entries)]
    return "\n\n".join(blocks) + "\n"


def remarks(section: Section, report: PreparedReport) -> list[str]:
    """Where the figures of the passages differ, and which words of the question none of them has.

    What the table of disagreements or an earlier section shows is left out.
    """
    shown = _shown_claims(section, report)
    titles = {citation.number: citation.title for citation in report.citations}
    by_claim = {claim.id: titles[report.numbers[claim.id][0]] for claim in shown}
    return [
        *_figure_differences(section, shown, by_claim, report),
        *_missing_words(section.title, [(claim, by_claim[claim.id]) for claim in shown], report.words),
    ]


def _missing_words(question: str, shown: Sequence[tuple[Claim, str]], words: Messages) -> list[str]:
    """The words of the question that neither the passages have nor their headings: a sign of no answer."""
    around = " ".join(f"{title} {claim.quotes[0].heading} {claim.quotes[0].text}" for claim, title in shown)
    known = {stem(word) for word in tokens(around)}
    question = _HOW_MUCH.sub("how", question)  # "how tall" asks for a figure, not for the word
    asked = terms(question)
    absent = [
        word
        for word in re.findall(r"[^\W_][\w'’-]*", question)
        if (own := terms(word) & asked) and not own & known and not _WAYS_OF_ASKING.fullmatch(word)
    ]
    told = ", ".join(f"“{escape_markdown(word)}”" for word in dict.fromkeys(absent))
    return [f"*{words('report.words_missing', words=told)}*"] if told else []


def _shown_claims(section: Section, report: PreparedReport) -> list[Claim]:
    names = dict.fromkeys(c for s in section.sentences for c in s.claims[:1])
    return [report.claims[c] for c in names if report.numbers.get(c)]


def _figure_differences(
    section: Section, shown: Sequence[Claim], titles: Mapping[str, str], report: PreparedReport
) -> list[str]:
    """The sentences of two passages that give different figures for the same thing, side by side."""
    numbers, lines = report.numbers, dict[str, None]()
    before = report.sections[: report.sections.index(section)]
    known = [{claim.quotes[0].text for claim in _shown_claims(other, report)} for other in before]
    for one, other in combinations(shown, 2):
        is_told = any({one.quotes[0].text, other.quotes[0].text} <= texts for texts in known)
        if set(numbers[one.id]) == set(numbers[other.id]) or is_told or _is_in_table(one, other, report):
            continue
        left_side, right_side = (_with_figures(claim, titles[claim.id]) for claim in (one, other))
        for left, right in _disputed_sentences(section.title, left_side, right_side):
            marks = ["".join(f"[{n}]" for n in sorted(set(numbers[c.id]))) for c in (one, other)]
            lines[f"- “{escape_markdown(left)}” {marks[0]} / “{escape_markdown(right)}” {marks[1]}"] = None
    told = "\n".join(list(lines)[:_MOST_DIFFERENCES])
    return [f"**{report.words('report.figures_differ')}**", told] if lines else []


def _is_in_table(one: Claim, other: Claim, report: PreparedReport) -> bool:
    """Whether the table of disagreements sets the two against each other."""
    return any(
        any(one.id in side.claims for side in sides) and any(other.id in side.claims for side in sides)
        for sides in report.open_disputes
    )


def _disputed_sentences(
    question: str, left_side: Mapping[str, str], right_side: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Sentences that rules call contradicting, alone or with their titles; or that both answer the question
    and give other figures for one time."""
    for left, in_left in left_side.items():
        for right, in_right in right_side.items():
            found = (compare_statements(left, right), compare_statements(in_left, in_right))
            is_ruled = any(word and word[0] == "contradicts" and word[1] in _FIGURES for word in found)
            if is_ruled or (_answers(question, in_left, in_right) and _is_other_figure(left, right)):
                yield left, right


def _answers(question: str, *sides: str) -> bool:
    """Whether each has most of the words of the question."""
    wanted = terms(question)
    return all(len(wanted & terms(side)) >= _LEAST_SHARED_WORDS * len(wanted) for side in sides)


def _is_other_figure(left: str, right: str) -> bool:
    one, other = parse_statement(left).years, parse_statement(right).years
    is_one_time = not one or not other or not one.isdisjoint(other)
    return is_one_time and not is_same_number(left, right) and find_difference(left, right) is not None


def _with_figures(claim: Claim, title: str) -> dict[str, str]:
    """The sentences of a passage that have figures, each with the title that says what they are of."""
    told = (span.text for span in split_sentences(claim.quotes[0].text))
    return {text: f"{title} {text}" for text in told if find_amounts(text)}
