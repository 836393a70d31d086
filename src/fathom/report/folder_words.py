"""The words of the research folder and of what is said after each round, in the languages a report speaks.

Does not know what they frame.
"""

from dataclasses import dataclass

from fathom.report.words import KOREAN, Words


@dataclass(frozen=True)
class FolderWords:
    """Headings and phrases of the files beside the report."""

    findings: str
    no_findings: str
    other_findings: str
    disagree: str
    missing: str
    hypotheses: str
    no_hypotheses: str
    active: str
    set_aside: str
    speaks_for: str
    speaks_against: str
    since_round: str
    sources: str
    no_sources: str
    unread: str
    cited_as: str
    claims_drawn: str
    by: str
    cited_by: str
    citations: str
    no_citations: str
    not_yet: str
    round: str
    found: str
    nothing_new: str
    new_of_all: str
    next: str
    gaps: str
    answered: str
    cost: str
    of_budget: str
    summary: str


_ENGLISH = FolderWords(
    findings="Findings",
    no_findings="Nothing has been found yet.",
    other_findings="Besides",
    disagree="Where sources disagree",
    missing="Still missing",
    hypotheses="Hypotheses",
    no_hypotheses="No answer has been proposed yet.",
    active="Active",
    set_aside="Set aside",
    speaks_for="for it",
    speaks_against="against it",
    since_round="since round {born}, last weighed in round {touched}",
    sources="Sources that were read",
    no_sources="No source has been read yet.",
    unread="Could not be read",
    cited_as="cited as [{number}]",
    claims_drawn="claims: {count}",
    by="by {names}",
    cited_by="cited {count} times",
    citations="Citations",
    no_citations="Nothing is cited yet.",
    not_yet="The report is not written yet; these are the sources its claims rest on so far.",
    round="Round {number}",
    found="Found",
    nothing_new="Nothing new.",
    new_of_all="new claims: {new}; in all: {all}",
    next="Next",
    gaps="Missing",
    answered="Answered: {percent} % of the question",
    cost="Cost so far: {usd}",
    of_budget="{spent} of {budget} USD",
    summary="In short",
)
_KOREAN = FolderWords(
    findings="찾은 것",
    no_findings="아직 찾은 것이 없습니다.",
    other_findings="그 밖에",
    disagree="출처들이 서로 다르게 말하는 것",
    missing="아직 찾지 못한 것",
    hypotheses="가설",
    no_hypotheses="아직 제안된 답이 없습니다.",
    active="검토 중",
    set_aside="제쳐 둠",
    speaks_for="뒷받침",
    speaks_against="반박",
    since_round="{born}회차에 제안, {touched}회차에 마지막으로 검토",
    sources="읽은 출처",
    no_sources="아직 읽은 출처가 없습니다.",
    unread="읽지 못한 것",
    cited_as="[{number}]번으로 인용",
    claims_drawn="근거 {count}개",
    by="{names}",
    cited_by="인용 {count}회",
    citations="인용 문헌",
    no_citations="아직 인용한 것이 없습니다.",
    not_yet="보고서는 아직 쓰이지 않았으며, 지금까지의 근거가 나온 출처들입니다.",
    round="{number}회차",
    found="찾은 것",
    nothing_new="새로 찾은 것이 없습니다.",
    new_of_all="새 근거 {new}개, 모두 {all}개",
    next="다음 계획",
    gaps="빈틈",
    answered="질문의 {percent} %에 답함",
    cost="지금까지 든 비용: {usd}",
    of_budget="{spent} / {budget} USD",
    summary="요약",
)


def folder_words(words: Words) -> FolderWords:
    """The folder's words that go with a report's."""
    return _KOREAN if words is KOREAN else _ENGLISH
