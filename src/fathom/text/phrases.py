"""The things a text speaks of by name: capitalised phrases; in Korean quoted terms, Latin words and nouns.

Does not know which of them matter, nor whether two names mean the same thing.
"""

import re
from collections.abc import Iterator

from fathom.text.tokens import STOP_WORDS, has_paired_script, tokens

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


def phrases(text: str) -> list[str]:
    """Every name in the order it stands there, as often as it does."""
    found = _korean(text) if has_paired_script(text) else _latin(text)
    return [name for name in found if len(name) > 2 or (len(name) == 2 and has_paired_script(name))]


def spelled(text: str) -> str:
    """A text as its words in lower case between spaces: one stands in another when its words do, in order."""
    return f" {' '.join(tokens(text))} "


def bare(title: str) -> str:
    """A title without what stands in brackets, which tells namesakes apart."""
    return _ASIDE.sub("", title).strip() or title


def _latin(text: str) -> Iterator[str]:
    for match in _CAPITALISED.finditer(text):
        words = re.sub(r"['’]s$", "", match.group().strip(" .,'’&-")).split()
        while words and (words[0].lower() in STOP_WORDS or words[0].lower() in _CALENDAR):
            del words[0]
        # A name ends in neither a number nor what was to join it with one: “Seven of 120” names nothing of.
        while words and (words[-1].isdigit() or words[-1].lower() in _CALENDAR or _JOINING.match(words[-1])):
            del words[-1]
        yield " ".join(words)


def _korean(text: str) -> Iterator[str]:
    """Quoted terms, words in Latin letters, and nouns as their particles give them away."""
    found = [(m.start("term"), m["term"].strip()) for m in _QUOTED.finditer(text)]
    found += [(m.start(), m.group()) for m in _LATIN.finditer(text)]
    found += [(m.start("term"), m["term"]) for m in _NOUN.finditer(text)]
    for _, name in sorted(found):
        if name.lower() not in STOP_WORDS and name not in _NEVER_NAMES:
            yield name
