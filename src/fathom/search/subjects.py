"""What a query is about, as far as some catalogue of papers knows that subject best, and whether it asks for
the papers around a paper.

Does not know engines but by name, and decides by words alone.
"""

import re
from collections.abc import Collection

from fathom.state import LinkKind, Query

# Stems of English words, and Korean words as they begin; `~` marks a whole word.
_MEDICINE = """
patient clinical disease disorder syndrome cancer tumor tumour diabet insulin drug dose dosage vaccin therap
treatment symptom diagnos surg infect virus viral bacteri antibiotic mortality placebo randomi epidemi cardi
neuro psychiatr depress pediatr paediatr pregnan obes hypertens stroke dement alzheimer gene~ genom protein
metformin statin nutrition vitamin health~ medical medicine hospital
환자 임상 질환 질병 항암 당뇨 약물 백신 치료 증상 진단 감염 바이러스
항생제 사망률 우울증 임신 비만 고혈압 치매 의학
"""
_EXACT_SCIENCES = """
neural transformer~ transformers~ machine-learning deep-learning language-model llm~ llms~ quantum
cosmolog galax astrophys black-hole exoplanet particle~ boson lattice theorem topolog algebra conjecture
superconduct semiconductor photonic plasma~ gravitation algorithm~ algorithms~ cryptograph robotics
신경망 트랜스포머 기계학습 딥러닝 언어모델 양자역학 우주론 은하 블랙홀 초전도 알고리즘
"""
_SOCIETY = """
econom inflation labor~ labour~ wage inequalit poverty migration election voter democra sociolog
education school teacher histor philosoph linguist literature archaeolog anthropolog policy~
policies~ governance bibliometric
경제 물가 노동 임금 불평등 빈곤 선거 민주주의 사회학 교육 역사 철학 언어학 고고학 인류학 정책
"""
_GREY = """
thesis theses dissertation monograph patent proceedings textbook working-paper google-scholar
학위논문 박사논문 석사논문 특허 단행본 구글-스칼라
"""
# The engine that knows a subject best; a name of an engine's own in a query is such a word too.
SPECIALISTS = {
    "pubmed": f"{_MEDICINE} pubmed medline",
    "arxiv": f"{_EXACT_SCIENCES} arxiv",
    "openalex": f"{_SOCIETY} openalex",
    "google-scholar": _GREY,
}
_CITING = re.compile(
    r"\bcit(?:es?|ed|ing|ations?)\b|\bfollow-?ups?\b|\b(?:builds?|built|building|based) on\b|\binfluenced?\b"
    r"|\blater (?:work|papers|studies)\b|\bsucceed|\breplicat|인용|후속|영향을\s*(?:준|받은|미친)|재현",
    re.IGNORECASE,
)
_CITED = re.compile(
    r"\breferences?\b|\bprior work\b|\bearlier (?:work|papers|studies)\b|\bfoundations?\b|\bseminal\b"
    r"|\borigins? of\b|\bliterature review\b|참고\s*문헌|선행\s*연구|이전\s*연구|기초가\s*된",
    re.IGNORECASE,
)
_PAPER = re.compile(
    r"\bpapers?\b|\bstud(?:y|ies)\b|\barticles?\b|\bpreprints?\b|\bliterature\b|논문|연구|문헌", re.I
)


def specialists_for(query: Query, known: Collection[str], *, is_academic: bool) -> list[str]:
    """The engines whose subject a query is about; outside academic runs only for queries after papers."""
    if not (is_academic or query.family == "academic"):
        return []
    return [name for name in known if name in SPECIALISTS and _PATTERNS[name].search(query.text)]


def links_wanted(text: str) -> list[LinkKind]:
    """Which papers around a paper a question asks for; none, if it does not speak of papers."""
    if not _PAPER.search(text):
        return []
    wanted: list[LinkKind] = ["citations"] if _CITING.search(text) else []
    return [*wanted, "references"] if _CITED.search(text) else wanted


def _pattern(words: str) -> re.Pattern[str]:
    """Any of the words: a stem may go on, but begins where a word begins, unless it is Korean."""
    parts = []
    for word in words.split():
        is_whole = word.endswith("~")
        stem = re.escape(word.removesuffix("~")).replace(r"\-", r"[\s-]?")
        parts.append((rf"\b{stem}\b" if is_whole else rf"\b{stem}") if word.isascii() else stem)
    return re.compile("|".join(parts), re.IGNORECASE)


_PATTERNS = {name: _pattern(words) for name, words in SPECIALISTS.items()}
