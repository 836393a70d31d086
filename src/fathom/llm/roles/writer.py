"""The roles of writer, rewriter and editor: show findings and drafts, and read sections and edits.

Claims have short keys, and a quote is shown once however many sentences use it. Unknown keys are ignored.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

from pydantic_core import from_json

from fathom.evidence.checks.derivation import Passage
from fathom.evidence.grounding import STRETCH_GAP
from fathom.llm.answer_parsing import strip_thinking
from fathom.llm.prompt_budget import CuttableText, PromptBudget, PromptLines
from fathom.llm.roles import answer_forms
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
from fathom.state.model_io import EditInput, ReportPoint, RewriteInput, SourceText, WriteInput
from fathom.text.normalization import one_line, shorten_line
from fathom.text.token_count import fit_entries

MAX_KEYED_POINTS = 100
KEYED_POINT_TOKENS = 10_000
PointsByKey = Mapping[str, ReportPoint]


def key_points(points: Sequence[ReportPoint]) -> dict[str, ReportPoint]:
    """Return the strongest findings under short keys."""
    lines = {f"E{n}": point.finding.statement for n, point in enumerate(points[:MAX_KEYED_POINTS], 1)}
    return dict(zip(fit_entries(lines, KEYED_POINT_TOKENS), points, strict=False))


def describe_weight(point: ReportPoint) -> str:
    """Describe a finding's confidence, its number of sources, and whether one is primary."""
    primary = ", primary" if point.finding.is_primary else ""
    count = len(point.finding.independent_sources)
    return f"{point.finding.tag.lower()}{f', {count} independent sources' if count > 1 else ''}{primary}"


def claims_for_keys(keys: Sequence[str], points: PointsByKey) -> list[str]:
    """Return the claims that keys stand for."""
    return [i for key in keys if (k := key.strip().strip("[]")) in points for i in points[k].ids]


QUOTE_CHARS = 900

_AROUND_CHARS = 140  # on either side of a quote that is checked
_USUAL_WEIGHT = "likely"  # of a finding with one source; not shown
MAX_CLAIM_QUOTES = 4  # per claim
_AIM_CHARS = 200
_BLOCKS: tuple[str, ...] = ("paragraph", "bullets", "numbered", "table")
_KINDS: tuple[SentenceKind, ...] = get_args(SentenceKind)


def writer_prompt(
    brief: WriteInput, headings: Sequence[Heading], points: PointsByKey, language: str
) -> PromptBudget:
    """Build the prompt for these parts of the report, each with its claims."""
    fixed = {
        "question": brief.question,
        "language": language,
        "today": brief.today or "not known",
        "words": str(sum(brief.lengths.get(heading.id, 0) for heading in headings) or "as few as will do"),
    }
    own = {heading.id for heading in headings}
    others = [_outline_line(one) for one in brief.outline.headings if one.id not in own]
    evidence: dict[str, CuttableText] = {
        "others": PromptLines(others),
        "claims": PromptLines(_part_entries(brief, headings, points), weight=3, between="\n\n"),
        "missing": PromptLines(limit_lines(brief.limits)),
        "sources": _source_lines(brief.sources),
    }
    return PromptBudget("writer", fixed, evidence, batched="claims")


def limit_lines(limits: Sequence[str]) -> list[str]:
    """Return what the evidence lacks, under short keys."""
    return [f"L{n}: {limit}" for n, limit in enumerate(limits, 1)]


def _part_entries(brief: WriteInput, headings: Sequence[Heading], points: PointsByKey) -> list[str]:
    """Return each part with its task and claims; a claim of an earlier part is only named by its key."""
    shown: set[str] = set()
    entries = []
    for heading in headings:
        own = {key: point for key, point in points.items() if not set(point.ids).isdisjoint(heading.claims)}
        lines = [f"Part {heading.id}: {heading.title}", f"  {_describe_task(heading)}"]
        if again := [key for key in own if key in shown]:
            lines.append(f"  may also use, from above: {', '.join(again)}")
        new = {key: point for key, point in own.items() if key not in shown}
        shown |= new.keys()
        entries.append("\n".join([*lines, *_claim_lines(new, brief.sources)]))
    return entries


def _describe_task(heading: Heading) -> str:
    said = [f"Aim: {heading.aim}" if heading.aim else ""]
    if heading.is_conclusion:
        said.append("It concludes: see above.")
    return " ".join(filter(None, said)) or "Tell what its claims say about it."


def _outline_line(one: Heading) -> str:
    return f"- {one.title}: {shorten_line(one.aim, _AIM_CHARS)}" if one.aim else f"- {one.title}"


def _claim_lines(points: PointsByKey, sources: Sequence[SourceText]) -> list[str]:
    """Return each finding with its weight and sources; quotes only where no passage shows them."""
    numbers = {source.page: n for n, source in enumerate(sources, 1)}
    passages = {source.page: source.passages for source in sources}
    parts = []
    for key, point in points.items():
        quotes = {quote.text: quote for claim in point.claims for quote in claim.quotes}.values()
        named = dict.fromkeys(f"source {numbers[q.page]}" for q in quotes if q.page in numbers)
        weight = [] if (said := describe_weight(point)) == _USUAL_WEIGHT else [said]
        lines = [f"{key}: {point.finding.statement}", f"  ({'; '.join([*named, *weight])})"]
        unseen = [quote for quote in quotes if quote.text not in passages.get(quote.page, "")]
        lines += [f"  quote: {shorten_line(quote.text, QUOTE_CHARS)}" for quote in unseen[:MAX_CLAIM_QUOTES]]
        parts.append("\n".join(lines))
    return parts


def _source_lines(sources: Sequence[SourceText]) -> PromptLines:
    parts = []
    for number, source in enumerate(sources, 1):
        who = [source.publisher, source.author, f"published {source.published}" if source.published else ""]
        details = "; ".join(word for word in who if word)
        head = f"Source {number}: {shorten_line(source.title)}" + (f" ({details})" if details else "")
        parts.append(f"{head}\n{source.passages}" if source.passages else head)
    return PromptLines(parts, between="\n\n")


def read_sections(
    form: answer_forms.WriteAnswer, headings: Sequence[Heading], points: PointsByKey, limits: Sequence[str]
) -> list[Section]:
    """Return the written parts, not yet checked.

    A block that names no part follows the one before it; if none is named at all, each sentence goes where
    its claims belong.
    """
    keys = AnswerKeys(points, limits, _read_calculations(form.calculations, points))
    ids = [heading.id for heading in headings]
    is_named = any(_bare_key(block.part) in ids for block in form.blocks)
    blocks: dict[str, list[Block]] = {name: [] for name in ids}
    sentences: dict[str, list[Sentence]] = {name: [] for name in ids}
    part = ids[0]
    for written in form.blocks:
        part = name if (name := _bare_key(written.part)) in ids else part
        cells = _read_cells(written, keys)
        homes = [part if is_named or written.rows else _home(cell, headings) for cell in cells]
        for home in dict.fromkeys(homes):
            place = {"block": len(blocks[home])}
            blocks[home].append(_read_block(written, is_table=bool(written.rows)))
            own = [cell for cell, at in zip(cells, homes, strict=True) if at == home]
            sentences[home] += [cell.model_copy(update=place) for cell in own]
    titles = {h.id: h.title for h in headings}
    titles |= {
        name: title for one in form.titles if (title := one_line(one.title)) and (name := _bare_key(one.part))
    }
    return [Section(id=n, title=titles[n], sentences=sentences[n], blocks=blocks[n]) for n in ids]


def _read_cells(written: answer_forms.BlockForm, keys: "AnswerKeys") -> list[Sentence]:
    cells = [
        _read_sentence(cell, keys).model_copy(update={"row": row, "column": column})
        for row, line in enumerate(written.rows)
        for column, cell in enumerate(line.cells)
    ]
    return cells or [_read_sentence(one, keys) for one in written.sentences]


def _home(sentence: Sentence, headings: Sequence[Heading]) -> str:
    """Return the part that lists a claim of the sentence, else the first."""
    found = (h.id for h in headings if not set(sentence.claims).isdisjoint(h.claims))
    return next(found, headings[0].id)


def prose_so_far(answer: str) -> tuple[str, str]:
    """Return the part that a partial answer is at, and its sentences so far; or those of the summary."""
    said = strip_thinking(answer)
    try:
        form: Any = from_json(said[max(0, said.find("{")) :], allow_partial="trailing-strings")
    except ValueError:
        return "", ""
    if not isinstance(form, dict):
        return "", ""
    lines: list[str] = []
    part = ""
    for block in _entries(form.get("blocks")) or [
        {"sentences": form.get("summary") or form.get("sentences")}
    ]:
        if (name := _bare_key(str(block.get("part") or ""))) and name != part:
            part, lines = name, []
        lines += [" | ".join(_texts_in(row.get("cells"))) for row in _entries(block.get("rows"))]
        lines.append(" ".join(_texts_in(block.get("sentences"))))
    return part, "\n".join(filter(None, lines))


def _entries(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _texts_in(value: Any) -> list[str]:
    return [text for one in _entries(value) if isinstance(text := one.get("text"), str)]


def _read_block(form: answer_forms.BlockForm, *, is_table: bool) -> Block:
    kind = form.kind.strip().lower()
    if is_table:
        # A model may leave out the heading of the first column.
        missing = max(len(row.cells) for row in form.rows) - len(form.columns)
        columns = ["", *form.columns] if missing == 1 else form.columns
        return Block(kind="table", title=form.title.strip(), columns=columns)
    known = kind if kind in _BLOCKS and kind != "table" else "paragraph"
    return Block(kind=cast(Literal["paragraph", "bullets", "numbered"], known), title=form.title.strip())


def _read_calculations(
    forms: Iterable[answer_forms.CalculationForm], points: PointsByKey
) -> dict[str, tuple[Calculation, list[str]]]:
    """Return calculations by key, each with the claims of its operands."""
    found = {}
    for form in forms:
        operands = [
            Operand(
                name=one.name.strip(),
                value=one.value,
                claim=next(iter(claims_for_keys([one.claim], points)), ""),
            )
            for one in form.operands
        ]
        if operands:
            made = Calculation(formula=form.formula, operands=operands, result=form.result)
            found[_bare_key(form.key)] = (made, [one.claim for one in operands if one.claim])
    return found


@dataclass(frozen=True)
class AnswerKeys:
    """What the short keys of an answer stand for."""

    points: PointsByKey
    limits: Sequence[str] = ()
    calculations: Mapping[str, tuple[Calculation, list[str]]] = field(default_factory=dict)


def _read_sentence(form: answer_forms.SentenceForm | answer_forms.RewriteForm, keys: AnswerKeys) -> Sentence:
    """Return a sentence of its marked kind; by default a fact.

    A sentence whose keys are all unknown claims support that it does not have.
    """
    ids = claims_for_keys(form.claims, keys.points)
    bare = [_bare_key(key) for key in form.claims]
    own = next((keys.calculations[key] for key in bare if key in keys.calculations), None)
    limits = [limit for n, limit in enumerate(keys.limits, 1) if f"L{n}" in bare]
    if own:
        ids = list(dict.fromkeys([*ids, *own[1]]))
    if form.claims and not ids and not limits:
        return Sentence(text=form.text, claims=[], status="unsupported", why="its claims are unknown")
    kind = _read_kind(form.kind, has_keys=bool(ids), has_calculation=own is not None)
    status: Literal["supported", "connective"] = "supported" if ids else "connective"
    return Sentence(
        text=form.text,
        claims=ids,
        status=status,
        kind="limit" if limits and not ids else kind,
        calculation=own[0] if own else None,
        limits=limits,
    )


def _read_kind(word: str, *, has_keys: bool, has_calculation: bool) -> SentenceKind:
    said = word.strip().lower()
    known = next((kind for kind in _KINDS if kind == said), None)
    if has_calculation:
        return "inference" if known == "inference" else "calculation"
    if not has_keys:
        return known or "fact"
    return "inference" if known == "inference" else "fact"


def _bare_key(key: str) -> str:
    return key.strip().strip("[]").upper()


def show_surroundings(claim: Claim, passage: Passage, known: Sequence[str] = ()) -> list[str]:
    """Return the text around a claim's quotes, with a gap in place of each quote, also of those known."""
    found = []
    for stretch in map(one_line, passage.around.split(STRETCH_GAP)):
        quotes = [text for quote in claim.quotes if (text := one_line(quote.text)) in stretch]
        if quotes:
            start = min(stretch.index(text) for text in quotes)
            end = max(stretch.index(text) + len(text) for text in quotes)
            before, after = stretch[:start][-_AROUND_CHARS:], stretch[end:][:_AROUND_CHARS]
            if start > _AROUND_CHARS:  # whole words
                before = before.partition(" ")[2]
            if len(stretch) - end > _AROUND_CHARS:
                after = after.rpartition(" ")[0]
            cut = f"{before}{stretch[start:end]}{after}"
            for text in [*quotes, *known]:
                cut = cut.replace(text, "[…]")
            found.append(cut)
    return found


def rewriter_prompt(
    revision: RewriteInput, sentences: Sequence[Sentence], points: PointsByKey, language: str
) -> PromptBudget:
    """Build the prompt with the failed sentences, the reasons, and the evidence to rewrite them from."""
    keys = {claim_id: key for key, point in points.items() for claim_id in point.ids}
    shown = {
        key: p for key, p in points.items() if not revision.usable or not revision.usable.isdisjoint(p.ids)
    }
    parts = []
    for number, sentence in enumerate(sentences, 1):
        own = list(dict.fromkeys(keys[c] for c in sentence.claims if c in keys))
        line = f"Sentence {number} ({', '.join(own) or 'no claims'}): {sentence.text}"
        near = revision.neighbours[revision.sentences.index(sentence)] if revision.neighbours else ("", "")
        for name, text in zip(("before it", "after it"), near, strict=True):
            line += f"\n  {name}: {shorten_line(text, _AIM_CHARS)}" if text else ""
        where = "a table's cell; " if sentence.row is not None else ""
        given = sentence.calculation
        computed = f"\n  its calculation: {_describe_calculation(given)}" if given else ""
        parts.append(f"{line}\n  it is: {where}{sentence.kind}{computed}\n  why not: {sentence.why}")
    evidence: dict[str, CuttableText] = {
        "sentences": PromptLines(parts, weight=2),
        "claims": PromptLines(_claim_lines(shown, revision.sources), weight=2),
        "missing": PromptLines(limit_lines(revision.limits)),
        "sources": _source_lines(revision.sources),
    }
    fixed = {"question": revision.question, "language": language}
    return PromptBudget("rewriter", fixed, evidence, batched="sentences")


def _describe_calculation(calculation: Calculation) -> str:
    operands = ", ".join(f"{one.name} = {one.value}" for one in calculation.operands)
    return f"{calculation.formula} with {operands}, stated as {calculation.result}"


def read_rewrites(
    form: answer_forms.RewriteAnswer,
    sentences: Sequence[Sentence],
    points: PointsByKey,
    limits: Sequence[str] = (),
) -> list[Sentence | None]:
    """Return each rewritten sentence in order; None for one that was skipped."""
    keys = AnswerKeys(points, limits, _read_calculations(form.calculations, points))
    found = {one.sentence: _read_sentence(one, keys) for one in form.rewrites}
    anew: list[Sentence | None] = []
    for number, old in enumerate(sentences, 1):
        new = found.get(number)
        place = {"block": old.block, "row": old.row, "column": old.column}
        anew.append(new.model_copy(update=place) if new else None)
    return anew


def editor_prompt(brief: EditInput, language: str) -> PromptBudget:
    """Build the prompt with the whole numbered draft, and where sentences were removed."""
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
            kind = f" ({sentence.kind})" if sentence.kind in {"calculation", "inference"} else ""
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
        "words": f"{_word_count(brief.sections)}{f'; at most {brief.words} wanted' if brief.words else ''}",
    }
    evidence: dict[str, CuttableText] = {
        "draft": PromptLines(lines, weight=4),
        "missing": PromptLines([f"- {limit}" for limit in brief.limits]),
    }
    return PromptBudget("editor", fixed, evidence)


def _word_count(sections: Sequence[Section]) -> int:
    return sum(len(sentence.text.split()) for section in sections for sentence in section.sentences)


def _block_head(section: Section, place: int) -> list[str]:
    if place >= len(section.blocks):
        return []
    block = section.blocks[place]
    head = [f"({block.kind}) {block.title}".rstrip()]
    return [*head, " | ".join(block.columns)] if block.columns else head


def read_edit(form: answer_forms.EditAnswer) -> Edit:
    """Return the editor's changes."""
    return Edit(
        title=form.title,
        summary=[
            SummarySentence(text=one.text, plainer=one.plainer, rests_on=_read_numbers(one.rests_on))
            for one in form.summary
        ],
        changes=[EditedText(number=one.sentence, text=one.text) for one in form.changes],
        repetitions=[Repetition(number=one.sentence, same_as=one.same_as) for one in form.repetitions],
        cuts=form.cuts,
        links=[EditedText(number=one.sentence, text=one.text) for one in form.links],
    )


def _read_numbers(words: Iterable[str]) -> list[int]:
    return [int(bare) for word in words if (bare := word.strip().strip("[]")).isdecimal()]
