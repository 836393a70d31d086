"""The parts of a sentence a machine can check: its numbers, dates and names.

Does not know meaning: a sentence that passes may still be wrong, one that fails is not carried by its quotes.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from fathom.text.normal import folded
from fathom.text.sentences import sentences

_NUMBER = re.compile(r"\d[\d.,]*\d|\d")
_PAIRED = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"  # no capitals there, and endings glued to names
)
_NAME = re.compile(rf"[^\W\d_{_PAIRED}](?:[^\W{_PAIRED}]|['’.-])*")
_NEW_SENTENCE = re.compile(r"[.!?:…](?!\d)|[“\"]")
_LETTER = re.compile(r"\w")
_INFLECTED = re.compile(r"(?:ns|es|s|n)$")
_POSSESSIVE = re.compile(r"['’]s$")
_NEGATION = re.compile(
    r"\b(?:not|no|never|without|cannot|none|neither|nor)\b|n['’]t\b|않|없|못하|못한|못했|아니", re.IGNORECASE
)
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_WORDS_FOR_NUMBERS = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip


def missing_facts(sentence: str, quotes: Iterable[str]) -> list[str]:
    """Numbers, dates and names of the sentence that no quote has, in order."""
    carried = " ".join(quotes)
    absent = _absent_numbers(sentence, carried) + unnamed(names(sentence), [carried])
    return list(dict.fromkeys(absent))


def unnamed(wanted: Iterable[str], quotes: Iterable[str]) -> list[str]:
    """The names that no quote has, each once."""
    names_wanted = list(dict.fromkeys(wanted))
    said = " ".join(quotes)
    carried = folded(said).text if names_wanted else ""
    return [name for name in names_wanted if not _is_named(name, carried) and not _is_spelt_out(name, said)]


def numbers(text: str) -> list[str]:
    """Every number as plain digits, thousands separators removed."""
    return [_plain(found) for found in _NUMBER.findall(folded(text).text)]


def names(sentence: str) -> list[str]:
    """Words written like names: capitals inside a sentence, acronyms, mixed case."""
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


def is_quotation(sentence: str, quotes: Iterable[str]) -> bool:
    """Whether the sentence stands in one of the quotes as it is."""
    said = folded(sentence).text.strip(" .")
    return bool(said) and any(said in folded(quote).text for quote in quotes)


def is_verbatim(statement: str, quotes: Iterable[str]) -> bool:
    """Whether it is a quote, a line of one, or one or two of its sentences, whole and as they stand.

    Then nothing was left out that could change it, and there is nothing to check.
    """
    said = _bare(statement)
    for quote in quotes:
        spans = [_bare(span.text) for span in sentences(quote)]
        if said in {_bare(quote), *map(_bare, quote.split("\n")), *spans}:
            return True
        if said in (f"{one}. {two}" for one, two in pairwise(spans)):
            return True
    return False


def _bare(text: str) -> str:
    return folded(text).text.strip(" .")


def is_negated(text: str) -> bool:
    """Whether something is said not to be."""
    return _NEGATION.search(text) is not None


def _is_name(word: str, is_first: bool) -> bool:
    has_inner_capital = any(c.isupper() for c in word[1:])
    return has_inner_capital or (word[0].isupper() and not is_first)


def _absent_numbers(sentence: str, carried: str) -> list[str]:
    # "one" is more often a pronoun than a number.
    counted = [w for w in re.findall(r"[a-z]+", sentence.lower()) if w in _WORDS_FOR_NUMBERS and w != "one"]
    wanted = numbers(sentence)
    if not counted and not wanted:
        return []
    present = set(numbers(carried))
    words = set(re.findall(r"[a-z]+", carried.lower()))
    present |= {digit for word, digit in _WORDS_FOR_NUMBERS.items() if word in words}
    present |= {str(place) for place, month in enumerate(_MONTHS, 1) if month.capitalize() in carried}
    absent = [w for w in counted if _WORDS_FOR_NUMBERS[w] not in present]
    return absent + [n for n in wanted if n not in present]


def _plain(number: str) -> str:
    bare = number.strip(".,")
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", bare):
        bare = bare.replace(",", "")
    whole, dot, part = bare.partition(".")
    part = part.rstrip("0") if dot and part.isdigit() else part
    return f"{whole.lstrip('0') or '0'}.{part}" if part else whole.lstrip("0") or "0"


def _is_spelt_out(name: str, said: str) -> bool:
    """Whether the quotes have the words that an acronym stands for."""
    if not name.isupper() or not 2 <= len(name) <= 6:
        return False
    small = r"\w*\W+(?:(?:of|and|the|for|on|in)\W+)*"
    return re.search(r"\b" + small.join(re.escape(letter) for letter in name), said) is not None


def _is_named(name: str, carried: str) -> bool:
    wanted = folded(name).text
    # A long name may go on, as "Korea" does in "Korean"; a short one may not, since "US" begins "use".
    if begins(wanted, carried) if len(wanted) > 3 else _stands(wanted, carried):
        return True
    # "Koreans" is carried by "Korea", "Studios" by "Studio": one inflection, never another stem.
    stem = _INFLECTED.sub("", wanted)
    is_long = len(stem) >= 4 or (name.endswith("s") and name[:-1].isupper())
    return is_long and any(not _is_letter(carried[end : end + 1]) for end in _ends(stem, carried))


def begins(word: str, text: str) -> bool:
    """Whether a word of the text begins with it."""
    return next(_ends(word, text), None) is not None


def _stands(word: str, text: str) -> bool:
    """Whether it is a word of the text, or its plural is; letters of other scripts may be glued to it."""
    return any(
        not _is_latin(text[end : end + 1])
        or (text[end : end + 1] == "s" and not _is_latin(text[end + 1 : end + 2]))
        for end in _ends(word, text)
    )


def _ends(word: str, text: str) -> Iterator[int]:
    """Where it ends, wherever it stands at the beginning of a word."""
    at = text.find(word)
    while at >= 0:
        if at == 0 or not _is_letter(text[at - 1]):
            yield at + len(word)
        at = text.find(word, at + 1)


def _is_letter(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _is_latin(letter: str) -> bool:
    return "a" <= letter <= "z" or "\u00c0" <= letter <= "\u024f"
