"""Extract the checkable parts of a sentence: numbers, names, negation."""

import re
from collections.abc import Iterable, Iterator

from fathom.text.normalization import fold_text
from fathom.text.tokens import STOP_WORDS, has_cjk, tokens

_NUMBER = re.compile(r"\d[\d.,]*\d|\d")
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"  # no capitals, and particles attached to names
_NAME = re.compile(rf"[^\W\d_{_CJK}](?:[^\W{_CJK}]|['’.-])*")
_NEW_SENTENCE = re.compile(r"[.!?:…](?!\d)|[“\"]")
_LETTER = re.compile(r"\w")
_INFLECTED = re.compile(r"(?:ns|es|s|n)$")
_POSSESSIVE = re.compile(r"['’]s$")
_NEGATION = re.compile(
    r"\b(?:not|no|never|without|cannot|none|neither|nor)\b|n['’]t\b|않|없|못하|못한|못했|아니", re.IGNORECASE
)


def find_missing_names(wanted: Iterable[str], quotes: Iterable[str]) -> list[str]:
    """Return the names that no quote has, each once."""
    names_wanted = list(dict.fromkeys(wanted))
    said = " ".join(quotes)
    carried = fold_text(said).text if names_wanted else ""
    return [name for name in names_wanted if not _is_named(name, carried) and not _is_spelt_out(name, said)]


def extract_numbers(text: str) -> list[str]:
    """Return every number as plain digits, without thousands separators."""
    return [_normalize_number(found) for found in _NUMBER.findall(fold_text(text).text)]


def find_name_words(sentence: str) -> list[str]:
    """Return words written like names: capitals inside a sentence, acronyms, mixed case."""
    found = []
    end = 0
    begin = _LETTER.search(sentence)
    for match in _NAME.finditer(sentence):
        last, end = end, match.end()
        if match.group().islower():  # most words
            continue
        is_first = (
            begin is None
            or begin.start() >= match.start()
            or sentence[last - 1 : last] == "."
            or _NEW_SENTENCE.search(sentence, last, match.start()) is not None
        )
        word = _POSSESSIVE.sub("", match.group().strip("'’.-"))
        if word and _is_name(word, is_first) and word.lower() not in _NOT_NAMES:
            found.append(word)
    return found


_NOT_NAMES = {"i", "a", "the", "in", "it", "this", "that", "these", "those", "he", "she", "they", "we"}


def is_negated(text: str) -> bool:
    """Tell whether a text has a negation."""
    return _NEGATION.search(text) is not None


def _is_name(word: str, is_first: bool) -> bool:
    has_inner_capital = any(c.isupper() for c in word[1:])
    return has_inner_capital or (word[0].isupper() and not is_first)


def _normalize_number(number: str) -> str:
    bare = number.strip(".,")
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", bare):
        bare = bare.replace(",", "")
    whole, dot, part = bare.partition(".")
    part = part.rstrip("0") if dot and part.isdigit() else part
    return f"{whole.lstrip('0') or '0'}.{part}" if part else whole.lstrip("0") or "0"


def _is_spelt_out(name: str, said: str) -> bool:
    """Tell whether the quotes spell out an acronym."""
    if not name.isupper() or not 2 <= len(name) <= 6:
        return False
    small = r"\w*\W+(?:(?:of|and|the|for|on|in)\W+)*"
    return re.search(r"\b" + small.join(re.escape(letter) for letter in name), said) is not None


def _is_named(name: str, carried: str) -> bool:
    wanted = fold_text(name).text
    # A long name may be a prefix, as "Korea" of "Korean"; a short one not, since "US" begins "use".
    if begins_word(wanted, carried) if len(wanted) > 3 else _is_whole_word(wanted, carried):
        return True
    # "Koreans" matches "Korea", "Studios" matches "Studio": one inflection, never another stem.
    stem = _INFLECTED.sub("", wanted)
    is_long = len(stem) >= 4 or (name.endswith("s") and name[:-1].isupper())
    return is_long and any(not _is_letter(carried[end : end + 1]) for end in _find_word_ends(stem, carried))


def begins_word(word: str, text: str) -> bool:
    """Tell whether a word of the text starts with it."""
    return next(_find_word_ends(word, text), None) is not None


def _is_whole_word(word: str, text: str) -> bool:
    """Tell whether it is a whole word of the text, or its plural; other scripts may be attached."""
    return any(
        not _is_latin(text[end : end + 1])
        or (text[end : end + 1] == "s" and not _is_latin(text[end + 1 : end + 2]))
        for end in _find_word_ends(word, text)
    )


def _find_word_ends(word: str, text: str) -> Iterator[int]:
    """Yield its end wherever it starts a word."""
    at = text.find(word)
    while at >= 0:
        if at == 0 or not _is_letter(text[at - 1]):
            yield at + len(word)
        at = text.find(word, at + 1)


def _is_letter(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _is_latin(letter: str) -> bool:
    return "a" <= letter <= "z" or "\u00c0" <= letter <= "\u024f"


_WORD = r"[A-ZÀ-ÖØ-ÞČĐĞİŁŃŌŘŚŞŠŽ](?:[^\W_]|[.'’&-](?=\w))*(?:(?<=[. ][A-Z])\.|(?<=^[A-Z])\.)?"
_JOINT = r"(?:of|the|de|von|van|der|la|le|du|des|del|da|di|al|el|y|&)"
_JOINING = re.compile(rf"{_JOINT}$")
_CAPITALISED = re.compile(rf"(?<!\w){_WORD}(?:\s+(?:{_JOINT}\s+){{0,2}}(?:{_WORD}|\d+\b))*|\b\w+_\w+\b")
_QUOTED = re.compile(r"[「『《〈“‘\"'](?P<term>[^「」『』《》〈〉“”‘’\"'\n]{2,40})[」』》〉”’\"']")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9.+#_-]*[A-Za-z0-9](?:\s+[A-Z][A-Za-z0-9.+#_-]*)*")
_NOUN = re.compile(
    r"(?<![\w」』》〉”’\"'])(?P<term>[가-힣]{2,10}?)(?:에서는|으로는|에게서|이라는|라는|에서|에게|으로|까지|부터|은|는|이|가|을|를|의|와|과|에|로)"
    r"(?=[\s.,!?)]|$)"
)

_CALENDAR = frozenset(
    """january february march april may june july august september october november december monday tuesday
    wednesday thursday friday saturday sunday""".split()  # noqa: SIM905
)
_NEVER_NAMES = frozenset(
    """그것 이것 저것 우리 사람 경우 때문 이후 이전 당시 모두 여기 거기 다음 사이 동안 하나""".split()  # noqa: SIM905
)
_ASIDE = re.compile(r"(?<!\s)\s*[(（][^)）]{0,200}[)）]")


def find_name_phrases(text: str) -> list[str]:
    """Return every name in order, with repeats."""
    found = _find_korean_names(text) if has_cjk(text) else _find_latin_names(text)
    return [name for name in found if len(name) > 2 or (len(name) == 2 and has_cjk(name))]


def pad_words(text: str) -> str:
    """Return a text as lower-case words between spaces, so that `in` compares whole words."""
    return f" {' '.join(tokens(text))} "


def strip_brackets(title: str) -> str:
    """Remove bracketed parts of a title, which distinguish namesakes."""
    return _ASIDE.sub("", title).strip() or title


def _find_latin_names(text: str) -> Iterator[str]:
    for match in _CAPITALISED.finditer(text):
        words = re.sub(r"['’]s$", "", match.group().strip(" .,'’&-")).split()
        while words and (words[0].lower() in STOP_WORDS or words[0].lower() in _CALENDAR):
            del words[0]
        # A name ends neither in a number nor in a connecting word: “Seven of 120”.
        while words and (words[-1].isdigit() or words[-1].lower() in _CALENDAR or _JOINING.match(words[-1])):
            del words[-1]
        yield " ".join(words)


def _find_korean_names(text: str) -> Iterator[str]:
    """Yield quoted terms, words in Latin script, and nouns marked by particles."""
    found = [(m.start("term"), m["term"].strip()) for m in _QUOTED.finditer(text)]
    found += [(m.start(), m.group()) for m in _LATIN.finditer(text)]
    found += [(m.start("term"), m["term"]) for m in _NOUN.finditer(text)]
    for _, name in sorted(found):
        if name.lower() not in STOP_WORDS and name not in _NEVER_NAMES:
            yield name
