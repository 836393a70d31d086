"""Passages of sources as sections of a report: a block each, a sentence a line.

Does not know Markdown or HTML.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from fathom.report.marks import ADDRESS, unmarked
from fathom.search.addresses import host
from fathom.state import Block, Claim, Section, Sentence

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
        for line in passage_lines(quote.text):
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


def passage_lines(text: str) -> Iterator[PassageLine]:
    """A passage line by line, without marks of citations and addresses, as it can be shown and cited."""
    fence, is_table = "", False
    for raw in text.split("\n"):
        if fence or _FENCE.fullmatch(raw):
            fence = "" if raw == fence else fence or raw
            yield PassageLine("code", ADDRESS.sub(lambda found: host(found.group()), _UNSEEN.sub("", raw)))
        elif not raw.strip():
            is_table = False
            yield PassageLine("blank", "")
        elif found := _HEADING.fullmatch(raw):
            yield PassageLine("heading", unmarked(found["words"], raw))
        elif raw.startswith("| "):
            yield PassageLine("row" if is_table else "head", unmarked(raw, raw))
            is_table = True
        elif entry := _ITEM.fullmatch(raw):
            yield PassageLine("item", f"{entry['mark']} {unmarked(entry['words'], raw)}", entry["indent"])
        else:
            yield PassageLine("words", unmarked(raw, raw))
