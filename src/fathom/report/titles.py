"""Whether a title says what a section is about, and nothing that nobody said.

Does not know headings. Code alone refuses a title only for its form, and for a figure or date that was
neither quoted nor asked for. Names and statements are suspicions: a checker decides, or these rules where
none can be trusted. Where names cannot be told from other words, half of the words must be known.
"""

import re
from collections.abc import Sequence

from fathom.evidence.checks.derivation import Passage, find_underived
from fathom.evidence.checks.strict import find_flaws
from fathom.report.passages import has_address, strip_marks
from fathom.text.mentions import find_missing_names, find_name_words
from fathom.text.ranking import stem, terms
from fathom.text.similarity import word_rarity
from fathom.text.tokens import STOP_WORDS, has_cjk, tokens

_LONGEST = 120
_STATES = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|can|could|will|would|should|must|may|might|causes?|leads?|"
    r"proves?|shows?|makes?|becomes?|remains?|not|no|never|without)\b|[가-힣](?:다|음|함|됨|임|없|않)[.!]?$",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\b(?:what|how|why|who|whose|where|when|which|whether)\b", re.IGNORECASE)
_KOREAN_ASKS = re.compile(r"(?:는가|인가|은가|을까|일까|하나|되나|었나|였나)\??$")
_USUAL_WORDS = """
Advantages Against Alternatives Analysis Answer Answers Applications Approach Approaches Aspects Background
Basics Basis Benefits Causes Challenges Change Changes Comparison Comparisons Conclusion Conclusions
Conditions Consequences Context Cost Costs Current Debate Definition Details Development Developments
Difference Differences Disadvantages Disagreement Disagreements Drawbacks Economic Effect Effects
Environmental Evidence Example Examples Experience Experiences Explained Facts Factors Features Figures
Findings Function Future General History Impact Impacts Implications Information Introduction Issues Key
Known Latest Legal Limit Limitations Limits Main Meaning Measures Method Methods Notes Open Operation Origin
Origins Other Outlook Overview Part Parts Performance Perspectives Practical Practice Present Principle
Principles Price Prices Problems Process Properties Question Questions Reasons Recent Related Relevance
Report Requirements Research Result Results Risk Risks Role Safety Scope Significance Situation Social
Source Sources Speaks State Status Steps Strengths Structure Summary Support Technical Timeline Trends Types
Uncertainties Uncertainty Understanding Use Uses Values Verdict Views Weaknesses Working Works Advice
Recommendations Adopters Adoption Infrastructure Lifecycle Operators Roadmap Rollout Safeguards Trade-offs
가격 개념 개요 결과
결론 경제성 과제 과정 관련 구조 근거 기능 기본 내용 논쟁 단점 문제 문제점 미래 방법 방식 배경 범위 변화
가능성 검토 규모 권고 남은 대안 대응 대책 동향 무엇 물음 방향 변수 분석 쟁점 시사점 앞으로 양상 어떻게 얼마나
왜 요인 이끈 이후 정책 제언 종합 지속 추이 판단 평가의 함의 확인 흐름
보고서 비교 비용 사례 상황 설명 수치 역사 역할 연구 영향 요소 요약 원리 원인 위험 의미 이유 이점 작동 장단점
장점 전망 정의 정리 조건 종류 주요 차이 차이점 출처 특징 평가 필요 한계 핵심 현재 현황 활용 효과
"""
_ORDINARY = frozenset(_USUAL_WORDS.lower().split()) | STOP_WORDS
_ORDINARY_STEMS = frozenset(stem(word) for word in tokens(_USUAL_WORDS))
_COMMON = 12.5  # how rare a word of everyday English is at most, by `rarity`: a name is rarer
# Rare as they are, words with such an ending are no names.
_NO_NAME = re.compile(
    r"(?:[aeiou]tions?|ments?|[ai]bilit(?:y|ies)|ness|ances?|ences?|able|ible|less|i[sz]ing|ful|ly|wide|side)$"
)
_KNOWN_SHARE = 0.5  # of the words of a title in a script without capitals


def is_usable_title(title: str, sources: Sequence[str]) -> bool:
    """Tell whether code has nothing against the title of a report whose words come from these sources."""
    bare = strip_marks(title, title)
    if not bare or len(bare) > _LONGEST or has_address(title) or bare != " ".join(title.split()):
        return False
    return not find_underived(bare, Passage(quotes=tuple(sources)))


def is_sound_title(title: str, sources: Sequence[str]) -> bool:
    """Tell whether the title can stand without a checker: usable, and no name or statement of its own."""
    if not is_usable_title(title, sources):
        return False
    bare, said = strip_marks(title, title), _known_stems(sources)
    if _strange_names(bare, sources, said):
        return False
    if _KOREAN_ASKS.search(bare):
        return True
    if (stated := _STATES.search(bare)) and not _ASKS.search(bare[: stated.start()]):
        return terms(bare) <= said and not _is_flawed(bare, sources)
    words = terms(bare)
    known = words & (said | _ORDINARY_STEMS)
    return not has_cjk(bare) or len(known) >= _KNOWN_SHARE * len(words)


def _strange_names(title: str, sources: Sequence[str], said: set[str]) -> list[str]:
    """Return the words written like names that nobody said and that are no everyday words."""
    # With a word before it the first word is no first word: it may be a name as well.
    found = find_missing_names(find_name_words(f"on {title}"), sources)
    return [
        word
        for word in found
        if word.lower() not in _ORDINARY
        and not all(_is_known(part, said) for part in word.lower().split("-"))
    ]


def _is_known(word: str, said: set[str]) -> bool:
    """Tell whether a word of a title was said before, or is plain English and no name."""
    is_plain = word in _ORDINARY or word_rarity(word) <= _COMMON or _NO_NAME.search(word) is not None
    return is_plain or stem(word) in said


def _known_stems(sources: Sequence[str]) -> set[str]:
    return {stem(word) for source in sources for word in tokens(source)}


def _is_flawed(title: str, sources: Sequence[str]) -> bool:
    """A statement must hold against one source; a question that was asked holds by itself."""
    return all(find_flaws(title, [source]) for source in sources)
