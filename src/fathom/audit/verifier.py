"""Audit statements with a model: in batches, with control items among them that test the model.

A call that approves a false control, or refuses a true one, is void: what it approved, or refused, is asked
again, and decided by the strict rules if that call is void too. A quote must be in the source.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fathom.audit import AuditVerdict, ReportStatement, VerdictName
from fathom.audit.rules import decide_by_rules, list_notes, recompute_written
from fathom.audit.sources import SourcePassages
from fathom.errors import ProviderError
from fathom.evidence.controls import (
    ControlOutcome,
    TrustLog,
    choose_controls,
    evaluate_controls,
    language_of,
    make_controls,
    mix_in,
)
from fathom.evidence.grounding import QuoteFinder
from fathom.evidence.verification import split_evenly
from fathom.llm.prompt_budget import PromptBudget, PromptLines
from fathom.llm.roles.answer_forms import AuditAnswer, AuditItemForm
from fathom.llm.structured_output import StructuredOutput, ask_in_batches
from fathom.prompts import load_prompt
from fathom.state import Control, ControlTally, Cost, Failure, Quote, short_hash
from fathom.text.normalization import fold_text, one_line

MOST_A_CALL = 24
_MOST_CONTROLLED = 80  # sentences of a source that controls are made from
_VERDICTS: dict[str, VerdictName] = {
    "supported": "supported",
    "partly": "partly",
    "contradicted": "contradicted",
    "absent": "not in the source",
}
_MARKED_INFERENCE = "Marked in the report: a conclusion from these sources."
_UNSURE = "the model could not be relied on"
_MISQUOTED, _SILENT = "the model quoted words that are not in the source", "the model gave no verdict"


@dataclass
class AuditLog:
    """What the calls of an audit cost, and what happened in them."""

    tallies: list[ControlTally] = field(default_factory=list)
    costs: list[Cost] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    by: str = ""


@dataclass(frozen=True)
class _Item:
    """What is shown under one number."""

    sources: list[str]  # their ids
    words: str
    quotes: list[Quote]
    before: str = ""
    notes: list[str] = field(default_factory=list)
    marked: str = ""  # what the report itself says the statement is
    statement: ReportStatement | None = None
    control: Control | None = None

    @property
    def id(self) -> str:
        """Its name for the seed of a call."""
        return self.statement.id if self.statement else self.control.id if self.control else ""


@dataclass(frozen=True)
class _AuditReply:
    item: _Item
    form: AuditItemForm
    outcome: ControlOutcome

    @property
    def is_approved(self) -> bool:
        return self.form.verdict == "supported"

    @property
    def is_void(self) -> bool:
        return self.outcome.is_void(self.is_approved)


@dataclass
class StatementVerifier:
    """Decides about cited statements with a model, and with the strict rules where it cannot be relied on."""

    output: StructuredOutput
    trust: TrustLog
    sources: Mapping[str, SourcePassages]
    log: AuditLog = field(default_factory=AuditLog)

    async def verify(self, statements: Sequence[ReportStatement]) -> list[AuditVerdict]:
        """Return one verdict for each statement, all of which cite a source that was read."""
        items = sorted(map(self._make_item, statements), key=lambda item: item.sources)
        batches = split_evenly(items, MOST_A_CALL)
        answers = [a for batch in await asyncio.gather(*map(self._verify_batch, batches)) for a in batch]
        self.log.tallies = list({tally.key: tally for tally in self.log.tallies}.values())
        await self.trust.note(self.log.tallies)
        by_id = {answer.item.id: answer for answer in answers}
        return [await self._decide(statement, by_id.get(statement.id)) for statement in statements]

    async def _decide(self, statement: ReportStatement, answer: _AuditReply | None) -> AuditVerdict:
        read = [self.sources[key] for key in statement.cites if key in self.sources]
        if answer is None:
            return decide_by_rules(statement, read)
        standing = await self.trust.trust(self.log.by, language_of(statement.text))
        if answer.is_void or standing == "untrusted":
            return _with_note(decide_by_rules(statement, read), _UNSURE)
        verdict = _VERDICTS.get(answer.form.verdict)
        quote, source = self._find_quote(answer.form.quote, read)
        if verdict is None or (verdict in {"supported", "contradicted"} and quote is None):
            return _with_note(decide_by_rules(statement, read), _MISQUOTED if verdict else _SILENT)
        near = [] if quote else source.nearest(statement.text, 1)
        return AuditVerdict(
            statement=statement.id,
            verdict=verdict,
            reason=one_line(answer.form.reason),
            source=source.about.source.id,
            quote=quote,
            nearest=source.with_heading(near[0]) if near else None,
            by=self.log.by,
            notes=answer.item.notes,
        )

    def _find_quote(self, words: str, read: Sequence[SourcePassages]) -> tuple[Quote | None, SourcePassages]:
        for source in read:
            if words.strip() and (found := QuoteFinder(source.page.sha, source.text).find_parts(words)):
                whole = found[0].model_copy(update={"end": found[-1].end})
                text = source.text[whole.start : whole.end]
                return source.with_heading(whole.model_copy(update={"text": text})), source
        return None, read[0]

    async def _verify_batch(self, batch: Sequence[_Item]) -> list[_AuditReply]:
        """Ask about one batch; ask once more about what is void."""
        first = await self._ask(batch, "first")
        again = [answer.item for answer in first if answer.is_void]
        second = {answer.item.id: answer for answer in await self._ask(again, "again")} if again else {}
        return [second.get(answer.item.id, answer) for answer in first]

    async def _ask(self, batch: Sequence[_Item], when: str) -> list[_AuditReply]:
        """Make one call; nothing if it fails, and the failure is recorded."""
        revision = load_prompt("auditor").revision
        seed = short_hash(when, str(revision), *(item.id for item in batch))
        keys = dict.fromkeys(key for item in batch for key in item.sources)
        pool = list({control.id: control for key in keys for control in self._controls[key]}.values())
        shown = mix_in(batch, choose_controls(pool, seed), seed)
        items = [self._control_item(one) if isinstance(one, Control) else one for one in shown]
        items.sort(key=lambda item: item.sources)
        try:
            batches = await ask_in_batches(self.output, "verify", items, self._build_prompt, AuditAnswer)
        except ProviderError as error:
            self.log.failures.append(Failure(where="audit", what=f"{len(batch)} statements", why=str(error)))
            self.log.costs += error.costs
            return []
        forms: list[tuple[_Item, AuditItemForm]] = []
        for answer, own in batches:
            self.log.costs += answer.costs
            self.log.failures += answer.failures
            found = {form.item: form for form in answer.form.verdicts}
            forms += [
                (item, found.get(n, AuditItemForm(item=n, verdict=""))) for n, item in enumerate(own, 1)
            ]
        model = self.log.costs[-1].model if self.log.costs else "unnamed"
        self.log.by = f"{model}, auditor@{revision}"
        tested = [(item.control, form.verdict == "supported") for item, form in forms if item.control]
        outcome = evaluate_controls(tested, seed, self.log.by)
        self.log.tallies += outcome.tallies
        return [_AuditReply(item, form, outcome) for item, form in forms if item.statement]

    def _build_prompt(self, items: Sequence[_Item]) -> PromptBudget:
        numbers: dict[str, int] = {}
        parts = []
        for number, item in enumerate(items, 1):
            head = ""
            shas = dict.fromkeys(self.sources[key].page.sha for key in item.sources)
            for key in item.sources:
                sha = self.sources[key].page.sha
                if sha not in numbers:
                    numbers[sha] = len(numbers) + 1
                    own = [quote for one in items for quote in one.quotes if quote.page == sha]
                    head += f"Source {numbers[sha]}:\n{self.sources[key].describe(own)}\n\n"
            cited = ", ".join(str(numbers[sha]) for sha in shas)
            lines = [f"Item {number} (source {cited})", f"Statement: {item.words}"]
            lines += [f"Before it: {item.before}"] if item.before else []
            lines += [item.marked] if item.marked else []
            lines += [f"Check: {note}" for note in item.notes]
            parts.append(head + "\n".join(lines))
        return PromptBudget("auditor", {}, {"items": PromptLines(parts, between="\n\n")}, batched="items")

    def _make_item(self, statement: ReportStatement) -> _Item:
        keys = [key for key in statement.cites if key in self.sources]
        read = [self.sources[key] for key in keys]
        quotes = [quote for source in read for quote in source.nearest(statement.text)]
        marked = _MARKED_INFERENCE if statement.nature == "inference" else ""
        if statement.calculation:
            done = recompute_written(statement.calculation, read)
            told = done.wrong or (
                f"{done.missing} is in none of the sources" if done.missing else "it is right"
            )
            marked = f"Calculated in the report: {statement.calculation}. Recomputed by code: {told}."
        notes = [] if marked else list_notes(statement, read)  # they would name what no source can say
        return _Item(keys, statement.text, quotes, statement.context, notes, marked, statement)

    def _control_item(self, control: Control) -> _Item:
        key = next(key for key, source in self.sources.items() if source.page.sha == control.page)
        stated = ReportStatement(id=control.id, text=control.statement, kind="fact")
        notes = [] if control.is_true else list_notes(stated, [self.sources[key]])
        return _Item([key], control.statement, control.quotes, notes=notes, control=control)

    @cached_property
    def _controls(self) -> dict[str, list[Control]]:
        """The controls that code makes from each source's own sentences."""
        made = {}
        for key, source in self.sources.items():
            stated = [
                (quote.text, [quote]) for quote in source.quotes[:_MOST_CONTROLLED] if "|" not in quote.text
            ]
            controls = make_controls(stated, source.text)
            known = fold_text(source.text).text
            made[key] = [c for c in controls if c.is_true or fold_text(c.statement).text not in known]
        return made


def _with_note(verdict: AuditVerdict, note: str) -> AuditVerdict:
    return verdict.model_copy(update={"notes": [*verdict.notes, note]})
