"""Analyse a question without a model: its parts, its names, its references, and parts that wait for others.

In Self-Ask, the answer to one part is inserted into the query of another: a claim of high relevance answers,
and its key phrase is inserted.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from fathom.evidence.answer_kinds import find_compared_things
from fathom.evidence.scoring import ANSWERED_FROM
from fathom.state import Claim, Query, SubQuestion
from fathom.text.languages import choose_particle, is_korean
from fathom.text.mentions import find_name_words
from fathom.text.normalization import one_line
from fathom.text.ranking import terms
from fathom.text.sentences import is_verb
from fathom.text.tokens import STOP_WORDS

_NAME = re.compile(
    r"[A-Z][\w'’&-]*\s+of\s+[A-Z][\w'’&-]*(?:\s+[A-Z][\w'’&-]*)*"
    r"|[A-Z][\w'’&.-]*(?:\s+(?:(?:de|van|von|la)\s+)?[A-Z][\w'’&.-]*)*"
)
_QUOTED = re.compile(r"[“\"'‘「《]([^”\"'’」》]{2,60})[”\"'’」》]")
_AMOUNT = re.compile(r"\d[\d.,]*(?:\s?%|\s+[a-z]{3,})?|\d[\d.,]*\s?[가-힣]{1,4}")
_YEAR = re.compile(r"\b(?:1[0-9]|20)\d{2}\b")
_ASKS_YEAR = re.compile(r"\bwhen\b|\byear\b|\bdate\b|언제|연도|몇\s*년", re.IGNORECASE)
_ASKS_AMOUNT = re.compile(r"\bhow (?:many|much|long|far|old|big|high|tall)\b|얼마|몇", re.IGNORECASE)
_KOREAN_ENDING = re.compile(
    r"(?<=[가-힣])(?:에서|에게|으로|이라는|라는|이며|이고|이었다|였다|이다|은|는|이|가|을|를|의|에|와|과|로)$"
)
_KOREAN_VERB_ENDING = re.compile(r"(?:다|요|까|며|고|서|한|된|하는|되는|했|하여)$")
_MAX_PHRASE_WORDS = 6


def extract_key_phrase(statement: str, question: str) -> str:
    """Return the part of a statement that answers the question, short enough for a query."""
    text = one_line(statement)
    if wanted := _wanted_number(text, question):
        return wanted
    if is_korean(text):
        return _korean_phrase(text, question) or _remaining_words(text, question)
    said = question.casefold()
    names = [*_QUOTED.findall(text), *map(_without_opening, _NAME.findall(text))]
    return next((name for name in names if _is_new(name, said)), "") or _remaining_words(text, question)


def _wanted_number(text: str, question: str) -> str:
    if _ASKS_YEAR.search(question) and (found := _first_new(_YEAR.findall(text), question)):
        return found
    if _ASKS_AMOUNT.search(question):
        return _first_new((m.strip() for m in _AMOUNT.findall(text)), question)
    return ""


def _first_new(found: Iterable[str], question: str) -> str:
    return next((one for one in found if one not in question), "")


def _without_opening(name: str) -> str:
    """Remove a leading The or It, which is not part of a name."""
    words = name.rstrip(".'’-").split()
    while words and words[0].lower() in STOP_WORDS:
        words = words[1:]
    return " ".join(words)


def _is_new(name: str, said: str) -> bool:
    return len(name) > 1 and name.casefold() not in said and name.lower() not in STOP_WORDS


def _korean_phrase(text: str, question: str) -> str:
    """Return the first run of words that are not in the question and are no verbs."""
    known = terms(question)
    run: list[str] = []
    for word in re.findall(r"[\w·-]+", text):
        bare = _KOREAN_ENDING.sub("", word) or word
        is_verb = bare == word and _KOREAN_VERB_ENDING.search(word)
        if is_verb or terms(bare) & known or word in STOP_WORDS:
            if run:
                break
            continue
        run.append(bare)
        if bare != word or len(run) == _MAX_PHRASE_WORDS:  # a particle ends the phrase
            break
    return " ".join(run)


def _remaining_words(text: str, question: str) -> str:
    known = terms(question)
    words = [w for w in re.findall(r"[\w'’-]+", text) if w.lower() not in STOP_WORDS and not terms(w) & known]
    return " ".join(words[:_MAX_PHRASE_WORDS]) or text[:80]


_PLACEHOLDER = re.compile(r"\{\s*(Q\d+)\s*\}", re.IGNORECASE)
_ANY_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def drop_unsound_needs(questions: Sequence[SubQuestion]) -> list[SubQuestion]:
    """Drop dependencies that are unknown, on itself, or circular."""
    known = {q.id for q in questions}
    kept: dict[str, list[str]] = {}
    for question in questions:
        needs: list[str] = []
        for need in dict.fromkeys(question.needs):
            if need in known and need != question.id and not _reaches(need, question.id, kept):
                needs.append(need)
                kept[question.id] = needs
    return [q.model_copy(update={"needs": kept.get(q.id, [])}) for q in questions]


def longest_chain(questions: Sequence[SubQuestion]) -> int:
    """Return the length of the longest chain of dependent answers; 1 if nothing waits."""
    by_id = {q.id: q for q in questions}

    def length(question: SubQuestion) -> int:
        return 1 + max((length(by_id[need]) for need in question.needs if need in by_id), default=0)

    return max((length(q) for q in drop_unsound_needs(questions)), default=1)


def find_answers(questions: Sequence[SubQuestion], claims: Sequence[Claim]) -> dict[str, str]:
    """Return the key phrase of the best answer to each answered sub-question."""
    best: dict[str, Claim] = {}
    for claim in claims:
        is_better = claim.question not in best or claim.relevance > best[claim.question].relevance
        if claim.relevance >= ANSWERED_FROM and is_better:
            best[claim.question] = claim
    asked = {q.id: q for q in drop_unsound_needs(questions)}
    found: dict[str, str] = {}

    def answer(question: SubQuestion) -> None:
        """Answer its dependencies first: the phrase it was asked with is not its answer."""
        for need in question.needs:
            if need in asked and need not in found:
                answer(asked[need])
        if question.id in best:
            known = " ".join([question.text, *(found.get(need, "") for need in question.needs)])
            found[question.id] = extract_key_phrase(best[question.id].statement, known)

    for question in asked.values():
        answer(question)
    return found


def is_askable(question: SubQuestion, answered: Mapping[str, str]) -> bool:
    """Tell whether all its dependencies are answered."""
    return all(need in answered for need in question.needs)


def fill_answers(query: Query, needs: Sequence[str], answered: Mapping[str, str]) -> Query | None:
    """Fill the answers into the query; None while one of them is missing."""
    named = [found.upper() for found in _PLACEHOLDER.findall(query.text)]
    if any(need not in answered for need in [*needs, *named]):
        return None
    text = _PLACEHOLDER.sub(lambda found: answered[found.group(1).upper()], query.text)
    said = text.casefold()
    missing = [answered[n] for n in needs if n not in named and answered[n].casefold() not in said]
    return query.model_copy(update={"text": " ".join([*text.split(), *missing])})


def has_placeholder(text: str) -> bool:
    """Tell whether the text has an unfilled placeholder."""
    return _ANY_PLACEHOLDER.search(text) is not None


def drop_placeholders(text: str) -> str:
    """Return the text without placeholders, to search without their answers."""
    return " ".join(_ANY_PLACEHOLDER.sub(" ", text).split())


def _reaches(start: str, goal: str, needs: Mapping[str, Sequence[str]]) -> bool:
    return start == goal or any(_reaches(need, goal, needs) for need in needs.get(start, ()))


_ASKING = (
    "how|what|why|when|where|which|who|whom|whose|does|do|did|is|are|was|were|can|could|should|has|have|will"
)
_NEXT_PART = re.compile(
    rf"[,;]? (?:and|or|but) (?=(?:{_ASKING})\b)|, (?=(?:how|what|why|when|where|which|who)\b)|; | 그리고 ",
    re.IGNORECASE,
)
_PHRASE = re.compile(r"\b(?:[A-Z][\w.]*[A-Za-z0-9](?:\s+[A-Z][\w.]*[A-Za-z0-9])*)\b|\b\w+_\w+\b")
_IS_ASKING = re.compile(rf"(?:{_ASKING})\b", re.IGNORECASE)
_MOST_PARTS = 4
_HELPERS = "is are was were does do did has have had can could will would should"
_HELPER_WORDS = frozenset(_HELPERS.split())
_FORMS_OF_BE = frozenset(("is", "are", "was", "were"))
_ARTICLES = frozenset(("a", "an", "the"))
_STANDINS = "it they he she this that these those there you we i one"
_PRONOUNS = frozenset(_STANDINS.split())
_AFTER_A_NAME = """
in on at for of with from to by about as than and or when while if because do work look born made known held
have has had need be been get
"""
_PHRASE_ENDS = frozenset(_AFTER_A_NAME.split())
_LONGEST_NAME = 7
_KOREAN_ASKING = re.compile(r"얼마|언제|어디|누가|누구|왜|무엇|무슨|어떻게|어떤|어느|몇|뭐")
_KOREAN_BARE = re.compile(
    r"(?:누가|언제|어디서|어디에서|어디에|왜|얼마나|어떻게|몇)(?:[\s?？]|$)"
)  # nothing is named
_KOREAN_NEXT = re.compile(r"(?<=[가-힣])(?P<end>이고|이며|고|며),?\s+")
# "it" without a referent: "how long does it take to …", "is it true that …"
_EMPTY_IT = re.compile(r"\bit\b.{0,300}\b(?:to|that|whether|if)\s+\w", re.IGNORECASE)
_KOREAN_STANDIN = re.compile(
    r"(?<![가-힣])(?:(?:그것|이것)(?P<mark>은|는|이|의|을|에|도|으로)?|(?P<of>그|이)(?=\s+[가-힣]+(?:은|는|이|가|을|를|의)\s))"
)
_KOREAN_WHEN = re.compile(r"(?:에|에서|에게|으로|로|까지|부터|때|경우)(?:은|는)$")
_POSSESSIVE = re.compile(r"\b(?:its|their)\b")
_SIDE_OF = re.compile(r"the (?:purpose|meaning|definition|aim|goal|point|use|idea) of (?=\S)", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:it|they|he|she|them)\b|\bone(?=$|\?)")
_COMPARED = re.compile(
    r"^.{0,200}?\bdo(?:es)? (.{1,200}?) (?:compare|differ) (?:with|to|from) ([^?,]{1,300})", re.IGNORECASE
)
_ASKS_WHO = re.compile(r"(?:who|whom|whose)\b", re.IGNORECASE)
_WHO_IS = re.compile(r"[Ww]ho(?:['’]s| is| was| are| were) [A-Z]\S*(?: [A-Z]\S*)*\?*$")
_HELPER_BEFORE = re.compile(r"\b(is|are|was|were|do|does|has|have)\s+$", re.IGNORECASE)
_PLURALS = {"is": "are", "was": "were", "does": "do", "has": "have"}
_SINGULARS = {many: one for one, many in _PLURALS.items()}
_FINAL_PRONOUN = re.compile(r"\b(?:it|them|one)(?=$|\?)")
_KOREAN_TOPIC = re.compile(r"^(?:\S+\s+){0,3}?\S+(?:은|는|이란|란)(?=\s)")


def split_question(question: str) -> list[str]:
    """Split a question into parts that stand alone; a comparison also gives both sides."""
    whole = one_line(question)
    pieces = [p for sentence in re.split(r"(?<=[?？])\s+", whole) for p in _NEXT_PART.split(sentence)]
    pieces = [p for piece in pieces for p in _korean_parts(piece)]
    parts = [_as_question(piece) for piece in pieces if len(piece.split()) >= 2 or len(piece) >= 6]
    parts = [part for part in parts if part]
    parts = [resolve_reference(part, parts[0]) if part != parts[0] else part for part in parts]
    if not is_korean(whole) and (sides := find_compared_things(whole)):
        parts = [_as_question(whole), *(f"What is {side}?" for side in sides)]
    return list(dict.fromkeys(parts))[:_MOST_PARTS] or [whole]


def resolve_reference(question: str, before: str) -> str:
    """Resolve "it" in a follow-up to the topic of the question before."""
    asked = one_line(question)
    if is_korean(asked):
        name = korean_name(before)
        if name and _KOREAN_BARE.match(asked):
            return f"{name}{choose_particle('은', name)} {asked}"
        if not name:
            return asked
        return _KOREAN_STANDIN.sub(lambda found: _fill_korean_pronoun(found, name), asked, count=1)
    return asked if _EMPTY_IT.search(asked) else _as_question(_fill_pronoun(asked, before))


def korean_name(before: str) -> str:
    """Return the name that a Korean follow-up leaves out: the topic, or in another language the subject."""
    if not is_korean(before):
        return re.sub(r"^(?:the|an?) ", "", find_subject(before), flags=re.IGNORECASE)
    topic = _korean_topic(one_line(before))
    return topic.rpartition("의 ")[0] or topic


def _fill_pronoun(part: str, first: str) -> str:
    """Replace "it" in a part by the topic of the part before.

    After a name of its own, only a final "it" refers back: "how does PostgreSQL store it".
    """
    pronoun = _POSSESSIVE.search(part) or _PRONOUN.search(part)
    if part == first or not pronoun:
        return part
    is_person = pronoun.group() in {"he", "she"}
    if is_person and _ASKS_WHO.match(first) and not _WHO_IS.match(first):
        return part  # "he" is the answer, which nobody has yet
    is_one = pronoun.group() in {"it", "its", "one"}
    both = [] if is_one or is_person else find_compared_things(first) or find_compared_sides(first)
    subject = " and ".join(both) or find_subject(first, is_one=is_one)
    if not subject:
        return part
    if find_name_words(part[: pronoun.start()]):
        return _FINAL_PRONOUN.sub(lambda _: subject, part, count=1)
    is_many = is_plural(subject)
    owner = f"{subject}'" if is_many and subject.endswith("s") else f"{subject}'s"
    if (owned := _POSSESSIVE.sub(owner.replace("\\", r"\\"), part, count=1)) != part:
        return owned
    helper = _HELPER_BEFORE.search(part[: pronoun.start()])
    said = (
        _PLURALS.get(helper[1].lower())
        if helper and is_many
        else helper and _SINGULARS.get(helper[1].lower())
    )
    filled = _PRONOUN.sub(lambda _: subject, part, count=1)
    if not helper or not said:
        return filled
    agreeing = said.title() if helper[1][0].isupper() else said
    return f"{filled[: helper.start(1)]}{agreeing}{filled[helper.end(1) :]}"


def is_plural(subject: str) -> bool:
    """Tell whether a subject is several things: "tidal barrages", "dams and wind"; a name counts as one."""
    head = re.split(r" (?:of|at|in|on) ", subject)[0].split()[-1]
    is_many = head.islower() and head.endswith("s") and not head.endswith(("ss", "us", "is", "ics"))
    return is_many or " and " in subject


def find_compared_sides(question: str) -> list[str]:
    """Return both sides of "how does A compare with B"; none of other questions."""
    found = _COMPARED.match(question)
    return list(found.groups()) if found else []


def find_subject(question: str, *, is_one: bool = False) -> str:
    """Return the noun phrase a question is about, or its first name; `is_one`: what "it" can stand for."""
    if is_korean(question):
        return korean_name(question)
    words = _SIDE_OF.sub("", question.rstrip("?")).split() or [""]  # the thing, not its purpose
    first = next((n for n, word in enumerate(words) if word.lower() in _HELPER_WORDS), None)
    rest = words[first + 1 :] if first is not None else []
    if first and first > 1 and rest[:1] == ["there"] and words[0].lower() in {"which", "what"}:
        return f"the {' '.join(words[1:first])}"  # "Which lock modes are there?"
    if first is None and words[:1] and words[0].lower() in {"which", "what", "who"}:
        acts = next((n for n, word in enumerate(words) if n and is_verb(word.lower())), None)
        if acts is not None and words[0].lower() != "who":
            return " ".join(_phrase(words[acts + 1 :]))  # "Which countries use tidal power?"
        if words[0].lower() == "what" and words[2:] and words[1].endswith("s"):
            return " ".join(_phrase(words[2:]))  # "What limits solar cells?"
    phrase = _phrase(rest)
    after = rest[len(phrase) :]
    if first == 0 and words[0].lower() in _FORMS_OF_BE:
        return " ".join(_without_predicate(phrase, after))  # "Is the Orla Bridge safe?"
    if is_one and after[:1] == ["of"] and phrase[-1].endswith("s") and (owner := _phrase(after[1:])):
        return " ".join(owner)  # "What are the side effects of aspirin?"
    if len(rest) > 2 and rest[0].lower() in _PRONOUNS and rest[2].lower() in _ARTICLES:
        phrase = _phrase(rest[2:])  # "How do I create a role?"
    # "What is tidal power?", "What does git rebase do?"
    is_all = first == 1 and [w.lower() for w in after] in ([], ["do"], ["work"], ["mean"])
    # "How do tidal barrages compare …?", "How efficient are solar cells?"
    is_all = is_all or (words[0].lower() == "how" and (not after or is_verb(after[0].lower())))
    if phrase and (is_all or phrase[0].lower() in _ARTICLES or find_name_words(f"on {' '.join(phrase)}")):
        return " ".join(phrase)
    if phrase and after and after[0] in {"at", "in", "of", "on"} and after[1:] and after[1][:1].isupper():
        return " ".join(
            [*phrase, after[0], *_phrase(after[1:])]
        )  # "How much does tidal power at Swale cost?"
    name = next(iter(find_name_words(question)), "")
    at = next((n for n, word in enumerate(words) if name and name in word), 0)
    before = words[at - 1] if at else ""
    if before.lower() in _ARTICLES:
        return " ".join([before, *_phrase(words[at:])])
    return name


def _without_predicate(phrase: list[str], after: Sequence[str]) -> list[str]:
    """Return the subject of a question like "is it so": without what is asked whether it is."""
    again = next((n for n, word in enumerate(phrase) if n and word.lower() in _ARTICLES), None)
    if again is not None:
        return phrase[:again]  # "Is Rust a language?"
    is_asked_of = not after or after[0].lower() in {"for", "to", "than"}
    is_whole = len(phrase) - (phrase[:1] != [] and phrase[0].lower() in _ARTICLES) < 2
    return phrase[:-1] if is_asked_of and not is_whole and phrase[-1].islower() else phrase


def _phrase(words: Sequence[str]) -> list[str]:
    """Return the words up to the verb, or up to an adverbial of place, time or manner."""
    kept: list[str] = []
    for place, word in enumerate(words):
        bare = word.strip(",;").lower()
        is_name = word[:1].isupper()
        is_noun_part = bool(kept) and kept[-1].lower() in _ARTICLES  # "a materialized view"
        is_deed = bool(kept) and not is_name and not is_noun_part and (is_verb(bare) or bare.endswith("ed"))
        is_end = bare in _PHRASE_ENDS or is_deed
        if is_end and kept and not is_noun_part:
            break
        if is_end or (place == 0 and bare in _PRONOUNS) or len(kept) == _LONGEST_NAME:
            return []
        kept.append(word.strip(",;"))
    return kept


def _korean_parts(piece: str) -> list[str]:
    """Split two Korean questions joined by -고 or -며, each with the topic, if both ask something."""
    for found in _KOREAN_NEXT.finditer(piece):
        left, right = piece[: found.start()], piece[found.end() :]
        if not (_KOREAN_ASKING.search(left) and _KOREAN_ASKING.search(right)):
            continue
        ending = "인가요?" if found["end"] in {"이고", "이며"} else "나요?"
        name = _korean_topic(left)
        if name and not _korean_topic(right) and not _KOREAN_STANDIN.match(right):
            right = f"{name}{choose_particle('은', name)} {right}"
        return [left + ending, *_korean_parts(right)]
    return [piece]


def _korean_topic(question: str) -> str:
    """Return the topic of a Korean question, marked by 은, 는 or 이란, unless it is a time or place."""
    topic = _KOREAN_TOPIC.match(question)
    if topic is None or _KOREAN_WHEN.search(topic.group()):
        return ""
    return re.sub(r"(?:이란|란|은|는)$", "", topic.group())


def _fill_korean_pronoun(found: re.Match[str], name: str) -> str:
    """Replace 그것, or 그 in "그 구조는", by the name."""
    return f"{name}의" if found["of"] else f"{name}{choose_particle(found['mark'] or '', name)}"


def _as_question(piece: str) -> str:
    words = re.sub(r"^(?:and|or|but|그리고|또한|또)\s+", "", piece.strip(), flags=re.IGNORECASE)
    words = words.rstrip("?？.;,").strip()
    mark = "?" if "?" in piece or "？" in piece or _IS_ASKING.match(words) else ""
    return f"{words[:1].upper()}{words[1:]}{mark}" if words else ""


def add_missing_names(part: str, question: str) -> str:
    """Add the names of the whole question to a part, so that it can be a query."""
    missing = [name for name in find_name_words(question) if name.lower() not in part.lower()]
    return " ".join([part.rstrip("?"), *dict.fromkeys(missing)])


def find_recurring_names(texts: Sequence[str], known: str, most: int) -> list[str]:
    """Return names that several texts use and the question does not."""
    named = ([found.group() for found in _PHRASE.finditer(text) if not _is_opening(found)] for text in texts)
    counts = Counter(name for names in named for name in dict.fromkeys(names))
    seen = known.lower()
    ranked = [name for name, n in counts.most_common() if n >= 2 and _is_telling(name, seen)]
    return ranked[:most]


def _is_opening(found: re.Match[str]) -> bool:
    return found.start() == 0 and " " not in found.group() and "_" not in found.group()


def _is_telling(name: str, known: str) -> bool:
    return len(name) > 3 and name.lower() not in known and name.lower() not in STOP_WORDS
