"""Find statements that are given to another speaker than in the quote, to several, or to nobody."""

import re
from collections.abc import Iterator

from fathom.evidence.checks.derivation import Passage
from fathom.evidence.checks.words import ParsedText, is_same_word, parse_text
from fathom.text.tokens import has_cjk

_SENTENCE_END = re.compile(r"(?<=[.!?。])[\"”']?\s+|\n+")
_ENGLISH = re.compile(
    r"\b(?:said|says|told|argue[ds]|claim(?:ed|s)|note[ds]|add(?:ed|s)|warn(?:ed|s)|stated|called|described"
    r"|predict(?:ed|s)|complain(?:ed|s)|insist(?:ed|s)|contend(?:ed|s)|believe[ds]?|thinks?|thought"
    r"|concluded?|point(?:ed|s) out|explain(?:ed|s)|wrote|writes)\b"
)
_ACCORDING = re.compile(r"\b(?:according to|in the view of)\s((?:[\w'’-]+\s?){1,5})", re.IGNORECASE)
_KOREAN = re.compile(
    r"(?:다고|라고|이라며|라며|다며|는|은|을|를|이)\s(?:덧붙여\s|거듭\s|강하게\s)?(?:말[했한하]|밝[혔힌히]|설명[했한하]|지적[했한하]|주장[했한하]"
    r"|강조[했한하]|덧붙|꼬집|평가[했한하]|비판[했한하]|경고[했한하]|반박[했한하]|전[했한]|답[했한]|진단[했한하]|봤|본다|내다[봤보본])"
)
_KOREAN_ACCORDING = re.compile(r"(?<![\w·])((?:[\w·]{1,30}\s){0,2}[\w·]{1,30})에 (?:따르면|의하면)")
_KOREAN_SUBJECT = re.compile(
    r"(?<![\w·])((?:[\w·]{1,30}\s){0,2}?[\w·]{1,30}?)(?:은|는|이|가|에선|에서는|측은)\s"
)
_PRONOUNS = {
    "he",
    "she",
    "they",
    "it",
    "we",
    "i",
    "this",
    "that",
    "그",
    "이들",
    "저",
    "우리",
    "필자",
    "이",
    "그들",
}
_OFFICIAL = re.compile(
    r"(?:청|처|부|원|단|공사|센터|시|도|은행|위원회|동향|통계|자료|(?<!제)조사|보고서|결과)$|\b(?:agency|office|bureau|ministry|bank|statistics)\b",
    re.IGNORECASE,
)
_PLURAL = re.compile(r"들(?:은|는|이|의|에)?$|(?<=[a-z])s$")


def find_other_speakers(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Yield a speaker of the quote who is another one in the statement, as (kind, note)."""
    if has_cjk(statement) != has_cjk(passage.quoted):
        return
    said, is_told = parse_text(statement), bool(_find_speakers(statement))
    for speaker in _find_speakers(passage.quoted):
        own = [word for word in parse_text(speaker).content_words if word.low not in _PRONOUNS]
        kept = [word for word in own if said.has(word.key)]
        if not own or (_OFFICIAL.search(speaker) and not is_told):
            continue  # what an office publishes need not be told as its view
        if not kept:
            yield "speaker", f"in the quote it is '{speaker}' who says so"
        elif bool(_PLURAL.search(speaker)) != _is_plural(kept[-1].key, said):
            yield "speaker", f"in the quote it is '{speaker}', one or several, who says so"


def _is_plural(key: str, text: ParsedText) -> bool:
    return any(_PLURAL.search(word.low) for word in text.words if is_same_word(word.key, key))


def _find_speakers(text: str) -> list[str]:
    """Return the speakers that a text names, each a few words that end in their noun."""
    found, last = [], ""
    for sentence in filter(None, _SENTENCE_END.split(text)):
        first = _KOREAN_SUBJECT.match(sentence)
        if named := _KOREAN_ACCORDING.search(sentence) or _ACCORDING.search(sentence):
            found.append(named[1].strip())
        elif has_cjk(sentence):
            verb = _KOREAN.search(sentence)
            subject = _KOREAN_SUBJECT.search(sentence, 0, verb.start() + 2) if verb else None
            found += [last if subject[1] in _PRONOUNS else subject[1]] if subject else []
        elif verb := _ENGLISH.search(sentence):
            parts = re.split(r"[,;:]\s", sentence[: verb.start()])
            clause = parts[-1] or parts[max(-3, -len(parts))]  # "Nordwind, a ship builder, said"
            found.append(" ".join(clause.split()[-4:]))
        last = first[1] if first else last
    return [speaker for speaker in found if speaker]
