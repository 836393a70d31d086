"""The rules of evidence, applied by a process that waits, or here: the answers are the same.

No process is started for them: that takes a second, and what a run asks takes less. Those that parse pages
get to know the rules, which takes half a second, once this process has asked more often than one run does;
nobody waits for that, and until then it is done here. Does not know the rules themselves.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from fathom.crew.crew import Crew, crew
from fathom.crew.wire import RULES, grounds_in, of_drafts, of_nothing, of_sentences
from fathom.crew.worker import Request
from fathom.evidence.claims import GroundedDraft, dropped, grounds, on_grounds
from fathom.minds.port import Draft
from fathom.report.drafts import by_rules, checked, told_of
from fathom.state import Claim, Dropped, Page, Sentence, SubQuestion

T = TypeVar("T")
FEW = 20  # requests: a run that reads ten pages and writes five sections has fifteen


class Rulebook:
    """The rules for all runs of a process; without a crew, all is done here."""

    def __init__(self, hands: Crew | None = None) -> None:
        self._crew = hands
        self._asked = 0

    async def grounded(
        self, drafts: Sequence[Draft], page: Page, text: str, questions: Sequence[SubQuestion]
    ) -> tuple[list[GroundedDraft], list[Dropped]]:
        """The drafts whose quotes are in the page and carry them; how many do not, and why."""
        if not drafts:
            return [], []
        known = [question.id for question in questions]
        found, refused = await self._applied(
            lambda: of_drafts(drafts, text, known), grounds_in, lambda: grounds(drafts, text, known)
        )
        return on_grounds(found, drafts, page, text), dropped(refused, page)

    async def checked(self, sentences: Sequence[Sentence], claims: Mapping[str, Claim]) -> list[Sentence]:
        """The sentences, unsupported where their quotes do not carry them."""
        supported = [sentence for sentence in sentences if sentence.status == "supported"]
        if not supported:
            return list(sentences)

        def told(reply: Mapping[str, Any]) -> list[Sentence]:
            found = iter(reply["examined"])
            return [by_rules(s, *next(found)) if s.status == "supported" else s for s in sentences]

        return await self._applied(
            lambda: of_sentences([(sentence.text, told_of(sentence, claims)) for sentence in supported]),
            told,
            lambda: [checked(sentence, claims) for sentence in sentences],
        )

    async def _applied(
        self, request: Callable[[], Request], told: Callable[[Mapping[str, Any]], T], here: Callable[[], T]
    ) -> T:
        if self._crew is None:
            return here()
        self._asked += 1
        if self._asked > FEW:
            self._crew.teach(of_nothing())
        if not self._crew.knows(RULES):
            return here()
        reply = await self._crew.lent(request())
        return here() if reply is None else told(reply)


@cache
def rulebook() -> Rulebook:
    """The one that all runs of this process share."""
    return Rulebook(crew())
