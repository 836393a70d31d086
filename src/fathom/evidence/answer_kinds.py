"""What kind of answer a question asks for, how directly a sentence gives it, and whether the claims do.

English and Korean words decide: dates for "latest", a number for "how many", two sides for "versus". They
are in `lexicon/questions.toml`, with the gap and the queries of a failed check. Each check is a small pure
function that passes or fails with a reason. Truth and relevance are scored elsewhere.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache, partial
from typing import get_args

from fathom.evidence.checks import has_phrase, load_table
from fathom.evidence.checks.dates import parse_day
from fathom.evidence.checks.strict import find_amounts
from fathom.state import Check, CheckName, Claim, Difference, Gap, Judgement, Page
from fathom.text.languages import is_korean, wants_korean
from fathom.text.mentions import find_name_words
from fathom.text.normalization import one_line
from fathom.text.ranking import terms
from fathom.text.sentences import is_verb
from fathom.text.tokens import has_cjk

_NEXT = re.compile(r"[?？;] ?|,? (?:and|but) (?=(?:how|what|why|when|which|who|where)\b)| 그리고 ")
_KIND_PATTERNS: dict[CheckName, re.Pattern[str]] = {
    name: re.compile("|".join(load_table("questions")[name]["asked"]), re.IGNORECASE)
    for name in get_args(CheckName)
}
_SIDES = re.compile(
    r"(?:compare[ds]?|(?:differences?|comparison) between) (?>(?P<a>[^,?]{1,100}?) (?:and|with|to) )"
    r"(?P<b>[^,?]{1,100}?)(?= (?:for|in|as|when|on|with)\b|[,?.]|$)"
    r"|(?<![\w.+#-])(?:(?P<c>[\w.+#-]+(?: [\w.+#-]+)?) (?:vs\.?|versus) (?P<d>[\w.+#-]+(?: [\w.+#-]+)?)"
    r"|(?P<e>[\w.+#-]+) differs? from (?P<f>[\w.+#-]+)"
    r"|(?P<g>[\w.+#-]+?)(?:와|과|이랑|랑|하고) (?P<h>[\w.+#-]+?)(?:의|을|를)? ?(?:차이|비교|장단점))",
    re.IGNORECASE,
)

_THING = re.compile(
    r"^(?:define|what (?:is|are)|.*\b(?:definition|meaning) of)\s+(?:an? |the )?(?P<en>.+)$"
    r"|^(?P<ko>.+?)(?:이란|란|의 정의|의 뜻|은|는)",
    re.IGNORECASE,
)


@lru_cache(maxsize=256)
def find_answer_kinds(question: str) -> Mapping[CheckName, Sequence[str]]:
    """Return the kinds of answer the question asks for, in a fixed order, with the parts that ask."""
    parts = [part.strip().rstrip(".") for part in _NEXT.split(one_line(question)) if part.strip()]
    found = {name: [p for p in parts if sign.search(p)] for name, sign in _KIND_PATTERNS.items()}
    return {name: own for name, own in found.items() if own}


def find_compared_things(question: str) -> list[str]:
    """Return the things a comparison names; none if unclear."""
    found = _SIDES.search(one_line(question))
    return [side.strip() for side in found.groups() if side] if found else []


def find_defined_thing(question: str) -> str:
    """Return the thing whose definition is asked for."""
    found = _THING.match(one_line(question).rstrip("?？."))
    return (found["en"] or found["ko"] or "").strip() if found else ""


DATE_PATTERN = re.compile(
    r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d)|\d{1,4}년|\d{1,2}월|\b\d{1,2}(?:st|nd|rd|th) century\b|세기"
    r"|\b(?:January|February|March|April|June|July|August|September|October|November|December)\b|\b\d{1,2}:\d\d\b"
)


_FACTS = ("date", "amount", "counting")
_DOES = re.compile(
    r"^(?:what|how) (?:does|do|did) (?:(?:an?|the) )?(?P<en>[\w .+#-]+?) (?:do|work)$"
    r"|^what (?:is|are) (?:(?:an?|the) )?(?P<use>[\w .+#-]+?) (?:used )?for$"
    r"|^(?P<ko>.+?)(?:은|는|이|가) (?:무엇을 하|(?:무슨|어떤) (?:일을 하|역할)|어떻게 [작동]동)",
    re.IGNORECASE,
)

_IS = re.compile(
    r"^(?:what|who) (?:is|are|was|were) (?:(?:an?|the) )?(?P<en>[\w .+#-]+?)$"
    r"|^(?P<ko>.+?)(?:이란|란|은|는|이|가)? ?(?:무엇(?!을)|뭐(?!를))",
    re.IGNORECASE,
)
_OF_A_THING = re.compile(r"\s(?:of|between|for|in|on|to|from|with|and|or|when|if|that)\s|의\s", re.IGNORECASE)
_PLACE = re.compile(r"\b(?:in|at|near|on|off|from|of|between|outside)\s+(?:the\s+)?(?:\w+\s+of\s+)?[A-Z]")
_UNNAMED = 0.25  # of a sentence about somebody that does not say the name of the thing
_MARKS = ".,;:!?()[]\"'`*“”‘’–—"
_KOREAN_SUBJECT = re.compile(r"(?<![가-힣])[가-힣]{2,}(?=이 |가 |은 |는 |에 의해|씨)")
_KOREAN_IS = re.compile(
    r"(?:이다|입니다|이에요|예요|말한다|말합니다|뜻한다|뜻합니다|가리킨다|의미한다)[.!?]*$"
)
_KOREAN_DOES = re.compile(r"(?<![이였])(?:다|요)[.!?]*$")
_KOREAN_NO_DEED = re.compile(r"(?:든다|있다|없다|된다|않다|이다|였다|였었다|입니다|있습니다|됩니다)[.!?]*$")


def score_directness(question: str, sentence: str) -> float:
    """Score from 0, nothing of the kind asked for, to 1; 0 for a question of no particular kind."""
    asked, said = one_line(question).rstrip("?？. "), one_line(sentence)
    if found := _DOES.match(asked):
        return _score_action(said, found)
    if (found := _IS.match(asked)) and (score := _score_definition(said, found)):
        return score
    kinds = find_answer_kinds(question)
    if "date" in kinds and DATE_PATTERN.search(said):
        return _score_same_action(asked, said)
    if "cause" in kinds and has_phrase("cause", said):
        return 1.0
    is_counted = "counting" in kinds and has_phrase("count", said)
    if is_counted or (not kinds.keys().isdisjoint({"amount", "counting"}) and find_amounts(said)):
        return _score_same_action(asked, said)
    if has_phrase("asks_where", asked):
        return 1.0 if has_phrase("lies", said) else 0.3 if _PLACE.search(said) else 0.0
    if has_phrase("asks_who", asked) and _is_somebody_new(asked, said):
        return _score_same_action(asked, said) * (1.0 if _is_named(asked, said) else _UNNAMED)
    return 0.0


def is_factual_question(question: str) -> bool:
    """Tell whether a date, a figure, a place or a person answers it."""
    asked = one_line(question).rstrip("?？. ")
    is_of_place = has_phrase("asks_where", asked) or has_phrase("asks_who", asked)
    return is_of_place or any(kind in find_answer_kinds(question) for kind in _FACTS)


def can_change_answer(kind: Difference, question: str) -> bool:
    """Tell whether sources that differ in this kind may differ in the answer.

    Only certain cases are told apart: a figure changes no date, and neither changes a person or a place.
    """
    parts = [part.strip().rstrip(".") for part in _NEXT.split(one_line(question)) if part.strip()]
    if kind not in ("number", "date") or not parts or not all(map(is_factual_question, parts)):
        return True
    asked = [find_answer_kinds(part).keys() & set(_FACTS) for part in parts]
    return any(facts and (kind == "date" or facts != {"date"}) for facts in asked)


def find_asked_thing(question: str) -> str:
    """Return the thing whose meaning or function is asked for; "" if a property of it is asked for."""
    asked = one_line(question).rstrip("?？. ")
    found = _DOES.match(asked) or _IS.match(asked)
    thing = next((part for part in found.groups() if part), "").strip() if found else ""
    return "" if _OF_A_THING.search(thing) else thing


def _score_definition(said: str, found: re.Match[str]) -> float:
    """Score whether the sentence defines the thing: highest for "is a kind of", lowest for any mention."""
    if found["ko"]:
        begins = re.match(rf"{re.escape(found['ko'])}(?:\([^)]*\))?(?:이란|란|은|는)\s", said)
        return 1.0 if begins and _KOREAN_IS.search(said) else 0.0
    thing = rf"^(?:(?:an?|the)\s+)?[`\"“*]*{re.escape(found['en'])}[`\"”*]*(?:\s*\([^)]*\))?"
    kind = r",?\s+(?:(?:is|are|was|were)\s+(?:(?:an?|the|one of|any)\s|\w+s that\b)|means\b"
    kind += r"|(?:refers?|stands?) \w+)"
    if re.match(thing + kind, said, re.IGNORECASE):
        return 1.0
    return 0.3 if re.match(thing + r"\s+(?:is|are|was|were)\b", said, re.IGNORECASE) else 0.0


def _score_action(said: str, found: re.Match[str]) -> float:
    """Score whether the sentence starts with the thing doing something; a definition counts too."""
    if found["ko"]:
        begins = re.match(rf"{re.escape(found['ko'])}(?:은|는|이|가)\s", said)
        return 1.0 if begins and _KOREAN_DOES.search(said) and not _KOREAN_NO_DEED.search(said) else 0.0
    thing = re.escape(found["en"] or found["use"])
    begins = re.match(
        rf"^(?:(?:an?|the)\s+)?[`\"“*]*{thing}(?P<many>e?s)?[`\"”*]*\s+(?:\w+ly\s+)?(?P<verb>\w+)\s+(?P<next>\w+)",
        said,
        re.IGNORECASE,
    )
    if not begins:
        return 0.0
    verb = begins["verb"].lower()
    if verb in {"is", "are"}:
        return 0.6 if begins["next"].lower() in {"a", "an", "the", "used", "responsible"} else 0.0
    if verb in {"can", "will", "lets", "let"}:
        return 1.0
    if verb in {"costs", "cost", "lasts", "last", "weighs", "was", "were", "has", "have"}:
        return 0.0
    is_third = verb.endswith("s") and not verb.endswith("ss")
    return 1.0 if (is_verb(verb) if begins["many"] else is_third) else 0.0


def _score_same_action(asked: str, said: str) -> float:
    """Score 1 if the sentence has the asked verb: "opened" for "when did it open"."""
    words = asked.split()
    deeds = [words[-1]] if has_cjk(asked) else [w for w in words if is_verb(w)]
    wanted = {term for deed in deeds for term in terms(deed)}
    is_used = "use" in asked and has_phrase("used_by", said)
    return 1.0 if not wanted or wanted & terms(said) or is_used else 0.4


def _is_named(asked: str, said: str) -> bool:
    """Tell whether the sentence names a thing that the question names; True if it names none."""
    words = said.lower().split()
    names = [name.lower() for name in find_name_words(asked)]
    return not names or any(word.strip(_MARKS).startswith(name) for word in words for name in names)


def _is_somebody_new(asked: str, said: str) -> bool:
    """Tell whether the sentence names a person whom the question does not."""
    first = re.match(r"[A-Z]\w+ [A-Z]\w+", said)  # a name at the start looks like any capitalized first word
    found = [*find_name_words(said), *(first.group().split()[:1] if first else [])]
    found += _KOREAN_SUBJECT.findall(said)
    return any(name.lower() not in asked.lower() for name in found)


MOST_REJECTIONS = 2  # per check in a run
# What code can only suspect from words; a model that reads the evidence confirms it.
SUSPECTED_CHECKS: frozenset[CheckName] = frozenset({"cause", "definition", "comparison"})
_ESSENTIAL: frozenset[CheckName] = frozenset({"counting", "amount", "date", "comparison"})
_RELEVANT_FROM = 0.3
_FRESH_DAYS = 365
_LIST = 3
_YEAR = re.compile(r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d)")
_DEFINES = re.compile(r"\b(?:is|are|was|were|means|refers to)\b|이다|란|이란|은 |는 ")
_ITEMS = re.compile(r"[,;、·]|\band\b|\bor\b|및|와 |과 ")


@dataclass(frozen=True)
class _CheckInput:
    question: str
    claims: Sequence[Claim]  # the relevant ones
    pages: Sequence[Page]
    today: date


CheckOutcome = tuple[bool, str]


def _check_freshness(at: _CheckInput) -> CheckOutcome:
    cited = {quote.page for claim in at.claims for quote in claim.quotes}
    dates = sorted(d for page in at.pages if page.sha in cited and (d := parse_day(page.published)))
    years = {int(y) for claim in at.claims for y in _YEAR.findall(claim.statement)}
    if dates and (at.today - dates[-1]).days <= _FRESH_DAYS:
        return True, f"the newest cited page is of {dates[-1]}"
    if years and at.today.year - 1 <= max(years) <= at.today.year:
        return True, f"a claim speaks of {max(years)}"
    return False, f"the newest cited page is of {dates[-1]}" if dates else "no cited page has a date"


def _find_answer(at: _CheckInput, is_answer: Callable[[str], object], how: str, lacking: str) -> CheckOutcome:
    found = next((claim.statement for claim in at.claims if is_answer(claim.statement)), None)
    return (False, lacking) if found is None else (True, f"{how} in “{found[:120]}”")


def _check_counting(at: _CheckInput) -> CheckOutcome:
    def is_answer(said: str) -> bool:
        has_number = bool(find_amounts(said)) or has_phrase("count", said)
        return has_number and not terms(at.question).isdisjoint(terms(said))

    return _find_answer(at, is_answer, "counted", "no relevant claim has a number")


def _check_completeness(at: _CheckInput) -> CheckOutcome:
    longest = max((len(_ITEMS.findall(c.statement)) for c in at.claims), default=0)
    if longest >= _LIST - 1:
        return True, f"a claim lists {longest + 1} things"
    distinct = {one_line(c.statement).casefold() for c in at.claims}
    if len(distinct) >= _LIST and len({c.quotes[0].page for c in at.claims}) > 1:
        return True, f"{len(distinct)} different claims from several pages"
    return False, "no claim lists several things, and few name one"


def _check_comparison(at: _CheckInput) -> CheckOutcome:
    said = [terms(c.statement) for c in at.claims]
    missing = [
        side for side in find_compared_things(at.question) if not any(terms(side) & words for words in said)
    ]
    return not missing, f"nothing is known of {', '.join(missing)}" if missing else "both sides have evidence"


def _check_definition(at: _CheckInput) -> CheckOutcome:
    thing = terms(find_defined_thing(at.question))

    def is_answer(said: str) -> bool:
        head, *rest = _DEFINES.split(said)
        return bool(rest and thing) and thing <= terms(head)

    return _find_answer(at, is_answer, "defined", "no claim says what it is")


def _check_cause(at: _CheckInput) -> CheckOutcome:
    return _find_answer(at, partial(has_phrase, "cause"), "explained", "no claim gives a cause")


def _check_date(at: _CheckInput) -> CheckOutcome:
    return _find_answer(at, DATE_PATTERN.search, "dated", "no claim has a date")


_CHECKS: dict[CheckName, Callable[[_CheckInput], CheckOutcome]] = {
    "freshness": _check_freshness,
    "counting": _check_counting,
    "amount": _check_counting,
    "completeness": _check_completeness,
    "comparison": _check_comparison,
    "definition": _check_definition,
    "cause": _check_cause,
    "date": _check_date,
}


def run_checks(
    question: str,
    claims: Sequence[Claim],
    pages: Sequence[Page],
    today: date,
    before: Sequence[Judgement] = (),
    language: str | None = None,
) -> list[Check]:
    """Run the checks that the question needs; each has a reason, and a gap if it fails.

    Gaps are in the report's language if one is set.
    """
    relevant = [c for c in claims if c.relevance >= _RELEVANT_FROM]
    done = []
    for name, parts in find_answer_kinds(question).items():
        inputs = [_CheckInput(part, relevant, pages, today) for part in parts]
        answers = [(at, *_CHECKS[name](at)) for at in inputs]
        # One result per check: of the first part that fails it.
        at, is_passed, why = next((a for a in answers if not a[1]), answers[0])
        gap = None if is_passed else _make_gap(name, at, count_rejections(name, before), language)
        done.append(Check(name=name, is_passed=is_passed, why=why, gap=gap))
    return done


def confirm_checks(checks: Sequence[Check], failed: Sequence[CheckName] | None) -> list[Check]:
    """Apply the judge's answer to suspected checks: those it does not confirm have passed.

    `failed` is None if no model read the evidence: then a suspicion has no effect.
    """

    def decide(check: Check) -> Check:
        if check.is_passed or check.name not in SUSPECTED_CHECKS:
            return check
        if failed is None:
            return check.model_copy(update={"gap": None})
        if check.name in failed:
            return check
        return check.model_copy(update={"is_passed": True, "why": "the judge found it", "gap": None})

    return [decide(check) for check in checks]


def count_rejections(name: str, before: Sequence[Judgement]) -> int:
    """Count how often the check prevented a stop in this run."""
    return sum(1 for j in before if j.held is not None and any(c.name == name and c.gap for c in j.checks))


def list_failing_checks(checks: Sequence[Check], before: Sequence[Judgement]) -> list[str]:
    """Return failing checks that may still prevent a stop, each at most twice in a run."""
    return [c.name for c in checks if c.gap and count_rejections(c.name, before) < MOST_REJECTIONS]


def _make_gap(name: CheckName, at: _CheckInput, rejections: int, language: str | None) -> Gap:
    """Make the gap of a check, with a new query each time; a minor one after its last rejection."""
    known = load_table("questions")[name]
    description = known["gap_ko" if wants_korean(at.question, language) else "gap_en"]
    endings = known["queries_ko" if is_korean(at.question) else "queries_en"]
    asked = one_line(at.question).rstrip("?？. ")
    ending = endings[min(rejections, len(endings) - 1)].format(year=at.today.year)
    return Gap(
        description=description.format(asked),
        priority="low" if rejections >= MOST_REJECTIONS else "high" if name in _ESSENTIAL else "medium",
        suggested_query=f"{asked} {ending}".strip(),
        question=_find_main_question(at),
    )


def _find_main_question(at: _CheckInput) -> str:
    """Return the sub-question with most of the relevant claims."""
    asked = [c.question for c in at.claims]
    return max(set(asked), key=lambda q: (asked.count(q), q)) if asked else ""
