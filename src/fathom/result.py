"""The result of a run."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

from pydantic import Field

from fathom.budget.prices import add_up_costs, cost_by
from fathom.report.formats import FormatName
from fathom.report.ledger import LEDGER_FORMAT, Ledger, RunMetadata
from fathom.report.publish import find_changes, refused_sentences
from fathom.report.rerender import describe_ledger
from fathom.state import Cost, Failure, RunConfig, RunState
from fathom.text.messages import format_count, messages_for


class ResearchResult(Ledger):
    """A report, everything it stands on, and what went wrong on the way: a ledger, and the run in numbers."""

    is_partial: bool
    metadata: RunMetadata
    output_format: FormatName = Field("markdown", exclude=True)  # what the request asked for

    def render(self, name: FormatName | None = None) -> bytes:
        """The report as the bytes of a file, in this format or in the one that the request asked for.

        >>> from fathom import DeepResearcher, ResearchRequest
        >>> request = ResearchRequest(query="How high is it?", docs=["papers"], output_format="pdf")
        >>> DeepResearcher().research_sync(request).render()[:5]
        b'%PDF-'
        """
        from fathom.report.formats.registry import render_as  # only who hands a report on needs it

        return render_as(self, name or self.output_format)

    def save(self, file: Path | str, *, is_replaced: bool = False) -> None:
        """Write the report to a file, whose ending says the format."""
        from fathom.report.formats.registry import write_report

        write_report(self, Path(file), is_replaced=is_replaced)

    def __str__(self) -> str:
        told = self.metadata
        citations, pages = format_count(len(self.citations), "citation"), format_count(told.sources, "page")
        rounds = format_count(told.rounds, "round")
        return (
            f"{self.status}: {self.question!r}, {citations} from {pages} in {rounds},"
            f" {told.cost_usd:.4f} USD, run {self.run_id}"
        )

    def __repr__(self) -> str:
        return f"ResearchResult({self})"

    def describe(self) -> str:
        """How sure the report is, and what it rests on, in one line and in the report's language."""
        return describe_ledger(self, messages_for(self.question, self.settings.language))

    def _repr_markdown_(self) -> str:
        return self.report

    def _repr_html_(self) -> str:
        from fathom.report.formats.html import render_notebook  # only a notebook needs it

        told = self.metadata
        calls = f"{told.model_calls} model calls, {told.cost_usd:.4f} USD"
        return render_notebook(
            self.report, f"Run {self.run_id}: {self.status}, {told.duration_s:.0f} s, {calls}."
        )


@cache
def _own_version() -> str:
    """Read from the files of the installed package, which takes milliseconds."""
    return version("fathom-research")


def make_result(run_id: str, state: RunState, duration_s: float) -> ResearchResult:
    """The result of a run that has ended with a report."""
    report = state["report"]
    return ResearchResult(
        format=LEDGER_FORMAT,
        fathom=_own_version(),
        run_id=run_id,
        question=state["question"],
        status=report.status,
        is_partial=report.status == "partial",
        report=report.markdown,
        kind=report.kind,
        outline=state.get("outline"),
        sections=report.sections,
        claims=state.get("claims", []),
        sources=state.get("pages", []),
        citations=report.citations,
        questions=state.get("questions", []),
        findings=state.get("findings", []),
        contradictions=state.get("contradictions", []),
        rejected=[*state.get("rejected", []), *refused_sentences(report.sections)],
        control_tallies=state.get("control_tallies", []),
        judgements=state.get("judgements", []),
        asked=state.get("asked", []),
        errors=state.get("failures", []),
        settings=state.get("run_config", RunConfig()),
        update=find_changes(state, report.sections),
        thread=known.turns if (known := state.get("known")) else [],
        fork=state.get("fork"),
        effort=state.get("effort"),
        directions=state.get("directions", []),
        metadata=_make_metadata(state, duration_s),
    )


def _strategy_counts(costs: Sequence[Cost], failures: Sequence[Failure]) -> dict[str, int]:
    """How often models were asked in which way, and how many steps were done without them in the end."""
    asked = Counter(cost.strategy for cost in costs if cost.strategy)
    stood_in = sum(failure.where == "model" for failure in failures)
    return {**asked, **({"stand-in": stood_in} if stood_in else {})}


def _make_metadata(state: RunState, duration_s: float) -> RunMetadata:
    costs: list[Cost] = state.get("costs", [])
    last = state["judgements"][-1]
    spent = add_up_costs(costs)
    return RunMetadata(
        rounds=last.round,
        queries=len(state.get("asked", [])),
        sources=len(state.get("pages", [])),
        claims=len(state.get("claims", [])),
        duration_s=round(duration_s, 3),
        model_calls=spent.calls,
        tokens_in=spent.tokens_in,
        tokens_out=spent.tokens_out,
        saved_calls=spent.saved_calls,
        saved_tokens=spent.saved_tokens,
        cost_usd=round(sum(c.usd for c in costs), 6),
        cost_by=cost_by(costs),
        saved_usd=round(sum(c.saved_usd for c in costs), 6),
        tokens_cached=sum(c.tokens_cached for c in costs),
        strategies=_strategy_counts(costs, state.get("failures", [])),
        forecast=state.get("forecast"),
        is_priced=all(c.is_priced for c in costs),
        score=last.overall,
        stop=last.stop or "",
        because=last.because,
        gain_per_query=last.gain.smoothed_per_query,
        gain_per_usd=last.gain.smoothed_per_usd,
    )
