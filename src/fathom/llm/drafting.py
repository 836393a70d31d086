"""The report in a model's words: what writer, checker, rewriter and editor are shown, and what is made of
their answers.

Does not know models. Claims have short keys, and quotes stand once in a prompt however many sentences use
them; a key that was not given means nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, cast, get_args

from fathom.evidence.derivation import Passage
from fathom.llm import answers
from fathom.llm.keys import Keyed, ids_of, weight
from fathom.llm.port import CheckBrief, EditBrief, Revision, SectionBrief
from fathom.llm.sheets import Evidence, Lines, Sheet
from fathom.report.drafts import CheckItem
from fathom.report.material import SourceText
from fathom.state import (
    Block,
    Calculation,
    Claim,
    Edit,
    EditedText,
    Heading,
    Operand,
    Repetition,
    Section,
    Sentence,
    SentenceKind,
    SummarySentence,
)
from fathom.text.fitting import shortened

_QUOTE_CHARS = 900
_AROUND_CHARS = 1_200
_MOST_QUOTES = 4  # of a claim
_MOST_CLAIMS = 6  # of a sentence: what a hundred sources say needs no hundred quotes to be checked
_AIM_CHARS = 200
_BLOCKS: tuple[str, ...] = ("paragraph", "bullets", "numbered", "table")
_KINDS: tuple[SentenceKind, ...] = get_args(SentenceKind)


def write_sheet(brief: SectionBrief, points: Keyed, language: str) -> Sheet:
    """What the writer of one part is shown."""
    heading = brief.heading
    fixed = {
        "question": brief.question,
        "language": language,
        "today": brief.today or "not known",
        "part": f"{heading.title}\nIts aim: {heading.aim or 'to tell what its claims say about it.'}",
        "task": _task(brief),
    }
    evidence: dict[str, Evidence] = {
        "outline": Lines([_outlined(one, heading) for one in brief.outline.headings]),
        "claims": _claims(points, brief.sources),
        "sources": _sources(brief.sources),
    }
    return Sheet("writer", fixed, evidence)


def _task(brief: SectionBrief) -> str:
    words = [f"Write about {brief.words} words, counted by spaces." if brief.words else "Be brief."]
    if brief.is_table_wanted:
        words.append("This part must have a table that compares or counts what its claims give.")
    if brief.heading.is_conclusion:
        words.append(
            "This part concludes: weigh what the claims say together, say what follows for the question, how"
            " sure that is, and what stays open. Inferences are welcome; repeat no detail of other parts."
        )
    return " ".join(words)


def _outlined(one: Heading, own: Heading) -> str:
    mark = " (this part)" if one.id == own.id else ""
    return f"- {one.title}{mark}: {shortened(one.aim, _AIM_CHARS)}" if one.aim else f"- {one.title}{mark}"


def _claims(points: Keyed, sources: Sequence[SourceText]) -> Lines:
    """Each finding with its weight and its quotes, and which source says it."""
    names = _source_names(sources)
    parts = []
    for key, point in points.items():
        quotes = [quote for claim in point.claims for quote in claim.quotes]
        lines = [f"{key}: {point.finding.statement}", f"  weight: {weight(point)}"]
        for quote in {q.text: q for q in quotes}.values():
            if len(lines) - 2 < _MOST_QUOTES:
                source = names.get(quote.page, "")
                lines.append(
                    f"  quote{f' ({source})' if source else ''}: {shortened(quote.text, _QUOTE_CHARS)}"
                )
        parts.append("\n".join(lines))
    return Lines(parts, weight=2)


def _source_names(sources: Sequence[SourceText]) -> dict[str, str]:
    return {source.page: f"source {n}" for n, source in enumerate(sources, 1)}


def _sources(sources: Sequence[SourceText]) -> Lines:
    parts = []
    for number, source in enumerate(sources, 1):
        who = [source.publisher, source.author, f"published {source.published}" if source.published else ""]
        told = "; ".join(word for word in who if word)
        head = f"Source {number}: {shortened(source.title)}" + (f" ({told})" if told else "")
        parts.append(f"{head}\n{source.passages}" if source.passages else head)
    return Lines(parts, between="\n\n")


def section_of(form: answers.WriteAnswer, brief: SectionBrief, points: Keyed) -> Section:
    """The part as it was written; nothing of it is believed yet."""
    calculations = _calculations(form.calculations, points)
    blocks: list[Block] = []
    sentences: list[Sentence] = []
    for written in form.blocks:
        cells = [
            (cell, {"row": row, "column": column})
            for row, line in enumerate(written.rows)
            for column, cell in enumerate(line.cells)
        ] or [(one, {}) for one in written.sentences]
        if not cells:
            continue
        place = {"block": len(blocks)}
        blocks.append(_block(written, is_table=bool(written.rows)))
        sentences += [
            _sentence(cell, points, calculations).model_copy(update={**place, **at}) for cell, at in cells
        ]
    heading = brief.heading
    return Section(
        id=heading.id,
        title=heading.title,
        sentences=sentences,
        blocks=blocks,
        kind="conclusion" if heading.is_conclusion else "body",
    )


def _block(form: answers.BlockForm, *, is_table: bool) -> Block:
    kind = form.kind.strip().lower()
    if is_table:
        return Block(kind="table", title=form.title.strip(), columns=form.columns)
    known = kind if kind in _BLOCKS and kind != "table" else "paragraph"
    return Block(kind=cast(Literal["paragraph", "bullets", "numbered"], known), title=form.title.strip())


def _calculations(
    forms: Iterable[answers.CalculationForm], points: Keyed
) -> dict[str, tuple[Calculation, list[str]]]:
    """Calculations under their keys, each with the claims of its operands."""
    found = {}
    for form in forms:
        operands = [
            Operand(name=one.name.strip(), value=one.value, claim=next(iter(ids_of([one.claim], points)), ""))
            for one in form.operands
        ]
        if operands:
            made = Calculation(formula=form.formula, operands=operands, result=form.result)
            found[_bare(form.key)] = (made, [one.claim for one in operands if one.claim])
    return found


def _sentence(
    form: answers.SentenceForm | answers.RewriteForm,
    points: Keyed,
    calculations: Mapping[str, tuple[Calculation, list[str]]],
) -> Sentence:
    """A sentence of the kind it is marked as; without a mark a fact.

    One whose keys are all unknown claimed support that it does not have.
    """
    ids = ids_of(form.claims, points)
    own = next((calculations[_bare(key)] for key in form.claims if _bare(key) in calculations), None)
    if own:
        ids = list(dict.fromkeys([*ids, *own[1]]))
    if form.claims and not ids:
        return Sentence(text=form.text, claims=[], status="unsupported", why="its claims are unknown")
    kind = _kind(form.kind, has_keys=bool(ids), has_calculation=own is not None)
    status: Literal["supported", "connective"] = "supported" if ids else "connective"
    calculation = own[0] if own else None
    return Sentence(text=form.text, claims=ids, status=status, kind=kind, calculation=calculation)


def _kind(word: str, *, has_keys: bool, has_calculation: bool) -> SentenceKind:
    said = word.strip().lower()
    known = next((kind for kind in _KINDS if kind == said), None)
    if has_calculation:
        return "inference" if known == "inference" else "calculation"
    if not has_keys:
        return known or "fact"
    return "inference" if known == "inference" else "fact"


def _bare(key: str) -> str:
    return key.strip().strip("[]").upper()


def check_sheet(name: str, brief: CheckBrief, items: Sequence[CheckItem]) -> Sheet:
    """Sentences with their evidence for whoever checks them; a quote stands where it is needed first."""
    known = {claim.id: claim for claim in brief.claims}
    keys: dict[str, str] = {}
    shown = _ShownSources()
    parts = []
    for number, item in enumerate(items, 1):
        own = [c for c in dict.fromkeys(item.claims) if c in known][:_MOST_CLAIMS]
        new = [c for c in own if c not in keys]
        keys |= {c: f"E{len(keys) + n}" for n, c in enumerate(new, 1)}
        lines = [f"Sentence {number} ({item.kind}): {item.statement}"]
        lines += [f"  rests on: {shortened(text)}" for text in item.rests_on]
        lines += [f"  calculation: {item.calculation}"] if item.calculation else []
        lines += [f"  look at: {note}" for note in item.suspicions]
        if before := [keys[c] for c in own if c not in new]:
            lines.append(f"  evidence above: {', '.join(before)}")
        for claim in new:
            source = shown.name(known[claim], brief.passages.get(claim))
            lines += [
                f"  {keys[claim]}{source}: {_quoted(q.text)}" for q in known[claim].quotes[:_MOST_QUOTES]
            ]
        if _needs_context(item):
            passages = [(known[c], brief.passages[c]) for c in own if c in brief.passages]
            lines += [line for claim, passage in passages for line in shown.around(claim, passage)]
        parts.append("\n".join(lines))
    return Sheet(name, {}, {"sentences": Lines(parts, between="\n\n")}, batched="sentences")


def _needs_context(item: CheckItem) -> bool:
    return bool(item.suspicions) or item.kind == "inference"


class _ShownSources:
    """What a checker was shown of each source already: its name once, and no passage twice."""

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}
        self._texts: dict[str, str] = {}

    def name(self, claim: Claim, passage: Passage | None) -> str:
        """Return where a quote is from, with title, date and headings when the source comes first."""
        page = claim.quotes[0].page
        is_new = page not in self._keys
        key = self._keys.setdefault(page, f"S{len(self._keys) + 1}")
        if passage is None or not is_new:
            return f" [{key}]"
        about = "; ".join(w for w in (passage.title, passage.date, *passage.headings.splitlines()) if w)
        return f" [{key}: {shortened(about)}]" if about else f" [{key}]"

    def around(self, claim: Claim, passage: Passage) -> list[str]:
        """Return the paragraphs around a claim's quotes that were not shown yet."""
        page = claim.quotes[0].page
        known = self._texts.get(page, "")
        fresh = [line for line in passage.around.splitlines() if line.strip() and line.strip() not in known]
        text = shortened(" ".join(fresh), _AROUND_CHARS)
        if not text:
            return []
        self._texts[page] = f"{known}\n{passage.around}"
        return [f"  around it in {self._keys.get(page, 'its source')}: {text}"]


def _quoted(text: str) -> str:
    return shortened(text, _QUOTE_CHARS)


def rewrite_sheet(revision: Revision, sentences: Sequence[Sentence], points: Keyed, language: str) -> Sheet:
    """The sentences that were sent back, with the reasons and with what they may be written from."""
    keys = {claim_id: key for key, point in points.items() for claim_id in point.ids}
    parts = []
    for number, sentence in enumerate(sentences, 1):
        own = list(dict.fromkeys(keys[c] for c in sentence.claims if c in keys))
        line = f"Sentence {number} ({', '.join(own) or 'no claims'}): {sentence.text}"
        where = "a table's cell; " if sentence.row is not None else ""
        given = sentence.calculation
        computed = f"\n  its calculation: {_described(given)}" if given else ""
        parts.append(f"{line}\n  it is: {where}{sentence.kind}{computed}\n  why not: {sentence.why}")
    evidence: dict[str, Evidence] = {
        "sentences": Lines(parts, weight=2),
        "claims": _claims(points, revision.sources),
        "sources": _sources(revision.sources),
    }
    fixed = {"question": revision.question, "language": language}
    return Sheet("rewriter", fixed, evidence, batched="sentences")


def _described(calculation: Calculation) -> str:
    operands = ", ".join(f"{one.name} = {one.value}" for one in calculation.operands)
    return f"{calculation.formula} with {operands}, stated as {calculation.result}"


def rewritten(
    form: answers.RewriteAnswer, sentences: Sequence[Sentence], points: Keyed
) -> list[Sentence | None]:
    """Each sentence anew, in its place; None for one that was passed over."""
    calculations = _calculations(form.calculations, points)
    found = {one.sentence: _sentence(one, points, calculations) for one in form.rewrites}
    anew: list[Sentence | None] = []
    for number, old in enumerate(sentences, 1):
        new = found.get(number)
        place = {"block": old.block, "row": old.row, "column": old.column}
        anew.append(new.model_copy(update=place) if new else None)
    return anew


def edit_sheet(brief: EditBrief, language: str) -> Sheet:
    """The whole draft with its sentences numbered, and where something was taken out."""
    lines: list[str] = []
    number = 0
    for section in brief.sections:
        lines.append(f"## {section.title}")
        last: tuple[int, int | None] | None = None
        for sentence in section.sentences:
            number += 1
            if last is None or sentence.block != last[0]:
                lines += _block_head(section, sentence.block)
            mark = f"[{number}] " if sentence.status != "unsupported" else f"[{number}, not supported] "
            kind = "" if sentence.kind in {"fact", "link"} else f" ({sentence.kind})"
            if sentence.row is not None and last == (sentence.block, sentence.row):
                lines[-1] += f" | {mark}{sentence.text}{kind}"
            else:
                lines.append(f"{mark}{sentence.text}{kind}")
            last = (sentence.block, sentence.row)
        if section.rejected:
            lines.append(f"(taken out of this part: {len(section.rejected)} sentences)")
    fixed = {
        "question": brief.question,
        "language": language,
        "today": brief.today or "not known",
        "title": brief.title,
        "words": str(brief.words or "as few as needed"),
    }
    return Sheet("editor", fixed, {"draft": Lines(lines)})


def _block_head(section: Section, place: int) -> list[str]:
    if place >= len(section.blocks):
        return []
    block = section.blocks[place]
    head = [f"({block.kind}) {block.title}".rstrip()]
    return [*head, " | ".join(block.columns)] if block.columns else head


def edit_of(form: answers.EditAnswer) -> Edit:
    """What the editor wants, as a record."""
    return Edit(
        title=form.title,
        summary=[SummarySentence(text=one.text, rests_on=_numbers(one.rests_on)) for one in form.summary],
        changes=[EditedText(number=one.sentence, text=one.text) for one in form.changes],
        repetitions=[Repetition(number=one.sentence, same_as=one.same_as) for one in form.repetitions],
        links=[EditedText(number=one.sentence, text=one.text) for one in form.links],
    )


def _numbers(words: Iterable[str]) -> list[int]:
    return [int(bare) for word in words if (bare := word.strip().strip("[]")).isdecimal()]
