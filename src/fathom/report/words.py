"""The report's own words, in the languages it speaks.

Does not know what it frames.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fathom.text.normal import is_korean


@dataclass(frozen=True)
class Words:
    """The fixed phrases of a report."""

    complete: str
    partial: str
    failed: str
    basis: str
    stopped: str
    open_points: str
    lost: str
    dropped: str
    sources: str
    read_on: str
    published_on: str
    nothing: str
    searched: str
    on_page: str
    unsupported: str = "[citation needed]"
    rules: Mapping[str, str] = field(default_factory=dict)

    def rule(self, name: str | None) -> str:
        """A stop rule in the report's language."""
        return self.rules.get(name or "", name or "")


ENGLISH = Words(
    complete="Complete",
    partial="Partial: something failed on the way, see the end",
    failed="Nothing was found",
    basis="Claims: {claims}; sources cited: {cited} of {read} read; rounds: {rounds}",
    stopped="Stopped by: {rule} ({because})",
    open_points="What was not found",
    lost="What could not be searched, read or thought through",
    dropped="{count} claims were dropped: {why}.",
    sources="Sources",
    read_on="read {date}",
    published_on="published {date}",
    nothing="Nothing that answers this was found in the sources that could be read. Nothing is reported.",
    searched="Searched for",
    on_page="p. {number}",
)
KOREAN = Words(
    complete="완료",
    partial="일부만 완료: 진행 중 실패한 부분이 있으며 끝에 적혀 있음",
    failed="찾은 것이 없음",
    basis="읽은 출처 {read}건 중 {cited}건에서 얻은 근거 {claims}개, {rounds}회 조사",
    stopped="멈춘 이유: {rule} ({because})",
    open_points="찾지 못한 것",
    lost="검색하거나 읽거나 판단하지 못한 것",
    dropped="주장 {count}개를 버렸음: {why}.",
    sources="출처",
    read_on="{date} 읽음",
    published_on="{date} 발행",
    nothing="읽을 수 있었던 어떤 출처도 이에 대해 말하지 않으므로 보고할 내용이 없습니다.",
    searched="검색한 질의",
    on_page="{number}쪽",
    rules={
        "sufficient": "충분함",
        "saturated": "새로운 내용이 거의 없음",
        "only minor gaps": "사소한 빈틈만 남음",
        "diverse": "출처가 충분히 다양함",
        "rounds used up": "정해진 횟수를 다 씀",
        "budget used up": "예산을 다 씀",
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
