"""Which of a few languages in Latin letters a text is written in, by the small words that hold it together.

Does not know any other language, and would rather say nothing than something wrong: names, quotations, code,
addresses and short texts are no evidence.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from unicodedata import normalize

_SMALL_WORDS = {
    "English": """
        a the of and to in is that for it as was with be by on not are this at from or have an they
        which had but were there been has their what when who will more if out so up into than them can
        only other some could these may then do does did any its also such most between after we you his
        her he she would should about over how why where many much
    """,
    "French": """
        a le la les des du de un une et est que qui dans pour pas sur au aux par plus avec ce cette ces
        son sa ses leur leurs il elle ils elles on ne se sont être été ont était mais ou où comme entre
        sans sous aussi très même après depuis selon dont lors l d qu nous vous en à quel quelle quels
        quelles combien pourquoi quand
    """,
    "German": """
        der die das den dem des ein eine einer eines einem einen und ist nicht mit von zu zur zum im in
        auf für an als auch es sich er sie wird werden wurde sind war hat haben aus bei nach oder wie
        nur noch über durch bis mehr dass kann um aber vor zwischen diese dieser dieses ihre seine wir
        was wer wann warum welche welcher
    """,
    "Spanish": """
        a el la los las de del y en que un una es por con para no se su sus al lo como más pero o este
        esta estos estas entre sobre también son fue ha han ser está desde hasta sin muy ya hay donde
        cuando porque cada según durante qué cuál cuáles cuándo cómo quién
    """,
    "Italian": """
        a il lo la i gli le di del della dei delle degli dello dell e è in che un una uno per con non si
        su da dal dalla al alla ai alle nel nella nei nelle nell sul sulla l d come più ma o sono anche
        ha hanno era stato questo questa questi queste tra fra suo sua loro essere dopo quando quale
        quali perché chi
    """,
    "Portuguese": """
        o a os as de do da dos das e em no na nos nas que um uma é por para com não se ao à mais mas ou
        como são foi seu sua também ser pelo pela entre sobre até já desde quando muito sem há este esta
        esse essa isso qual quais quem
    """,
    "Dutch": """
        de het een en van in is dat op te voor met zijn niet aan er om ook als dan maar bij uit of door
        naar werd worden wordt heeft hebben had kan meer deze dit die nog over tot onder tussen zo wel
        geen hun zich was waren wat wie welke hoe
    """,
}
LANGUAGES = tuple(_SMALL_WORDS)
# No part looks further than to where it could begin again: a model may repeat a letter for ever.
_NO_EVIDENCE = re.compile(
    r"```.*?```|`[^`\n]*`|\b\w+://\S+|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|\"[^\"\n]*\"", re.DOTALL
)
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class _Proof:
    """How many small words it takes: in all, different ones, of all words; and so many for one against it."""

    words: int
    different: int
    share: float
    times: int


_SURE = _Proof(words=5, different=4, share=0.15, times=3)
# Enough to know what must not be complained about.
_LIKELY = _Proof(words=2, different=2, share=0.15, times=2)


@lru_cache(maxsize=64)  # every section of a report answers the same question
def asked_in(question: str) -> str:
    """The language of a question; empty when it is none of these, or cannot be told."""
    first, *others = _words(question) or [""]
    words = [first.lower(), *others]  # what a question begins with says most
    found = [
        one
        for one in LANGUAGES
        if all(_is_rather(words, one, other, _LIKELY) for other in LANGUAGES if other != one)
    ]
    return found[0] if found else ""


def written_in(text: str, instead_of: str) -> str:
    """The language that a text is surely written in, where it should have been another; else empty."""
    if instead_of not in _SMALL_WORDS:
        return ""
    words = _words(text)
    found = (one for one in LANGUAGES if one != instead_of and _is_rather(words, one, instead_of, _SURE))
    return max(found, key=lambda one: sum(word in _only(one, instead_of) for word in words), default="")


def _words(text: str) -> Sequence[str]:
    return _WORD.findall(_NO_EVIDENCE.sub(" ", normalize("NFC", text)))


def _is_rather(words: Sequence[str], one: str, other: str, proof: _Proof) -> bool:
    """Whether words are of one language rather than the other; capitals may be names and do not count."""
    own, against = _only(one, other), _only(other, one)
    found = [word for word in words if word in own]
    return (
        len(found) >= max(proof.words, proof.share * len(words))
        and len(set(found)) >= proof.different
        and len(found) >= proof.times * sum(word in against for word in words)
    )


@cache
def _only(one: str, other: str) -> frozenset[str]:
    """The small words of one language that the other one does not have."""
    return _lists()[one] - _lists()[other]


@cache
def _lists() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(words.split()) for name, words in _SMALL_WORDS.items()}
