"""A prompt whose evidence can be made to fit: instructions and the question stay, the least relevant goes.

Does not know models; it is told how many tokens there is room for and how to count them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fathom.errors import Unreadable
from fathom.prompts import FilledPrompt, load_prompt
from fathom.state import SubQuestion
from fathom.text.normalization import one_line
from fathom.text.ranking import best_passages
from fathom.text.token_count import CountTokens, bound_tokens, truncate_to_tokens

NONE = "(none)"

_BETWEEN_PASSAGES = "\n\n[…]\n\n"

_MAX_FITTING_ROUNDS = 10

_MIN_PASSAGE_TOKENS = 60  # tokens: of less than a few sentences a model can only say that it tells nothing


class WindowTooSmall(Unreadable):
    """Not even the instructions and the question fit, or hardly a sentence of a page with them."""


class CuttableText(Protocol):
    """What may be cut."""

    @property
    def weight(self) -> float:
        """Its share of the room, beside others."""

    def shown(self) -> str:
        """All of it that a model should see."""

    def within(self, room: int, count: CountTokens) -> tuple[str, int]:
        """As much as there is room for, and how many of its parts that leaves."""


@dataclass(frozen=True)
class PromptLines:
    """Parts in order of relevance, best first; the last ones are cut first."""

    parts: Sequence[str]
    weight: float = 1.0
    between: str = "\n"
    is_newest_last: bool = False  # then the first ones are cut first
    places: Sequence[int] = ()  # where each is shown, when that is not by relevance

    def shown(self) -> str:
        """All of them."""
        return self._joined(self.parts)

    def within(self, room: int, count: CountTokens) -> tuple[str, int]:
        """The best that fit together; of a first one that is too long, its beginning."""
        kept: list[str] = []
        for part in reversed(self.parts) if self.is_newest_last else self.parts:
            cost = count(part + self.between)
            if cost > room:
                break
            room -= cost
            kept.append(part)
        if not kept and self.parts:
            first = self.parts[-1 if self.is_newest_last else 0]
            kept = [part] if (part := truncate_to_tokens(first, room, count)) else []
        return self._joined(kept[::-1] if self.is_newest_last else kept), len(kept)

    def _joined(self, parts: Sequence[str]) -> str:
        if not self.places:
            return self.between.join(parts)
        placed = sorted(zip(self.places, parts, strict=False), key=lambda pair: pair[0])
        return self.between.join(part for _, part in placed)


@dataclass(frozen=True)
class PromptPassages:
    """A page; of a long one, the passages that fit the questions best."""

    text: str
    questions: Sequence[str]
    max_tokens: int
    weight: float = 4.0

    def shown(self) -> str:
        """The passages a model should see, however much it could hold."""
        return _BETWEEN_PASSAGES.join(best_passages(self.text, self.questions, self.max_tokens))

    def within(self, room: int, count: CountTokens) -> tuple[str, int]:
        """Fewer of them; TooSmall where hardly a sentence would be left."""
        if room < _MIN_PASSAGE_TOKENS:
            raise WindowTooSmall(f"there is room for {room} tokens of a page")
        chosen = best_passages(self.text, self.questions, room, count)
        while len(chosen) > 1 and count(_BETWEEN_PASSAGES.join(chosen)) > room:
            chosen = chosen[:-1]
        return _BETWEEN_PASSAGES.join(chosen), 1 if chosen else 0


@dataclass(frozen=True)
class FittedPrompt:
    """A prompt that fits, which of its evidence was cut, and how many parts of each were kept."""

    prompt: FilledPrompt
    cut: list[str] = field(default_factory=list)
    kept: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class PromptBudget:
    """A prompt by its name, with what must stand in it and what may be cut."""

    name: str
    fixed: Mapping[str, str]
    evidence: Mapping[str, CuttableText] = field(default_factory=dict)
    batched: str = ""  # what is not lost when it is cut: the rest of it is asked about afterwards

    def whole(self) -> FilledPrompt:
        """The prompt with everything in it."""
        return self._filled({name: part.shown() for name, part in self.evidence.items()})

    def within(self, room: int, count: CountTokens, share: float = 1.0) -> FittedPrompt:
        """The prompt in that room, with that share of its evidence; TooSmall when there is no room for it."""
        texts = {name: part.shown() for name, part in self.evidence.items()}
        whole = self._filled(texts)
        # What is short enough need not be counted.
        if share == 1.0 and _size(whole, bound_tokens) <= room:
            return FittedPrompt(whole)
        need = _size(whole, count)
        if share == 1.0 and need <= room:
            return FittedPrompt(whole)
        bare = _size(self._filled({}), count)
        left = min(room, bare + int(share * (need - bare))) - bare
        needs = {name: count(text) for name, text in texts.items() if text}
        for _ in range(_MAX_FITTING_ROUNDS):
            fitted = self._cut(texts, needs, left, count)
            if left >= 0 and _size(fitted.prompt, count) <= room:
                return fitted
            left = int(0.8 * left) - 8
        raise WindowTooSmall(
            f"{self.name} needs {bare} tokens without any evidence, and there is room for {room}"
        )

    def _cut(
        self, texts: Mapping[str, str], needs: Mapping[str, int], left: int, count: CountTokens
    ) -> FittedPrompt:
        shown, cut, kept = dict(texts), [], {}
        for name, room in _share_room(needs, {n: self.evidence[n].weight for n in needs}, left).items():
            if room < needs[name]:
                shown[name], kept[name] = self.evidence[name].within(room, count)
                cut.append(name)
        return FittedPrompt(self._filled(shown), cut, kept)

    def _filled(self, texts: Mapping[str, str]) -> FilledPrompt:
        shown = {name: texts.get(name) or NONE for name in self.evidence}
        return load_prompt(self.name).fill(**self.fixed, **shown)


def _size(prompt: FilledPrompt, count: CountTokens) -> int:
    return count(prompt.system) + count(prompt.user)


def _share_room(needs: Mapping[str, int], weights: Mapping[str, float], left: int) -> dict[str, int]:
    """Room by weight; what needs less than its share leaves the rest to the others."""
    rooms: dict[str, int] = {}
    waiting = sum(weights.values())
    for name in sorted(needs, key=lambda n: needs[n] / weights[n]):
        rooms[name] = max(0, min(needs[name], int(left * weights[name] / waiting)))
        left -= rooms[name]
        waiting -= weights[name]
    return rooms


def list_lines(lines: Iterable[str], weight: float = 1.0, *, is_newest_last: bool = False) -> PromptLines:
    """The lines as a model is shown them."""
    return PromptLines([f"- {one_line(line)}" for line in lines], weight, is_newest_last=is_newest_last)


def list_questions(questions: Sequence[SubQuestion]) -> PromptLines:
    """Sub-questions as prompt lines, each with its id."""
    return list_lines(f"{q.id}: {q.text}" for q in questions)
