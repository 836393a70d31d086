"""The rules of evidence as a request to a process, and its reply: plain words and numbers.

Both sides are here, so that they cannot differ. Does not know processes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fathom.crew.worker import Request
from fathom.evidence.carrying import examined
from fathom.evidence.claims import Ground, grounds
from fathom.minds.port import Draft

RULES = "rules"
_TEXT = ("utf-8", "surrogatepass")  # half a letter may stand in a text
_LIMIT_S = 10.0


def of_drafts(drafts: Sequence[Draft], text: str, known: Sequence[str]) -> Request:
    """Which drafts stand in the page's text, and are carried by it?"""
    told = [(draft.statement, draft.quote, draft.question) for draft in drafts]
    return Request(RULES, {"drafts": told, "known": list(known)}, text.encode(*_TEXT), limit_s=_LIMIT_S)


def of_sentences(sentences: Sequence[tuple[str, Sequence[Sequence[str]]]]) -> Request:
    """What speaks against these sentences, each with the quotes of each of its claims?"""
    return Request(RULES, {"sentences": sentences}, limit_s=_LIMIT_S)


def of_nothing() -> Request:
    """Nothing: who is asked gets to know the rules."""
    return of_sentences([])


def ruled(body: bytes, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The reply, in the process that was asked."""
    if "drafts" not in asked:
        return {"examined": [examined(statement, quotes) for statement, quotes in asked["sentences"]]}
    drafts = [Draft(statement, quote, question, 0.0) for statement, quote, question in asked["drafts"]]
    found, refused = grounds(drafts, body.decode(*_TEXT), asked["known"])
    return {"found": [(g.place, g.start, g.end, g.is_self_evident) for g in found], "refused": refused}


def grounds_in(reply: Mapping[str, Any]) -> tuple[list[Ground], dict[str, int]]:
    """What `grounds` found there."""
    return [Ground(*told) for told in reply["found"]], reply["refused"]
