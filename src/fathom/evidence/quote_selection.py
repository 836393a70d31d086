"""Select the passages of a page worth quoting: whole units, ranked for the question.

A passage is scored with its headings and the page's title as context.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fathom.evidence.answer_kinds import (
    find_answer_kinds,
    find_asked_thing,
    find_compared_things,
    is_factual_question,
    score_directness,
)
from fathom.evidence.checks import has_phrase, phrase_pattern
from fathom.reading.units import Unit, whole_units
from fathom.state import SubQuestion
from fathom.state.model_io import ExtractedStatement
from fathom.text.normalization import one_line
from fathom.text.ranking import jaccard_similarity, stem, terms
from fathom.text.sentences import DEPENDENT_OPENING, is_complete_sentence, split_sentences
from fathom.text.similarity import embed, is_embeddable
from fathom.text.tokens import has_cjk, tokens

_QUOTES_A_QUESTION = 3
_FLOOR = 0.3  # of the worth of a passage with every word and nothing else
_USUAL_SCORE = 1.5  # the score that maps to 0.63; none maps to 1
_SAME_PASSAGE = 0.6
_READ_CHARS = 700  # of a long passage: its beginning says what it is about
_MAX_RESCORED = 40
_IN_HEADING, _IN_TITLE = 0.85, 0.6
_MEANING_WEIGHT, _HEADING_WEIGHT, _KIND_WEIGHT, _DEFINITION_WEIGHT, _FIRST_BONUS = 0.35, 0.45, 0.5, 0.7, 0.12
_SHORT_CHARS, _SHORT_PAIRED_CHARS = 40, 20  # a third of it for a sentence or an entry
_STATEMENT_CHARS = 400
_SECTIONS = ("section", "sections")
_NUMBERED = re.compile(r"^\d[\d.)]*+\s+|^(?:chapter|appendix|part|section)\s+\w+[.:]?\s+", re.IGNORECASE)
# How well a kind of passage fits a question for a list, for steps, or for anything else.
_FITS_LIST = {"list": 1.0, "sections": 0.9, "table": 0.8, "section": 0.5, "paragraph": 0.2}
_FITS_STEPS = {"list": 0.6, "section": 0.6, "code": 0.6, "sections": 0.5, "table": 0.2, "paragraph": 0.3}
_FITS_ANY = {"section": 0.4, "paragraph": 0.3, "list": 0.2}
_ASIDE = re.compile(r"(?<!\s)\s+\([^)]{0,200}\)")
_OPTION = re.compile(r"^`?-|[=(\[]|^`[A-Z_ ]+`$")
_TITLE_END = re.compile(r"(?<!\s)(?:\s*\(|\s+[—–|-]{1,2}\s)(?s:.*)")

# Words that name the kind of answer, and need not occur in it.
_ASKING_WORDS = "reason cause difference definition meaning purpose 이유 원인 차이 정의 의미 까닭"
_ASKING_STEMS = frozenset(map(stem, _ASKING_WORDS.split()))
_FULL_STOP = re.compile(r"(?<=[^\W\d])[.!。](?=\s|$)")
_MAX_QUESTIONS = 2
_UNWANTED = re.compile(r"\]\(|https?://\S+$|^\w+\s+\([\w ,.|\[\]]+\):$")


@dataclass(frozen=True)
class _QuoteCandidate:
    unit: Unit
    words: Counter[str]
    near: frozenset[str]  # the words of its headings
    is_first: bool  # the first under its heading


def select_quotes(questions: Sequence[SubQuestion], title: str, text: str) -> list[ExtractedStatement]:
    """Return the best passages of a page for each sub-question, best first, none inside another."""
    candidates = _list_candidates(text)
    if not candidates:
        return []
    in_title = {stem(word) for word in tokens(title)}
    rarity = _rarity(candidates)
    drafts: list[ExtractedStatement] = []
    for asked in questions:
        scored = _score_candidates(asked.text, candidates, title, in_title, rarity)
        for candidate, score in _choose_apart(scored):
            said, quote = (
                _statement(asked.text, candidate.unit),
                text[candidate.unit.start : candidate.unit.end],
            )
            drafts.append(ExtractedStatement(said, quote, asked.id, 1.0 - math.exp(-score / _USUAL_SCORE)))
    return drafts


def _list_candidates(text: str) -> list[_QuoteCandidate]:
    found: list[_QuoteCandidate] = []
    seen: set[tuple[str, ...]] = set()
    for unit in whole_units(text):
        if _is_readable(unit):
            said = f"{unit.context}\n{unit.text}" if unit.kind == "row" else unit.text
            words = Counter(map(stem, tokens(said)))
            near = frozenset(stem(word) for heading in unit.headings for word in tokens(heading))
            found.append(_QuoteCandidate(unit, words, near, unit.headings not in seen))
            if unit.kind not in _SECTIONS:
                seen.add(unit.headings)
    return found


def _is_readable(unit: Unit) -> bool:
    """Tell whether it is prose: not a label, a pointer or a run of symbols."""
    text = unit.text
    least = _SHORT_PAIRED_CHARS if has_cjk(text) else _SHORT_CHARS
    if unit.kind in {"definition", "row"} or text.endswith((".", "!", "?")):
        least //= 3
    if len(text) < least or _UNWANTED.search(text) or text.count("`") % 2:
        return False
    if unit.kind in {"paragraph", "item"} and has_phrase("points_elsewhere", text):
        return False
    if text.count("?") > max(_MAX_QUESTIONS, len(_FULL_STOP.findall(text))):
        return False  # the contents of a list of questions
    letters = sum(c.isalpha() or c.isspace() for c in text)
    return letters + sum(c.isdigit() for c in text) >= (
        0.6 if unit.kind in {"row", "table", "code"} else 0.75
    ) * len(text)


def _rarity(candidates: Sequence[_QuoteCandidate]) -> dict[str, float]:
    """Return the rarity of each word on this page; a word in every passage still counts a little."""
    counts = Counter(word for candidate in candidates for word in candidate.words)
    size = len(candidates)
    return {word: 1.0 + math.log((size + 1) / (count + 0.5)) / 4 for word, count in counts.items()}


def _score_candidates(
    question: str,
    candidates: Sequence[_QuoteCandidate],
    title: str,
    in_title: set[str],
    rarity: dict[str, float],
) -> list[tuple[_QuoteCandidate, float]]:
    """Return passages with words of the question and their scores, best first."""
    wanted = sorted(terms(question))
    rough = []
    for candidate in candidates:
        covered = _word_coverage(wanted, candidate, in_title, rarity)
        if covered:
            named = _heading_match(wanted, candidate.unit, title)
            bonus = _FIRST_BONUS * (candidate.is_first and named > 0)
            rough.append((candidate, covered + _HEADING_WEIGHT * named + bonus))
    rough = [(candidate, score) for candidate, score in rough if score >= _FLOOR]
    rough.sort(key=lambda pair: -pair[1])
    top = rough[:_MAX_RESCORED]
    weight = _DEFINITION_WEIGHT if find_asked_thing(question) else _KIND_WEIGHT
    fitting = [_kind_match(question, candidate, title) for candidate, _ in top]
    meaning = _meaning_scores(question, top, title)
    scored = [
        (candidate, score + weight * fit + _MEANING_WEIGHT * near - _length_penalty(candidate.unit))
        for (candidate, score), fit, near in zip(top, fitting, meaning, strict=True)
    ]
    return sorted(scored, key=lambda pair: -pair[1])


def _length_penalty(unit: Unit) -> float:
    """Return the penalty of a long passage, which has more words by chance."""
    return 0.1 * math.log2(max(1.0, len(unit.text) / (2 * _READ_CHARS)))


def _word_coverage(
    wanted: Sequence[str], candidate: _QuoteCandidate, in_title: set[str], rarity: dict[str, float]
) -> float:
    """Return the share of the question's words in a passage or its headings; 0 if it has none itself.

    A passage below a heading with the same words need not repeat them.
    """
    weights = {w: rarity.get(w, 1.6) * (0.35 if w in _ASKING_STEMS else 1.0) for w in wanted}
    total = sum(weights.values())
    own = [word for word in wanted if candidate.words[word]]
    if not own and not all(word in candidate.near or word in in_title for word in wanted):
        return 0.0
    said = 0.0
    for word in wanted:
        count = candidate.words[word]
        place = _IN_HEADING if word in candidate.near else _IN_TITLE if word in in_title else 0.0
        said += weights[word] * max(place, 1.0 if count else 0.0)
        said += weights[word] * 0.04 * min(count, 3)
    return said / total if total else 0.0


def _heading_match(wanted: Sequence[str], unit: Unit, title: str) -> float:
    """Return how far a heading or the title has the words of the question and no others."""
    best = 0.0
    asked = set(wanted)
    for place, heading in enumerate(reversed([title, *unit.headings])):
        words = terms(_NUMBERED.sub("", heading))
        shared = len(words & asked)
        if words and shared:
            best = max(best, math.sqrt(shared / len(words) * shared / len(asked)) * 0.9**place)
    return best


def _meaning_scores(question: str, top: Sequence[tuple[_QuoteCandidate, float]], title: str) -> list[float]:
    """Return semantic similarities; shared words where the vectors do not know the language."""
    if not top or not is_embeddable(question):
        return [0.6 * min(1.0, score) for _, score in top]
    units = [candidate.unit for candidate, _ in top]
    texts = [f"{(unit.headings or (title,))[-1]}. {unit.text[:_READ_CHARS]}" for unit in units]
    vectors = embed([question, *texts])
    return [max(0.0, float(value)) for value in vectors[1:] @ vectors[0]]


def _kind_match(question: str, candidate: _QuoteCandidate, title: str) -> float:
    """Score how well the kind of passage fits the question, -1 to 1, more for a term's own entry."""
    unit = candidate.unit
    opening = unit.text[:_READ_CHARS]
    said = [one_line(span.text) for span in split_sentences(opening)] or [one_line(opening)]
    kinds = find_answer_kinds(question)
    is_lone_lead_in = unit.kind == "paragraph" and opening.rstrip().endswith((":", "："))
    if is_lone_lead_in:
        return -0.6
    if thing := find_asked_thing(question):
        return _definition_match(question, thing, candidate, said, title)
    if is_factual_question(question):
        return max(score_directness(question, one) for one in said)
    if sides := find_compared_things(question):
        both = [one for one in said if all(terms(side) <= terms(one) for side in sides)]
        return 0.5 * bool(both) + 0.5 * any(has_phrase("contrast", one) for one in both)
    if "cause" in kinds:
        causes = len(phrase_pattern("cause").findall(opening.lower()))
        return 0.3 * min(2, causes) + 0.4 * has_phrase("cause", said[0])
    if has_phrase("asks_list", question) or "completeness" in kinds:
        return _FITS_LIST.get(unit.kind, 0.0)
    if has_phrase("asks_steps", question):
        return _FITS_STEPS.get(unit.kind, 0.0)
    return max(_FITS_ANY.get(unit.kind, 0.0), *(score_directness(question, one) for one in said))


def _definition_match(
    question: str, thing: str, candidate: _QuoteCandidate, said: Sequence[str], title: str
) -> float:
    """Score whether a passage defines the thing: its entry, a sentence that starts so, or the first on it."""
    unit, asked = candidate.unit, terms(thing)
    if unit.kind == "definition":
        term = _ASIDE.sub("", unit.text.partition(":")[0])
        return 1.6 if terms(term) == asked and not _OPTION.search(term) else 0.0
    above = [terms(_NUMBERED.sub("", heading)) for heading in unit.headings]
    is_about = asked == terms(_NUMBERED.sub("", _TITLE_END.sub("", title)))
    opens = not unit.headings or has_phrase("opening_heading", unit.headings[-1].strip())
    is_headed = (bool(above) and asked == above[-1]) or (is_about and (opens or len(above) == 1))
    direct = max(
        (score_directness(question, one) * 0.9**place for place, one in enumerate(said[:3])), default=0.0
    )
    if direct:
        return direct if is_headed or candidate.is_first else 0.8 * direct
    begins = asked <= terms(" ".join(said[0].split()[: len(asked) + 2])) and is_complete_sentence(said[0])
    if unit.kind not in {"paragraph", "section"}:
        return 0.0
    if is_headed and candidate.is_first:
        return 0.9 if begins else 0.4
    return 0.3 if begins else 0.0


def _choose_apart(scored: Sequence[tuple[_QuoteCandidate, float]]) -> list[tuple[_QuoteCandidate, float]]:
    """Return the first few that are new and do not overlap."""
    taken: list[tuple[_QuoteCandidate, float]] = []
    for candidate, score in scored:
        unit = candidate.unit
        is_apart = all(unit.start >= t.unit.end or t.unit.start >= unit.end for t, _ in taken)
        words = set(candidate.words)
        if is_apart and all(jaccard_similarity(words, set(t.words)) < _SAME_PASSAGE for t, _ in taken):
            taken.append((candidate, score))
        if len(taken) == _QUOTES_A_QUESTION:
            break
    return taken


def _statement(question: str, unit: Unit) -> str:
    """Return the statement of a passage, verbatim: all of it, or the sentence that answers best."""
    whole = one_line(unit.text)
    spans = split_sentences(unit.text)
    if not spans or (len(whole) <= _STATEMENT_CHARS and len(spans) == 1 and unit.kind not in _SECTIONS):
        return whole
    wanted = terms(question)
    said = [one_line(span.text) for span in spans]
    said = [one for one in said if not has_phrase("points_elsewhere", one)] or said
    if unit.kind in {"list", "table"}:
        return said[0] if len(said[0]) >= _SHORT_CHARS else whole

    def worth(place: int) -> float:
        words = {stem(word) for word in tokens(said[place])}
        return (
            len(words & wanted) / max(1, len(wanted)) + score_directness(question, said[place]) - 0.01 * place
        )

    best = max(range(len(said)), key=worth)
    if best and DEPENDENT_OPENING.match(said[best]):
        return f"{said[best - 1]} {said[best]}"
    return said[best]


_MAX_SOUGHT = 2


def select_sought_quotes(
    question: str, sought: SubQuestion, title: str, text: str
) -> list[ExtractedStatement]:
    """Return the few passages that answer the question about a newly found name."""
    wanted = terms(sought.text)
    left = wanted & terms(question)
    name = wanted - left
    if not left or not name:
        return []
    found = []
    for draft in select_quotes([sought], title, text):
        words = {stem(word) for word in tokens(draft.statement)}
        if words & left and name & (words | {stem(word) for word in tokens(title)}):
            found.append(draft)
    return found[:_MAX_SOUGHT]


def join_statements(
    first: Sequence[ExtractedStatement], then: Sequence[ExtractedStatement]
) -> list[ExtractedStatement]:
    """Join both, without repeated sentences."""
    taken = {draft.quote for draft in first}
    return [*first, *(draft for draft in then if draft.quote not in taken)]
