"""Which engines a run asks, which step in when those fail, and which know a query's subject best.

Does not know how an engine is made, or where its key comes from. What a query is about is decided by its
words alone.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from fathom.errors import BadInput
from fathom.search import Capability
from fathom.state import LinkKind, Query, RunConfig

HYBRID = "hybrid"


@dataclass(frozen=True)
class EngineInfo:
    """What an engine is good for, and what it needs; nothing, if it needs nothing."""

    capabilities: frozenset[Capability]
    needs: str = ""


def _engine_info(needs: str, *capabilities: Capability) -> EngineInfo:
    return EngineInfo(frozenset(capabilities), needs)


KNOWN_ENGINES: Mapping[str, EngineInfo] = {
    "local": _engine_info("folders or files to search (--docs)", "local", "content"),
    "tavily": _engine_info("TAVILY_API_KEY", "web", "news", "content"),
    "serper": _engine_info("SERPER_API_KEY", "web", "news", "academic"),
    "google-scholar": _engine_info("SERPER_API_KEY", "academic"),
    "serper-images": _engine_info("SERPER_API_KEY", "image"),
    "brave-images": _engine_info("BRAVE_API_KEY", "image"),
    "searxng-images": _engine_info("SEARXNG_URL", "image"),
    "brave": _engine_info("BRAVE_API_KEY", "web", "news"),
    "exa": _engine_info("EXA_API_KEY", "web", "semantic", "content"),
    "google": _engine_info("GOOGLE_API_KEY and GOOGLE_CSE_ID", "web"),
    "searxng": _engine_info("SEARXNG_URL", "web", "news"),
    "model": _engine_info("OPENAI_API_KEY", "web"),
    "duckduckgo": _engine_info("", "web"),
    "wikipedia": _engine_info("", "web"),
    "semantic-scholar": _engine_info("", "academic"),
    "arxiv": _engine_info("", "academic"),
    "openalex": _engine_info("", "academic"),
    "pubmed": _engine_info("", "academic"),
    "crossref": _engine_info("", "academic"),
    "europe-pmc": _engine_info("", "academic"),
    "mcp": _engine_info("FATHOM_MCP_FILE", "web", "content"),
    "retriever": _engine_info("FATHOM_RETRIEVER", "content"),
}
# In order of preference: the first that is configured is asked, the next ones are spare.
_PAPERS = ("semantic-scholar", "arxiv", "openalex", "europe-pmc", "crossref")
_NEWS = ("tavily", "serper", "brave", "searxng")
_CHEAP = ("serper", "searxng", "brave", "tavily", "exa", "google")
_DEEP = ("tavily", "exa", "serper", "brave", "searxng", "google")
_IMAGES = ("serper-images", "brave-images", "searxng-images")
_KEYLESS = ("duckduckgo", "wikipedia")
_IN_HYBRID = ("tavily", "serper", "brave", "exa", "google", "searxng", "model", "mcp", "retriever")
_KINDS: tuple[Capability, ...] = ("web", "academic", "image")  # an engine is of the first that it has


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
_ABOUT_PAPERS = re.compile(
    r"\bpapers?\b|\bstud(?:y|ies)\b|\barticles?\b|\bpreprints?\b|\bliterature\b|논문|연구|문헌", re.I
)


@dataclass(frozen=True)
class EngineChoice:
    """Names of the engines to ask at once, of those to ask in the place of one that fails, and of those to
    ask besides where a query is about their subject."""

    asked: list[str]
    spare: list[str]
    specialists: list[str] = field(default_factory=list)


def engine_kind(capabilities: Collection[Capability]) -> Capability | None:
    """What an engine is asked for in the first place; only one of the same kind can stand in for it."""
    return next((kind for kind in _KINDS if kind in capabilities), None)


def choose_engines(run_config: RunConfig, available: Collection[str]) -> EngineChoice:
    """The engines of a run; BadInput says what is missing."""
    named = [resolve_engine_name(name) for name in run_config.engines]
    if HYBRID in named:
        named = [n for n in named if n != HYBRID] + [n for n in _IN_HYBRID if n in available]
        named = named or [n for n in _KEYLESS if n in available]
    if not named and not run_config.docs:
        return _by_capability(run_config, available)
    if run_config.docs:
        named = ["local", *named]
    kinds = {engine_kind(KNOWN_ENGINES[name].capabilities) for name in named} if run_config.fallback else ()
    spare = [n for kind in _KINDS if kind in kinds for n in _of_kind(kind, run_config, available)]
    return _checked_choice([*named, *_for_images(run_config, available)], spare, available)


def _by_capability(run_config: RunConfig, available: Collection[str]) -> EngineChoice:
    """The choice when nobody chose: by what is wanted, then by cost."""
    asked: list[str] = []
    spare: list[str] = []
    if run_config.academic:
        papers = _of_kind("academic", run_config, available)
        asked, spare = [*asked, *papers[:1]], [*spare, *papers[1:]]
    if run_config.news or not run_config.academic:
        web = [n for n in _of_kind("web", run_config, available) if n not in _KEYLESS]
        keyless = [n for n in _KEYLESS if n in available]
        asked += web[:1] or keyless
        spare = [*web[1:], *(keyless if web else []), *spare]
    choice = _checked_choice([*asked, *_for_images(run_config, available)], spare, available)
    known = [] if run_config.news and not run_config.academic else [n for n in SPECIALISTS if n in available]
    return replace(choice, specialists=[n for n in known if n not in choice.asked])


def _of_kind(kind: Capability, run_config: RunConfig, available: Collection[str]) -> list[str]:
    """The engines of a kind that are configured, the preferred one first."""
    web = _NEWS if run_config.news else _DEEP if run_config.depth == "comprehensive" else _CHEAP
    order = {"academic": _PAPERS, "image": _IMAGES}.get(kind, (*web, *_KEYLESS))
    return [name for name in order if name in available]


def _for_images(run_config: RunConfig, available: Collection[str]) -> list[str]:
    """The engine that looks for images, if they are wanted; Exa shows some without one."""
    return _of_kind("image", run_config, available)[:1] if run_config.images else []


def _checked_choice(asked: Sequence[str], spare: Sequence[str], available: Collection[str]) -> EngineChoice:
    for name in asked:
        if name not in available:
            raise BadInput(f"{name} needs {KNOWN_ENGINES[name].needs}.")
    if not asked:
        raise BadInput("No search engine is configured; fathom doctor says what is missing.")
    kept = list(dict.fromkeys(asked))
    return EngineChoice(kept, [n for n in dict.fromkeys(spare) if n not in kept])


def resolve_engine_name(name: str) -> str:
    """The engine meant by a word; one that nobody knows is refused with the nearest that is known."""
    word = name.strip().lower().replace("_", "-")
    if word in KNOWN_ENGINES or word == HYBRID:
        return word
    near = get_close_matches(word, [*KNOWN_ENGINES, HYBRID], n=1)
    guess = f" Did you mean {near[0]}?" if near else ""
    raise BadInput(f"There is no engine {name!r}; known are {', '.join([*KNOWN_ENGINES, HYBRID])}.{guess}")


def specialists_for(query: Query, known: Collection[str], *, is_academic: bool) -> list[str]:
    """The engines whose subject a query is about; outside academic runs only for queries after papers."""
    if not (is_academic or query.family == "academic"):
        return []
    return [name for name in known if name in SPECIALISTS and _PATTERNS[name].search(query.text)]


def links_wanted(text: str) -> list[LinkKind]:
    """Which papers around a paper a question asks for; none, if it does not speak of papers."""
    if not _ABOUT_PAPERS.search(text):
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
