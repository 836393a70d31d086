"""Marks that do not belong into the text: keys of evidence, numbers of sources, addresses.

Does not know what they stand for. Numbers and links are put in by the report itself, from what was read.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from fathom.http.urls import parse_host
from fathom.state import Block, Claim, Section, Sentence
from fathom.text.normalization import one_line

ADDRESS = re.compile(r"\b(?:https?|ftp|file)://[^\s<>\"')\]`]+|\bwww\.[^\s<>\"')\]`]+", re.IGNORECASE)

_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")

_KEY = r"\^?E?\d{1,4}"

_IN_BRACKETS = re.compile(
    rf"(?<!\s)\s*(?:\[{_KEY}(?:\s*[-–,;]\s*{_KEY})*\]|\(E\d{{1,4}}(?:\s*[-–,;]\s*E\d{{1,4}})*\)|【[^【】]*】)"
)

_BARE_KEY = re.compile(r"(?<!\s)\s*\bE\d{1,4}\b(?:,(?= E\d))?")

_OPENING, _KEY_BEGINS = re.compile(r"[\[(【]"), re.compile(r"E\d")

_EMPTY = re.compile(r"(?<!\s)\s*\(\s*\)")

_LOOSE = re.compile(r"(?<!\s)\s+(?=[,.;:!?](?:\s|$))")

_MAY_BE_LOOSE = re.compile(r" [,.;:!?]")


def strip_marks(text: str, quotes: str = "") -> str:
    """The words alone; what looks like a bare key is kept if the quotes have it, as "E10" fuel is."""
    bare = one_line(text)
    # Most sentences have no mark: looking whether one can begin anywhere is quicker than looking for each.
    if _OPENING.search(bare) or _KEY_BEGINS.search(bare) or may_have_address(bare):
        bare = _LINK.sub(r"\1", bare)
        bare = _IN_BRACKETS.sub("", ADDRESS.sub("", bare))
        bare = _BARE_KEY.sub(lambda found: found.group() if found.group().strip(" ,") in quotes else "", bare)
        bare = one_line(_EMPTY.sub("", bare))
    return one_line(_LOOSE.sub("", bare)) if _MAY_BE_LOOSE.search(bare) else bare


def has_address(text: str) -> bool:
    """Whether it points to a place."""
    return may_have_address(text) and ADDRESS.search(text) is not None


def may_have_address(text: str) -> bool:
    """Whether an address may stand in it: quicker to say than whether one does."""
    return "://" in text or "www." in text.lower()


_ITEM = re.compile(r"(?P<indent> *)(?P<mark>-|\(?[0-9A-Za-z]{1,9}[.)]) (?P<words>\S.*)")

_HEADING = re.compile(r"#{1,6} (?P<words>.+)")

_FENCE = re.compile(r"(`{3,})$")

_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class PassageLine:
    """A line of a passage, without marks of citations and addresses; what it shows is `text`."""

    kind: Literal["words", "item", "row", "head", "heading", "code", "blank"]
    text: str
    indent: str = ""


def extract_section(section_id: str, title: str, claims: Sequence[Claim]) -> Section:
    """A section that shows the first quote of each claim as it stands, a block each, a sentence a line."""
    written, blocks = [], []
    for number, claim in enumerate(claims):
        quote = claim.quotes[0]
        blocks.append(Block(kind="extract", title=quote.heading))
        for line in split_passage(quote.text):
            if line.kind in {"words", "item", "row"} and line.text:
                sentence = Sentence(text=line.text, claims=[claim.id], status="supported", block=number)
                written.append(sentence)
    return Section(id=section_id, title=title, sentences=written, blocks=blocks)


def are_extracts(sections: Sequence[Section]) -> bool:
    """Whether nobody wrote anything: every section shows passages only."""
    told = [section for section in sections if section.sentences]
    return bool(told) and all(
        section.blocks and all(block.kind == "extract" for block in section.blocks) for section in told
    )


def is_extract(sentence: Sentence, section: Section) -> bool:
    """Whether the sentence is a line of a passage that the section shows as it stands."""
    blocks = section.blocks
    return sentence.block < len(blocks) and blocks[sentence.block].kind == "extract"


def split_passage(text: str) -> Iterator[PassageLine]:
    """A passage line by line, without marks of citations and addresses, as it can be shown and cited."""
    fence, is_table = "", False
    for raw in text.split("\n"):
        if fence or _FENCE.fullmatch(raw):
            fence = "" if raw == fence else fence or raw
            yield PassageLine(
                "code", ADDRESS.sub(lambda found: parse_host(found.group()), _UNSEEN.sub("", raw))
            )
        elif not raw.strip():
            is_table = False
            yield PassageLine("blank", "")
        elif found := _HEADING.fullmatch(raw):
            yield PassageLine("heading", strip_marks(found["words"], raw))
        elif raw.startswith("| "):
            yield PassageLine("row" if is_table else "head", strip_marks(raw, raw))
            is_table = True
        elif entry := _ITEM.fullmatch(raw):
            yield PassageLine("item", f"{entry['mark']} {strip_marks(entry['words'], raw)}", entry["indent"])
        else:
            yield PassageLine("words", strip_marks(raw, raw))
