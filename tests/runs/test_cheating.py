"""A model that cheats in every known way, as reader and as writer, and approves of itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from adversarial import Cheat, cheats
from kits import Clerk, Library, kits_of

from fathom.graph import build_graph
from fathom.llm.port import (
    NO_FACTS,
    CheckBrief,
    Draft,
    Evidence,
    Objection,
    PageFacts,
    Point,
    Revision,
    SectionBrief,
    Thought,
)
from fathom.state import Heading, Outline, RunConfig, Section, Sentence, SubQuestion, Verdict
from fathom.text.sentences import sentences

pytestmark = pytest.mark.whole
SOUND = Verdict(is_explicit=True, is_same_scope=True, is_not_overstated=True, score=1.0)


def said_truly(cheat: Cheat) -> str:
    """What the page really says: the quote, or where that is forged the page's first sentence."""
    return cheat.quote if cheat.quote in cheat.page else sentences(cheat.page)[0].text


@dataclass(frozen=True)
class Cheater(Clerk):
    """Quotes and writes what is true and what is not, and is content with all of it."""

    cases: Sequence[Cheat] = ()

    async def read(
        self,
        question: str,
        questions: Sequence[SubQuestion],
        title: str,
        text: str,
        sought: SubQuestion | None = None,
        facts: PageFacts = NO_FACTS,
    ) -> Thought[list[Draft]]:
        """Each true quote as it is, and each cheat."""
        true = dict.fromkeys(said_truly(cheat) for cheat in self.cases)
        drafts = [Draft(words, words, "Q1", 0.9) for words in true]
        return Thought(drafts + [Draft(cheat.statement, cheat.quote, "Q1", 0.9) for cheat in self.cases])

    async def verify(self, evidence: Sequence[Evidence]) -> Thought[list[Verdict]]:
        """All is well."""
        return Thought([SOUND for _ in evidence], by="cheater")

    async def outline(
        self, question: str, questions: Sequence[SubQuestion], points: Sequence[Point]
    ) -> Thought[Outline]:
        """One section for everything."""
        claims = [claim for point in points for claim in point.ids]
        heading = Heading(id="", title="Zanzibar rules since 1066", question="Q1", claims=claims)
        return Thought(Outline(title="Zanzibar wins in 2031", headings=[heading]))

    async def write(self, brief: SectionBrief) -> Thought[Section]:
        """After each claim the cheats that lean on its quote."""
        written: list[Sentence] = []
        for claim in (claim for point in brief.points for claim in point.claims):
            written.append(Sentence(text=claim.statement, claims=[claim.id], status="supported"))
            written += [
                Sentence(text=cheat.statement, claims=[claim.id], status="supported")
                for cheat in self.cases
                if said_truly(cheat) == claim.quotes[0].text
            ]
        return Thought(Section(id="", title="", sentences=written))

    async def check(self, brief: CheckBrief) -> Thought[list[Objection]]:
        """No objection."""
        return Thought([])

    async def rewrite(self, revision: Revision) -> Thought[list[Sentence]]:
        """The same again, with a word before it."""
        return Thought([s.model_copy(update={"text": f"Indeed: {s.text}"}) for s in revision.sentences])


async def reported(home: Path, cases: Sequence[Cheat]) -> Any:
    """A whole run over one book that has the pages of all cases in it."""
    cost_log = "\n\n".join(dict.fromkeys(cheat.page for cheat in cases))
    mind = Cheater(cases=cases, missing=None)
    graph = build_graph(kits_of(home, Library({"https://shelf.example/book": cost_log}), mind))
    return await graph.ainvoke({"question": "What do the books say?"}, context=RunConfig(rounds=1))


@pytest.mark.parametrize("language", ["en", "ko"])
async def test_no_cheat_gets_through(tmp_path: Path, language: str) -> None:
    cases = [cheat for cheat in cheats() if cheat.language.endswith(language)]
    state = await reported(tmp_path, cases)
    true = {said_truly(cheat) for cheat in cases}
    assert {claim.statement for claim in state["claims"]} == true
    written = [s for section in state["report"].sections for s in section.sentences]
    assert {s.text for s in written} <= true
    assert all(s.status == "supported" for s in written)
    for smuggled in ("Zanzibar", "1066", "2031", "Indeed"):
        assert smuggled not in state["report"].markdown
    assert sum(entry.count for entry in state["rejected"]) == len({cheat.statement for cheat in cases})
    assert sum(len(section.rejected) for section in state["report"].sections) == len(cases)
