"""Why a run stopped, in the languages a report speaks; the rules say it in English, with their numbers.

Does not know the rules.
"""

import re

_KOREAN = {
    r"score (\S+) of (\S+) needed": r"점수 \1, 필요한 점수 \2",
    r"every sub-question answered, confidence (\S+) of (\S+) needed": r"모두 답함, 확신 \1, 필요한 확신 \2",
    r"(\d+) new findings on (\d+) known": r"알려진 \2건에 새로운 것 \1건",
    r"(\S+) new findings a query of (\S+) needed": r"검색 한 번에 새로운 것 \1건, 필요한 것 \2건",
    r"(\S+) new findings a USD, and (\S+) USD are left": r"1달러에 새로운 것 \1건, 남은 돈 \2달러",
    r"(\d+) gaps left, none above low priority": r"남은 빈틈 \1개, 모두 사소함",
    r"diversity (\S+) over (\d+) sources": r"출처 \2건의 다양성 \1",
    r"(\d+) of (\d+) rounds": r"\2회 중 \1회",
    r"(\S+) of (\S+) USD spent on looking, of (\S+) in all": r"조사에 쓸 \2달러 중 \1달러를 씀, 모두 \3달러",
    r"(\d+) of (\S+) s": r"\2초 중 \1초",
    r"told to finish": r"마치라는 말을 들음",
    r"(\d+) rounds without a new page": r"\1회 동안 새 페이지가 없음",
    r"one page has (\d+)% of the question": r"한 페이지가 질문의 \1 %에 답함",
    r"pages that lead to each other have (\d+)% of the question": r"이어진 페이지들이 질문의 \1 %에 답함",
    r"no query that was not asked before": r"아직 묻지 않은 질의가 없음",
}


def in_korean(because: str) -> str:
    """The reason in Korean; as it is when it is none of those known."""
    for pattern, words in _KOREAN.items():
        if found := re.fullmatch(pattern, because):
            return found.expand(words)
    return because
