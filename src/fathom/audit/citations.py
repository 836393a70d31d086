"""Citations of a report in whatever style: links, numbers, footnotes, 【1†source】, bare addresses.

A report's lines are sorted into text and source lists (`split_lines`); `CitationMarks` then replaces every
citation in a text by a short mark and knows which source it means. † for an inference and [a] for a
calculation are marks too, where the report explains them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urldefrag

from fathom.audit import BlockKind, CitedSource
from fathom.evidence.checks import phrase_pattern
from fathom.http.urls import canonical_address
from fathom.text.normalization import one_line

# Bounded and possessive: reports come from strangers, and no pattern may take more than linear time.
_FENCE = re.compile(r"\s*+(?:```|~~~)")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s++(.*)")
_ITEM = re.compile(r"\s*+(?:[-*+•·▪]|(\d{1,3})[.)])\s++(?=\S)")
_RULE = re.compile(r"\s*+(?:[-*_=]\s*+){3,}+$")
_TABLE_RULE = re.compile(r"[\s:|]*+-[\s:|-]*+")
_DEFINITION = re.compile(r"\s{0,3}\[(\^?[^\]\s]{1,60})\]:\s*+(\S.*)")
_NUMBERED = re.compile(
    r"\s*+(?:\[\^?(\d{1,3})\]|【(\d{1,3})】|\((\d{1,3})\)|(\d{1,3})[.)]|([⁰¹²³⁴-⁹]{1,3}))\s*+(?=\S)"
)
_BRACKETED = re.compile(r"\s*+(?:\[\d{1,3}\]|【\d{1,3}】)\s*+\S")
_BULLET = re.compile(r"\s*+[-*+•]\s++")
_ADDRESS = (
    r"https?://[^\s<>\[\]()\"'“”‘’【】「」『』、。，（）|]{1,2000}+"
    r"(?:\([^\s()<>]{0,200}+\)[^\s()<>\[\]\"|]{0,500}+){0,5}+"
)
_BARE = re.compile(rf"<?({_ADDRESS})>?")
_LINK = re.compile(
    r"!?\[((?:[^\[\]]|\[[^\[\]]{0,100}+\]){0,400}+)\]"
    rf"\(\s{{0,3}}<?({_ADDRESS}|[^\s()<>]{{1,300}})>?(?:\s{{1,3}}[\"'(][^\n\"')]{{0,200}}[\"')])?\s{{0,3}}\)"
)
_DOI = re.compile(r"\b(?:doi:\s{0,3}|doi\.org/)?(10\.\d{4,9}/[^\s\"<>\]]{1,200})", re.IGNORECASE)
_FILE_URL = re.compile(r"<?(file://[^\s<>]{1,500})>?")
_FILE_NAME = re.compile(r"(?<![\w./-])[\w./-]{1,200}\.(?:pdf|docx|md|html?|txt|csv)\b")
_REFERENCE = re.compile(r"\[([^\[\]]{1,300}+)\]\[([^\[\]]{0,60}+)\]")
_NOTE = re.compile(r"\[\^([^\]\s]{1,60})\]")
_TOOL_MARK = re.compile(
    r"【(\d{1,3})(?::\d{1,4})?(?:†[^【】]{0,80}+)?】|\[(\d{1,3})(?::\d{1,4})?†[^\[\]]{0,80}+\]"
)
_UNRESOLVED = re.compile(
    "\ue200cite[^\ue200\ue201]{1,300}+\ue201|:contentReference\\[[^\\[\\]]{0,80}+\\](?:\\{[^{}]{0,80}+\\})?"
)
_NUMBERS = re.compile(r"\[(\d{1,3}(?:\s{0,3}[,;、–~-]\s{0,3}\d{1,3}){0,30}+)\](?![(\[])|\[(\d{1,3})\](?=\[)")
_RAISED = re.compile(r"(?<=[^\s\d⁰¹²³⁴-⁹])([⁰¹²³⁴-⁹]{1,3}+(?:[,˒·]\s?[⁰¹²³⁴-⁹]{1,3}+){0,10}+)")
_PLAIN_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_LABEL = re.compile(
    r"\[?\^?\d{1,3}\]?|\[[^\[\]]{1,40}+\]|sources?|links?|ref(?:erence)?s?\.?|here|출처|원문|링크|자료|보기|↗"
    r"|(?:[\w-]{1,63}+\.){1,6}[a-z]{2,20}(?:/\S{0,500})?|https?://\S{0,2000}"
    r"|[\w.&-]{1,30}+(?: [\w.&-]{1,30}+){0,3}\+\d{1,3}",
    re.IGNORECASE,
)
_MARK = "\ue010(\\d{1,6})\ue011"
_MARKS = rf"{_MARK}(?:[\s,;·、/|]{{0,10}}+{_MARK}){{0,100}}+"
_DAGGER = re.compile(r"\s{0,2}([†‡]{1,3}+)")
_NOTED_INFERENCE = re.compile(
    r"\s{0,2}\((?:(?:our|own|the author's) (?:inference|reading|estimate|judge?ment|view)"
    r"|(?:필자의? )?(?:추론|판단))\)",
    re.IGNORECASE,
)
_LEGEND = re.compile(r"[†‡]\s?\S|a (?:letter|number)(?::| marks | covers )|글자는 계산", re.IGNORECASE)
_INFERRED = re.compile(r"\b(?:infer|deduc|conclu|own (?:reading|judg))|추론|이끌어|결론", re.IGNORECASE)
_SAYS_SO = re.compile(r"\bmarked (?:with )?([†‡])|([†‡])(?:로|으로)? ?표시")
_LETTER = re.compile(r"\[([a-z]{1,2})\]")
_CALCULATION = re.compile(r"\s{0,3}\[([a-z]{1,2})\]\s{1,3}([^=]{1,400})=(.{1,200})")
_NOTES = 100_000  # marks from here on are no sources: this one is an inference, those above are calculations
_PARTICLE = re.compile(r"(?:은|는|이|가|을|를|의|도|와|과|에서는?|에 따르면)(?=\s)")
_BEFORE_NAME = re.compile(r"(?:^|[\s,;(])$")
_NAMED_BEFORE = re.compile(r"\baccording to $|^$", re.IGNORECASE)
_IN_BRACKETS = re.compile(
    r"[(\[（【]\s{0,3}(?:(?:sources?|see(?: also)?|via|출처|참고|자료|cf)\.?\s{0,3}[:：]?\s{0,3})?"
    rf"({_MARKS})\s{{0,3}}[)\]）】]",
    re.IGNORECASE,
)
_AFTER_STOP = re.compile(rf"([.!?。！？…][\"'”’)\]]{{0,5}}+)\s{{0,3}}+({_MARKS})(?=\s|$|[^\s\w])")
_MARKED = re.compile(rf"(?<!\s)\s{{0,10}}+{_MARKS}")
_SPACE_BEFORE = re.compile(r"(?<!\s)\s{1,10}+([.,;:!?。])")
_EMPTY_BRACKETS = re.compile(r"[(\[（][,;\s]{0,20}+[)\]）]")
_ASIDE = re.compile(r"[(（][^()（）]{0,12}$|\)\s{0,3}[;,]\s{0,3}$")  # before a link that stands in brackets
_ASIDE_ENDS = frozenset({")", "）", ";", ","})
# Before a link that ends a cell or paragraph, and is no part of what is said.
_COMPLETE = re.compile(
    r"(?:[.!?。！？%)|\ue011]|\d\s?\w{0,3}|(?:sources?|출처)\s?[:：]\*{0,2})\s{0,3}$", re.IGNORECASE
)
_LEADING = re.compile(
    r"[,;]?\s{0,3}(?<!\w)(?:see(?: also)?|via|sources?\s?[:：]|출처\s?[:：]?|참고\s?[:：]?)"
    r"\s{0,3}(?=\ue010)",
    re.IGNORECASE,
)
_RUN_ON_LIST = re.compile(r"([^:：]{1,60})[:：]\*{0,2}\s{0,3}(?=(?:\[1\]|【1】|1\.)\s)")
_UNIT_BEFORE = re.compile(r"(?:\b[kcm]?m|\b10)$")
_EMPHASIS = re.compile(r"(\*{1,3}|_{2,3}|~~)(?=\S)(.{1,300}?)(?<=\S)\1")
_MOST_IN_RANGE = 12


@dataclass(frozen=True)
class ReportLine:
    """A block of the report; a `source` is an entry of a source list."""

    kind: BlockKind
    text: str
    level: int = 0
    key: str = ""  # the number or name of a source


def split_lines(text: str) -> list[ReportLine]:
    """Return the report's blocks in order; wrapped lines are joined."""
    sorter = _LineSorter()
    for line in text.split("\n"):
        sorter.take(line)
    return sorter.finish()


class _LineSorter:
    """Sorts lines one by one; knows whether it is in code or in a source list."""

    def __init__(self) -> None:
        self._lines: list[ReportLine] = []
        self._is_code = self._is_open = False
        self._listing = 0  # the level of the source list's heading; 0 outside of one

    def take(self, line: str) -> None:
        if _FENCE.match(line):
            self._is_code, self._is_open = not self._is_code, False
        elif self._is_code:
            self._add("code", line)
        elif not line.strip() or _RULE.match(line):
            self._is_open = False
        elif found := _HEADING.match(line):
            self._take_heading(found[2].rstrip(" #"), len(found[1]))
        elif found := _DEFINITION.match(line):
            self._add("source", found[2], key=found[1].removeprefix("^"), is_open=True)
        elif _is_source_title(line):
            self._take_heading(line.strip(" *_"), 6)
        elif (found := _RUN_ON_LIST.match(line)) and _is_source_title(found[1]):
            self._take_heading(found[1].strip(" *_"), 6)
            for entry in re.split(r"\s(?=(?:\[\d{1,3}\]|【\d{1,3}】)\s)", line[found.end() :]):
                self._take_entry(entry)
        elif self._listing or (_BRACKETED.match(line) and _BARE.search(line)):
            self._take_entry(line)
        elif line.lstrip().startswith("|"):
            self._add("row", line.strip())
        elif found := _ITEM.match(line):
            self._add("item", line[found.end() :], key=found[1] or "", is_open=True)
        elif self._is_open and self._lines[-1].kind != "row":
            self._join(line)
        else:
            self._add("paragraph", line.strip().removeprefix("> "), is_open=True)

    def finish(self) -> list[ReportLine]:
        return [line for line in self._lines if line.text.strip() and not _TABLE_RULE.fullmatch(line.text)]

    def _take_heading(self, words: str, level: int) -> None:
        if _is_source_title(words):
            self._listing = level
        elif self._listing and level <= self._listing:
            self._listing = 0
        self._add("heading", words.strip(" *_"), level)

    def _take_entry(self, line: str) -> None:
        bare = line[found.end() :] if (found := _BULLET.match(line)) else line
        found = _NUMBERED.match(bare)
        key = next((part for part in found.groups() if part), "").translate(_PLAIN_DIGITS) if found else ""
        last = self._lines[-1] if self._lines else None
        is_more = not found and bare == line and last is not None and last.kind == "source"
        if is_more and (self._is_open or not _BARE.search(line)):
            self._join(line)
            return
        self._add("source", bare[found.end() :] if found else bare.strip(), key=key, is_open=True)

    def _join(self, line: str) -> None:
        last = self._lines[-1]
        is_cut = last.text.rstrip().rpartition(" ")[2].startswith(("http://", "https://")) and (
            len(line.split()) == 1 and any(sign in line for sign in "/.%=?&_-")
        )
        text = f"{last.text.rstrip()}{'' if is_cut else ' '}{line.strip()}"
        self._lines[-1] = ReportLine(last.kind, text, last.level, last.key)

    def _add(
        self, kind: BlockKind, text: str, level: int = 0, *, key: str = "", is_open: bool = False
    ) -> None:
        self._lines.append(ReportLine(kind, text, level, key))
        self._is_open = is_open


def _is_source_title(line: str) -> bool:
    return len(line) < 60 and phrase_pattern("source_list").fullmatch(line.strip(" *_#").lower()) is not None


@dataclass(frozen=True)
class NotedCalculation:
    """A calculation that the report writes out, as "- [a] 1.9 million - 1.2 million = 0.7 million, …"."""

    formula: str
    result: str
    cites: list[str]


@dataclass(frozen=True)
class MarkedWords:
    """Words without their marks, and what the marks mean."""

    words: str
    cites: list[str] = field(default_factory=list)  # ids of sources
    is_inferred: bool = False
    calculations: list[NotedCalculation] = field(default_factory=list)


def is_legend(text: str) -> bool:
    """Tell whether a paragraph explains marks and says nothing else."""
    return _LEGEND.match(text) is not None


@dataclass
class CitationMarks:
    """The sources of a report; the same address under two numbers is one source."""

    sources: list[CitedSource] = field(default_factory=list)
    _calculations: dict[str, NotedCalculation] = field(default_factory=dict)
    _inferring: set[str] = field(default_factory=set)  # the signs that stand behind inferences
    _by_key: dict[str, int] = field(default_factory=dict)
    _by_address: dict[str, int] = field(default_factory=dict)

    @classmethod
    def from_lines(cls, lines: Sequence[ReportLine]) -> "CitationMarks":
        """Return the sources that the report lists; an unnumbered list is counted."""
        marks, entries = cls(), [line for line in lines if line.kind == "source"]
        is_numbered = any(entry.key.isdecimal() for entry in entries)
        for number, entry in enumerate(entries, 1):
            key = entry.key or ("" if is_numbered else str(number))
            place = marks._add(_first_address(entry.text), _source_label(entry.text))
            if key:
                marks._by_key.setdefault(key, place)
        for line in lines:
            if line.kind == "paragraph" and is_legend(line.text):
                told = re.findall(r"([†‡])([^†‡]*)", line.text)
                marks._inferring |= {sign for sign, words in told if _INFERRED.search(words)}
            elif (said_so := _SAYS_SO.search(line.text)) and _INFERRED.search(line.text):
                marks._inferring.add(said_so[1] or said_so[2])
            elif line.kind == "item" and (found := _CALCULATION.match(line.text)):
                said = marks.split_off(marks.mask(found[3]))
                result = re.split(r", (?=\D)", said.words)[0]
                marks._calculations[found[1]] = NotedCalculation(found[2].strip(), result, said.cites)
        return marks

    def calculation(self, line: ReportLine) -> NotedCalculation | None:
        """Return the calculation that a list item writes out."""
        found = _CALCULATION.match(line.text) if line.kind == "item" else None
        return self._calculations.get(found[1]) if found else None

    def mask(self, text: str) -> str:
        """Return the text with each citation as a mark, which stands before its sentence's full stop."""
        masked = _LINK.sub(lambda found: self._mask_link(found, text), text)
        masked = _UNRESOLVED.sub(lambda _: self._mark_key("?"), masked)
        masked = _REFERENCE.sub(self._mask_reference, masked)
        masked = _NOTE.sub(lambda found: self._mark_key(found[1]), masked)
        masked = _TOOL_MARK.sub(lambda found: self._mark_key(found[1] or found[2]), masked)
        masked = _LETTER.sub(self._mask_letter, masked)
        masked = _NUMBERS.sub(self._mask_numbers, masked)
        masked = _DAGGER.sub(self._mask_dagger, masked)
        masked = _NOTED_INFERENCE.sub(lambda _: self._mark(_NOTES), masked)
        masked = _RAISED.sub(self._mask_raised, masked)
        masked = _BARE.sub(
            lambda found: self._mark(self._add(_trim(found[1]))) + found[1][len(_trim(found[1])) :], masked
        )
        masked = _LEADING.sub(" ", _EMPHASIS.sub(r"\2", _IN_BRACKETS.sub(r"\1", masked)))
        return _AFTER_STOP.sub(r"\2\1", masked)

    def split_off(self, masked: str) -> MarkedWords:
        """Return a sentence without its marks, and what they mean."""
        found = list(dict.fromkeys(int(number) for number in re.findall(_MARK, masked)))
        bare = _MARKED.sub("", masked)
        bare = _SPACE_BEFORE.sub(r"\1", _EMPTY_BRACKETS.sub("", bare))
        known = list(self._calculations.values())
        return MarkedWords(
            _plain(bare),
            [self.sources[place].id for place in found if place < _NOTES],
            _NOTES in found,
            [known[place - _NOTES - 1] for place in found if place > _NOTES],
        )

    def _mask_link(self, found: re.Match[str], text: str) -> str:
        words, address = found[1].strip(), found[2]
        if found.group().startswith("!"):
            return ""
        if address.startswith("#"):
            return words
        place = self._add(_trim(address), "" if _LABEL.fullmatch(words) else _plain(words))
        before, after = text[max(0, found.start() - 80) : found.start()], text[found.end() :].lstrip()[:1]
        is_aside = _ASIDE.search(before) if after in _ASIDE_ENDS else not after and _COMPLETE.search(before)
        return self._mark(place) if is_aside or _LABEL.fullmatch(words) else f"{words}{self._mark(place)}"

    def _mask_reference(self, found: re.Match[str]) -> str:
        key = found[2] or found[1]
        if key not in self._by_key or re.fullmatch(r"\d{1,3}", found[1]):
            return found.group()
        return f"{found[1]}{self._mark_key(key)}"

    def _mask_raised(self, found: re.Match[str]) -> str:
        keys = [number.translate(_PLAIN_DIGITS) for number in re.findall(r"[⁰¹²³⁴-⁹]+", found[1])]
        is_power = _UNIT_BEFORE.search(found.string, max(0, found.start() - 3), found.start())
        if is_power or not all(key in self._by_key for key in keys):
            return found.group()
        return "".join(self._mark_key(key) for key in keys)

    def _mask_numbers(self, found: re.Match[str]) -> str:
        """Return the marks of numbers; a number that is part of the sentence ("[9] argues") leaves a name."""
        marks = "".join(self._mark_key(key) for key in _expand_numbers(found[1] or found[2]))
        before = found.string[max(0, found.start() - 14) : found.start()]
        after = found.string[found.end() : found.end() + 8]
        is_named = (_PARTICLE.match(after) and _BEFORE_NAME.search(before[-1:])) or (
            _NAMED_BEFORE.search(before) and re.match(r", [a-z]| [a-z]", after)
        )
        label = self.sources[int(re.findall(_MARK, marks)[0])].label if is_named else ""
        return f"“{re.sub(r'[][]', '', label)[:80]}”{marks}" if label else marks

    def _mask_letter(self, found: re.Match[str]) -> str:
        if found[1] not in self._calculations:
            return found.group()
        return self._mark(_NOTES + 1 + list(self._calculations).index(found[1]))

    def _mask_dagger(self, found: re.Match[str]) -> str:
        return self._mark(_NOTES) if self._inferring & set(found[1]) else ""

    def _mark_key(self, key: str) -> str:
        """Return the mark of a number or name; one that is not explained is a source without address."""
        if key not in self._by_key:
            self._by_key[key] = self._add("", "" if key == "?" else f"[{key}]")
        return self._mark(self._by_key[key])

    def _mark(self, place: int) -> str:
        return f"\ue010{place}\ue011"

    def _add(self, address: str, label: str = "") -> int:
        known = canonical_address(urldefrag(address)[0]) if address else ""
        if known and known in self._by_address:
            place = self._by_address[known]
            old = self.sources[place]
            if label and not old.label:
                self.sources[place] = old.model_copy(update={"label": label})
            return place
        place = len(self.sources)
        self.sources.append(CitedSource(id=f"s{place + 1}", label=label, address=address))
        if known:
            self._by_address[known] = place
        return place


def _expand_numbers(said: str) -> Iterator[str]:
    for part in re.split(r"[,;、]", said):
        first, *rest = (number.strip() for number in re.split(r"[–~-]", part))
        last = rest[-1] if rest else first
        if 0 <= int(last) - int(first) <= _MOST_IN_RANGE:
            yield from (str(number) for number in range(int(first), int(last) + 1))
        else:
            yield from (first, last)


def _first_address(entry: str) -> str:
    """Return where an entry of a source list leads: a link, an address, a DOI, a file; or nothing."""
    if (link := _LINK.search(entry)) and not link[2].startswith("#"):
        return _trim(link[2])
    if bare := _BARE.search(entry):
        return _trim(bare[1])
    if doi := _DOI.search(entry):
        return f"https://doi.org/{_trim(doi[1])}"
    if file := _FILE_URL.search(entry):
        return file[1]
    named = _FILE_NAME.search(entry)
    return named.group() if named else ""


def _source_label(entry: str) -> str:
    bare = _FILE_URL.sub("", _BARE.sub("", _LINK.sub(lambda found: found[1], entry)))
    bare = re.sub(rf"\s{{0,3}}[(<]\s{{0,3}}{_FILE_NAME.pattern}\s{{0,3}}[)>]", "", bare)
    label = _EMPTY_BRACKETS.sub("", _plain(bare)).strip(" -–—:.,;[]")[:300]
    return label if "(" in label else label.strip("()")


def _trim(address: str) -> str:
    """Return the address without the punctuation of the sentence it stands in."""
    return address.rstrip(".,;:!?*_…")


def _plain(text: str) -> str:
    """Return Markdown words without emphasis and ticks."""
    bare = _EMPHASIS.sub(r"\2", text)
    return one_line(bare.replace("`", "").replace("\\", ""))
