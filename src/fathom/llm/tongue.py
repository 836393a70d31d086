"""Whether a model wrote in the language it was asked for: by script, and in Latin letters by small words.

Does not know all languages that share a script: an answer in Danish to a question in English passes here.
"""

import re
from collections import Counter

from fathom.text.languages import asked_in, written_in

_SCRIPTS = {
    "hangul": re.compile("[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]"),
    "kana": re.compile("[\u3040-\u30ff]"),
    "han": re.compile("[\u3400-\u9fff\uf900-\ufaff]"),
    "cyrillic": re.compile("[\u0400-\u052f]"),
    "greek": re.compile("[\u0370-\u03ff]"),
    "arabic": re.compile("[\u0600-\u06ff\u0750-\u077f]"),
    "hebrew": re.compile("[\u0590-\u05ff]"),
    "devanagari": re.compile("[\u0900-\u097f]"),
    "thai": re.compile("[\u0e00-\u0e7f]"),
    "latin": re.compile("[A-Za-z\u00c0-\u024f]"),
}
_EAST = {"kana", "han"}
_NAMED = {
    "korean": "hangul", "ko": "hangul", "한국어": "hangul", "japanese": "kana", "ja": "kana",
    "chinese": "han", "zh": "han", "russian": "cyrillic", "ru": "cyrillic",
    "ukrainian": "cyrillic", "uk": "cyrillic", "bulgarian": "cyrillic", "bg": "cyrillic", "greek": "greek",
    "el": "greek", "arabic": "arabic", "ar": "arabic", "persian": "arabic", "fa": "arabic",
    "hebrew": "hebrew", "he": "hebrew", "hindi": "devanagari", "hi": "devanagari", "thai": "thai",
    "th": "thai",
}  # fmt: skip
_LATIN = {
    "english": "English", "en": "English", "german": "German", "de": "German", "deutsch": "German",
    "french": "French", "fr": "French", "français": "French", "spanish": "Spanish", "es": "Spanish",
    "español": "Spanish", "italian": "Italian", "it": "Italian", "italiano": "Italian", "pt": "Portuguese",
    "portuguese": "Portuguese", "português": "Portuguese", "dutch": "Dutch", "nl": "Dutch",
    "nederlands": "Dutch",
    # As the others call it: who asks in one language may want the answer in another.
    "anglais": "English", "englisch": "English", "inglés": "English", "inglese": "English",
    "inglês": "English", "engels": "English", "영어": "English",
    "allemand": "German", "alemán": "German", "tedesco": "German",
    "alemão": "German", "duits": "German", "französisch": "French", "francés": "French",
    "francese": "French", "francês": "French", "frans": "French", "espagnol": "Spanish",
    "spanisch": "Spanish", "spagnolo": "Spanish", "espanhol": "Spanish", "spaans": "Spanish",
    "italien": "Italian", "italienisch": "Italian", "italiaans": "Italian", "portugais": "Portuguese",
    "portugiesisch": "Portuguese", "portugués": "Portuguese", "portoghese": "Portuguese",
    "portugees": "Portuguese", "néerlandais": "Dutch", "niederländisch": "Dutch", "neerlandés": "Dutch",
    "olandese": "Dutch", "holandês": "Dutch",
}  # fmt: skip
_REQUESTED = re.compile(r"\b(?:in|into|en|auf|em)\s+(?:het\s+)?(\w{3,})")
_REQUESTED_IN_KOREAN = re.compile(r"(?<!\w)(\w+어)로")
_AS_ASKED = "the language of"
_TELLING = 20  # letters; fewer may all be names


def script_of(text: str) -> str:
    """The script most of its letters are in; empty when there are too few to tell."""
    scripts = ["latin"] if text.isascii() else _SCRIPTS
    counts = Counter({name: len(_SCRIPTS[name].findall(text)) for name in scripts})
    if counts["kana"]:  # whoever writes Japanese writes both
        counts["kana"] += counts.pop("han")
    name, most = counts.most_common(1)[0]
    return name if most >= _TELLING else ""


def foreign(text: str, language: str, question: str) -> str:
    """What is wrong with a text that is in another language than asked for; empty when nothing surely is."""
    name, requested = language.strip().lower(), set[str]()
    if name.startswith(_AS_ASKED):
        script, tongue = script_of(question), asked_in(question)
        asked = question.lower()
        requested = {*_REQUESTED.findall(asked), *_REQUESTED_IN_KOREAN.findall(asked)}
    else:
        tongue, script = _LATIN.get(name, ""), _script_named(name)
    written = script_of(text)
    if not script or not written or written in {_script_named(one) for one in requested}:
        return ""
    if written != script:
        return "" if {script, written} <= _EAST else f"it is not written in {language}"
    found = written_in(text, instead_of=tongue) if written == "latin" else ""
    if not found or found in {_LATIN.get(one) for one in requested}:
        return ""
    return f"it is not written in {language}, but in {found}"


def _script_named(language: str) -> str:
    """The script of a language by its name; empty when that is not known."""
    return "latin" if language in _LATIN else _NAMED.get(language, "")
