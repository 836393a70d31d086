"""The report's own words, in the languages it speaks.

Does not know what it frames.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fathom.text.normal import is_korean


def counted(count: int, thing: str) -> str:
    """A number of things in English: 1 claim, 2 claims."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


@dataclass(frozen=True)
class Words:
    """The fixed phrases of a report."""

    complete: str
    partial: str
    unsure: str
    failed: str
    basis: str
    stopped: str
    going_on: str
    open_points: str
    unanswered: str
    lost: str
    rejected: str
    sources: str
    read_on: str
    published_on: str
    nothing: str
    searched: str
    on_page: str
    sentences_dropped: str
    sentences_marked: str
    rewritten: str
    section_gone: str
    quoted_instead: str
    faults: Mapping[str, str]
    doubts: Mapping[str, str]
    changed_since: str
    nothing_changed: str
    gone_since: str
    changes: Mapping[str, str]
    unsupported: str = "[citation needed]"
    ones: Mapping[str, str] = field(default_factory=dict)  # how a phrase about several begins of one
    rules: Mapping[str, str] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)

    def rule(self, name: str | None) -> str:
        """A stop rule in the report's language."""
        return self.rules.get(name or "", name or "")

    def reason(self, why: str) -> str:
        """Why claims were dropped, in the report's language where it has words for it."""
        general, colon, kind = why.partition(": ")
        return f"{self.reasons.get(general, general)}{colon}{self.reasons.get(kind, kind)}"

    def place(self, where: str) -> str:
        """Where something was lost, in the report's language."""
        name, colon, rest = where.partition(":")
        return f"{self.places.get(name, name)}{colon}{rest}"

    def counted(self, phrase: str, count: int, why: str = "") -> str:
        """A phrase about so many things, in the right number."""
        told = phrase.format(count=count, why=why)
        several = next((begin for begin in self.ones if told.startswith(begin)), "")
        return self.ones[several] + told.removeprefix(several) if several else told

    def fault(self, name: str | None) -> str:
        """What is wrong with a sentence."""
        return self.faults.get(name or "unknown", name or "")

    def status(self, name: str, doubts: Sequence[str]) -> str:
        """How far to trust the report, and what speaks against it."""
        told = "; ".join(self.doubts[doubt] for doubt in doubts)
        if name == "failed" or not told:
            return str(getattr(self, name))
        return (
            f"{self.unsure}: {told}" if name == "unsure" else f"{getattr(self, name)}. {self.unsure}: {told}"
        )


ENGLISH = Words(
    complete="Complete",
    partial="Partial: something failed on the way, see the end",
    unsure="Unsure",
    failed="Nothing was found",
    basis="Claims: {claims}; sources cited: {cited} of {read} read; rounds: {rounds}",
    stopped="Stopped by: {rule} ({because})",
    going_on="The research is still going on",
    open_points="What was not found",
    unanswered="No answer was found to “{}”.",
    lost="What could not be searched, read or thought through",
    rejected="{count} claims were dropped: {why}.",
    ones={
        "1 claims were": "1 claim was",
        "1 sentences were": "1 sentence was",
        "1 sentences are": "1 sentence is",
    },
    sources="Sources",
    read_on="read {date}",
    published_on="published {date}",
    nothing="Nothing that answers this was found in the sources that could be read. Nothing is reported.",
    searched="Searched for",
    on_page="p. {number}",
    sentences_dropped="{count} sentences were dropped: {why}.",
    sentences_marked="{count} sentences are marked: {why}.",
    rewritten="{count} sentences were written again, because their quotes did not carry them.",
    section_gone="The section “{title}” is gone: nothing that was written in it was carried by its quotes.",
    quoted_instead="Nothing that was written was carried by its quotes; the sources are quoted instead.",
    faults={
        "unknown": "they name no claim that exists",
        "uncited": "they state something and name no claim",
        "facts": "they have something in them that their quotes do not have",
        "meaning": "the last check found that they say more than their quotes",
        "calculation": "their calculation does not come out as stated",
    },
    doubts={
        "open": "something important was not found",
        "thin": "fewer than half of the parts of the question have good evidence",
        "weak": "most of what the answer rests on is contradicted or told by one weak source",
    },
    changed_since="What changed since {date}",
    nothing_changed="Nothing: every page says what it said, and nothing new was found.",
    gone_since="could not be read again, its quotes stand as they were read",
    changes={
        "page changed": "Page changed",
        "page gone": "Page gone, its claims stay as they were read",
        "page back": "Page back",
        "page new": "New page",
        "claim gone": "No longer there",
        "claim new": "New",
        "section rewritten": "Section rewritten",
        "section new": "New section",
        "section gone": "Section gone",
        "section untouched": "Section untouched",
    },
)
KOREAN = Words(
    complete="완료",
    partial="일부만 완료: 진행 중 실패한 부분이 있으며 끝에 적혀 있음",
    unsure="확실하지 않음",
    failed="찾은 것이 없음",
    basis="읽은 출처 {read}건 중 {cited}건에서 얻은 근거 {claims}개, {rounds}회 조사",
    stopped="멈춘 이유: {rule} ({because})",
    going_on="조사가 아직 진행 중",
    open_points="찾지 못한 것",
    unanswered="“{}”에 대한 답을 찾지 못했습니다.",
    lost="검색하거나 읽거나 판단하지 못한 것",
    rejected="주장 {count}개를 버렸음: {why}.",
    sources="출처",
    read_on="{date} 읽음",
    published_on="{date} 발행",
    nothing="읽을 수 있었던 어떤 출처도 이에 대해 말하지 않으므로 보고할 내용이 없습니다.",
    searched="검색한 질의",
    on_page="{number}쪽",
    sentences_dropped="문장 {count}개를 버렸음: {why}.",
    sentences_marked="문장 {count}개에 표시를 했음: {why}.",
    rewritten="문장 {count}개를 다시 썼음: 처음 문장은 인용문이 뒷받침하지 않았음.",
    section_gone="“{title}” 부분은 빠졌음: 쓰인 문장 가운데 인용문이 뒷받침하는 것이 없었음.",
    quoted_instead="쓰인 문장 가운데 인용문이 뒷받침하는 것이 없어 출처를 그대로 인용함.",
    faults={
        "unknown": "존재하지 않는 근거를 가리킴",
        "uncited": "사실을 말하면서 근거를 대지 않음",
        "facts": "인용문에 없는 것이 들어 있음",
        "meaning": "마지막 검토에서 인용문보다 많은 것을 말한다고 판단됨",
        "calculation": "계산 결과가 적힌 값과 다름",
    },
    doubts={
        "open": "중요한 것을 찾지 못함",
        "thin": "질문의 절반이 넘는 부분에 좋은 근거가 없음",
        "weak": "답의 근거 대부분이 서로 어긋나거나 약한 출처 하나뿐임",
    },
    reasons={
        "the quote is not in the page": "인용문이 출처에 없음",
        "it answers no sub-question": "어느 질문에도 답하지 않음",
        "the quote does not carry the statement": "인용문이 주장을 뒷받침하지 않음",
        "a number": "수",
        "a date": "날짜",
        "a name": "이름",
        "who and what": "누가 무엇을 했는지",
        "a negation": "부정",
        "a direction": "방향",
        "a hedge": "단서",
        "its scope": "범위",
        "a conclusion": "결론",
        "other words": "다른 말",
        "most of its words": "대부분의 말",
        "verification found the statement says more than its quote": "검증에서 인용문보다 많은 것을 말함",
    },
    places={
        "search": "검색",
        "reading": "읽기",
        "analysis": "분석",
        "model": "모델",
        "context": "문맥 창",
        "price": "가격",
    },
    changed_since="{date} 이후 달라진 것",
    nothing_changed="없음: 모든 페이지가 그때와 같고, 새로 찾은 것도 없습니다.",
    gone_since="다시 읽을 수 없어 당시 읽은 인용을 그대로 둠",
    changes={
        "page changed": "바뀐 페이지",
        "page gone": "사라진 페이지, 읽었던 내용은 그대로 둠",
        "page back": "다시 읽히는 페이지",
        "page new": "새 페이지",
        "claim gone": "더는 없는 내용",
        "claim new": "새로운 내용",
        "section rewritten": "다시 쓴 절",
        "section new": "새 절",
        "section gone": "없어진 절",
        "section untouched": "그대로 둔 절",
    },
    rules={
        "sufficient": "충분함",
        "answered": "모든 질문에 답함",
        "saturated": "새로운 내용이 거의 없음",
        "gain too low": "검색에 비해 새로 얻는 것이 적음",
        "settled": "더 찾아도 근거가 달라지지 않음",
        "only minor gaps": "사소한 빈틈만 남음",
        "diverse": "출처가 충분히 다양함",
        "rounds used up": "정해진 횟수를 다 씀",
        "budget used up": "예산을 다 씀",
        "time used up": "시간을 다 씀",
        "a person's word": "사람이 마치라고 함",
        "nothing left to ask": "더 물을 것이 없음",
    },
)


def words_for(question: str, language: str | None) -> Words:
    """Korean for a Korean question or when Korean is asked for, English otherwise."""
    asked = (language or "").strip().lower()
    if asked:
        return KOREAN if asked.startswith(("ko", "한국")) else ENGLISH
    return KOREAN if is_korean(question) else ENGLISH
