"""How a run begins that brings a finished one up to date.

Does not know databases or the graph: what the earlier run knew goes in, what the new one is given comes out.
"""

from dataclasses import dataclass
from datetime import date

from fathom.http.urls import canonical_address
from fathom.state import EarlierRun, ResearchInput, RunConfig, RunState
from fathom.state.records import unite_lists

_MOST_ROUNDS = 100


@dataclass(frozen=True)
class UpdateRequest:
    """What an update begins with."""

    question: str
    remembered: RunConfig
    earlier: EarlierRun

    def run_config(self) -> RunConfig:
        """The earlier run's configuration for one round more: pages are read anew, nobody reviews.

        Only what was published since is looked for, but among documents of one's own a new file may be old.
        """
        since = max(self.remembered.since or "", self.earlier.ended)
        changed = {
            "rounds": min(len(self.earlier.judgements) + 1, _MOST_ROUNDS),
            "since": self.remembered.since if self.remembered.docs else since,
            "fresh": True,
            "review": "off",
            "endless": False,
            "strategy": "loop",
        }
        return self.remembered.model_copy(update=changed)

    def given(self) -> ResearchInput:
        """The new run's input."""
        return {"question": self.question, "earlier": self.earlier}


def make_update(run_id: str, state: RunState, ended: date) -> UpdateRequest:
    """The update of a run that ended in this state."""
    report = state["report"]
    # What could not be read then gets another chance.
    lost = {
        canonical_address(failure.what) for failure in state.get("failures", []) if failure.where == "reading"
    }
    found = unite_lists(state.get("visited", []), state.get("offered", []))
    outline = state.get("outline")
    return UpdateRequest(
        question=state["question"],
        remembered=RunConfig.model_validate(state.get("run_config") or {}),
        earlier=EarlierRun(
            run=run_id,
            ended=ended.isoformat(),
            pages=state.get("pages", []),
            claims=state.get("claims", []),
            questions=state.get("questions", []),
            asked=state.get("asked", []),
            offered=[address for address in found if address not in lost],
            judgements=state.get("judgements", []),
            rulings=state.get("rulings", []),
            outline=outline,
            sections=report.sections,
        ),
    )
