"""A model that makes up a share of its quotes and of its sentences, and keeps a list of what it made up.

Does not know how it is found out. As verifier and checker it approves of everything; asked to correct itself
it says the same again, or nothing.
"""

import random
import re
import threading
from dataclasses import dataclass, field

from standins.model import ModelRequest
from standins.replies import Reply
from standins.working_model import fenced, form_of, researcher


@dataclass
class Fabricator:
    """Fabricates with a seed: what is asked decides what is made up, not when it is asked."""

    seed: int
    share: float = 0.3
    quotes: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request: ModelRequest) -> Reply:
        """A sound answer, or one with inventions in it."""
        chance = random.Random(f"{self.seed}:{request.user_text}")
        match form_of(request):
            case "read":
                return Reply.give(self._read(request.user_text, chance))
            case "write":
                return Reply.give(self._write(request.user_text, chance))
            case "rewrite":
                return Reply.give(_stubborn(request.user_text, chance))
            case "verify":
                return Reply.give(_content(request.user_text))
            case "check":
                return Reply.give({"objections": []})
            case _:
                return researcher(request)

    def _read(self, text: str, chance: random.Random) -> dict[str, object]:
        found = re.findall(r"[A-Z][^.#\n]{25,}\.", fenced("passages", text))[:8]
        chosen = self._chosen(len(found), chance)
        claims = []
        for number, quote in enumerate(found):
            statement = quote
            if number in chosen:
                statement = (
                    f"Insiders say that item {chance.randint(1000, 9999)} of {quote[-20:-1]} was forged."
                )
                quote = f"As a matter of record, {statement[0].lower()}{statement[1:]}"
                self._remember(self.quotes, statement)
            about = f"Q{number % 2 + 1}"
            claims.append({"question": about, "quotes": [quote], "statement": statement, "relevance": 0.9})
        return {"claims": claims}

    def _write(self, text: str, chance: random.Random) -> dict[str, object]:
        claims = re.findall(r"^(E\d+): (.*)$", fenced("claims", text), re.MULTILINE)
        chosen = self._chosen(len(claims), chance)
        sentences = []
        for number, (key, statement) in enumerate(claims):
            written: dict[str, object] = {"text": statement, "claims": [key]}
            if number in chosen:
                written = _invented(key, statement, chance)
                self._remember(self.sentences, str(written["text"]))
            sentences.append(written)
        return {"sentences": sentences}

    def _chosen(self, count: int, chance: random.Random) -> set[int]:
        return set(chance.sample(range(count), round(self.share * count)))

    def _remember(self, made_up: list[str], words: str) -> None:
        with self._lock:
            made_up.append(words)


def _invented(key: str, statement: str, chance: random.Random) -> dict[str, object]:
    """One of four: another number, a name nobody gave, a key that does not exist, a fact without a key."""
    number = chance.randint(10_000, 99_999)
    ways: list[dict[str, object]] = [
        {"text": re.sub(r"\d+", str(number), statement, count=1), "claims": [key]},
        {"text": f"In Zanzibar{number} {statement[0].lower()}{statement[1:]}", "claims": [key]},
        {"text": f"Nobody doubts any of it, case {number}.", "claims": ["E999"]},
        {"text": f"All of this was foreseen by Zanzibar{number}.", "claims": []},
    ]
    return chance.choice(ways)


def _content(text: str) -> dict[str, object]:
    answers = dict.fromkeys(("is_explicit", "is_same_scope", "is_not_overstated"), True)
    items = re.findall(r"^Item (\d+)", text, re.MULTILINE)
    return {"verdicts": [{"item": int(n), "reason": "", **answers, "score": 1.0} for n in items]}


def _stubborn(text: str, chance: random.Random) -> dict[str, object]:
    failed = re.findall(r"^Sentence (\d+) \((E\d+)?.*?\): (.*)$", fenced("sentences", text), re.MULTILINE)
    return {
        "rewrites": [
            {"sentence": int(n), "text": words if chance.random() < 0.5 else "", "claims": [key or "E999"]}
            for n, key, words in failed
        ]
    }
