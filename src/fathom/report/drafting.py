"""What a model wrote, as sentences that each stand on something, and what code has against them.

Does not know models. Code alone refuses a sentence that names no claim it was given, states a fact without
naming any, or has a figure or date that neither its evidence nor its calculation gives. All else is for the
checker; the strict rules decide only where no checker can be trusted.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from fathom.errors import ProviderError
from fathom.evidence.calculation import find_calculation_fault, recompute
from fathom.evidence.checks.derivation import Passage, find_underived
from fathom.evidence.grounding import find_windows, heading_path, is_quotation, is_verbatim, join_passages
from fathom.evidence.support import find_contradicting_quote, find_unsupported, is_connective
from fathom.report.passages import has_address, is_extract, strip_marks
from fathom.report.titles import is_sound_title, is_usable_title
from fathom.state import Block, Claim, Fault, Heading, Page, Quote, Section, Sentence
from fathom.state.model_io import SentenceToCheck, SourceText
from fathom.text.normalization import one_line
from fathom.text.sentences import split_sentences
from fathom.text.token_count import count_tokens, truncate_to_tokens

ClaimsById = Mapping[str, Claim]

PassagesByClaim = Mapping[str, Passage]  # by the id of the claim

_WORDLESS = re.compile(r"[\W_]*|n/?a", re.IGNORECASE)


def draft_sentences(written: Section, claims: ClaimsById) -> list[Sentence]:
    """Return one entry a sentence, without marks, with the claims it may name, each with its status."""
    standing = (
        _set_status(part, claims)
        for sentence in written.sentences
        for part in _split_sentence(sentence, claims)
    )
    return [sentence for sentence in standing if sentence.text]


def check_subheadings(blocks: Sequence[Block], question: str, claims: Sequence[Claim]) -> list[Block]:
    """Return the blocks without sub-headings and captions that code alone refuses."""
    said = _known_words(question, claims)
    usable = {block.title for block in blocks if block.title and is_usable_title(block.title, said)}
    return [b if b.title in usable else b.model_copy(update={"title": ""}) for b in blocks]


def choose_part_title(title: str, heading: Heading, question: str, claims: Sequence[Claim]) -> str:
    """Return the writer's title of a part, or the outline's if code refuses it."""
    return title if is_usable_title(title, _known_words(question, claims)) else heading.title


def find_doubtful_titles(draft: Section, question: str, claims: Sequence[Claim]) -> list[str]:
    """Return the title, sub-headings and captions of a part that may name or state what no claim says."""
    said = _known_words(question, claims)
    titles = dict.fromkeys([draft.title, *(block.title for block in draft.blocks if block.kind != "extract")])
    return [title for title in titles if title and title != question and not is_sound_title(title, said)]


def replace_titles(draft: Section, refused: Collection[str], stand_in: str) -> Section:
    """Return the part without these sub-headings and captions, and with the stand-in for its own title."""
    blocks = [b.model_copy(update={"title": ""}) if b.title in refused else b for b in draft.blocks]
    title = stand_in if draft.title in refused else draft.title
    return draft.model_copy(update={"title": title, "blocks": blocks})


def _known_words(question: str, claims: Sequence[Claim]) -> list[str]:
    return [question, *(text for c in claims for text in (c.statement, *(q.text for q in c.quotes)))]


def redraft_sentence(sentence: Sentence, claims: ClaimsById) -> Sentence:
    """Return the same for a sentence that was written again; it stays one entry."""
    return _set_status(sentence, claims)


def check_by_code(sentence: Sentence, claims: ClaimsById, evidence: PassagesByClaim) -> Sentence:
    """Return the sentence, unsupported if a figure or date of it cannot be derived or computed.

    A claim that says otherwise is no longer cited for it, as long as another one is left.
    """
    if sentence.kind == "limit" and sentence.status == "connective":
        return _check_limit(sentence, evidence)
    if sentence.status != "supported" or is_copied(sentence, claims):
        return sentence
    if sentence.kind == "fact":
        against = find_opposing_claims(sentence, claims)
        kept = [c for c in sentence.claims if c not in against]
        sentence = sentence.model_copy(update={"claims": kept}) if kept else sentence
    own = {c: evidence[c] for c in sentence.claims if c in evidence}
    if sentence.calculation:
        why = find_calculation_fault(sentence.text, sentence.calculation, own)
        return refuse_sentence(sentence, "calculation", why) if why else sentence
    # Of a cell only its own words: the names of its row and column are for the checker to compare.
    passages = [*own.values(), *([Passage(tuple(sentence.limits))] if sentence.limits else [])]
    wrong = find_underived(sentence.text, join_passages(passages)) if own else []
    if not wrong:
        return sentence
    why = f"its evidence does not give {', '.join(wrong)}; a figure that is worked out needs a calculation"
    return refuse_sentence(sentence, "facts", why)


def call_stated(sentence: Sentence, claims: ClaimsById, evidence: PassagesByClaim) -> Sentence:
    """Return an inference that its sources state outright as the fact that it is, if code agrees."""
    if sentence.kind != "inference" or sentence.calculation or sentence.limits:
        return sentence
    fact = check_by_code(sentence.model_copy(update={"kind": "fact"}), claims, evidence)
    return fact if fact.status == "supported" else sentence


def _check_limit(sentence: Sentence, evidence: PassagesByClaim) -> Sentence:
    """Refuse a limit with a figure or date that nothing known about the evidence and its sources gives."""
    sources = dict.fromkeys(text for one in evidence.values() for text in (one.title, one.date) if text)
    wrong = find_underived(sentence.text, Passage((*sentence.limits, *sources)))
    return refuse_sentence(sentence, "facts", f"nothing gives {', '.join(wrong)}") if wrong else sentence


def check_item(sentence: Sentence, section: Section, evidence: PassagesByClaim) -> SentenceToCheck:
    """Return a sentence as its checker sees it."""
    own = {c: evidence[c] for c in sentence.claims if c in evidence}
    statement, calculation = cell_statement(sentence, section), ""
    if sentence.calculation:
        given = sentence.calculation
        value = recompute(given, own, statement).value
        named = ", ".join(f"{one.name} = {one.value}" for one in given.operands)
        calculation = f"{given.formula}, with {named}; code makes it {value}"
    return SentenceToCheck(
        statement=captioned_statement(sentence, section),
        kind=sentence.kind if sentence.status == "supported" or sentence.limits else "link",
        claims=sentence.claims,
        calculation=calculation,
        limits=sentence.limits,
    )


def strict_fault(sentence: Sentence, claims: ClaimsById) -> str:
    """Return why the strict rules refuse a sentence that no trusted checker has looked at; empty if not."""
    if sentence.kind == "inference":
        return "it is an inference that nobody could check"
    if sentence.kind == "limit":
        return "it says what is missing, and nobody could check that"
    if sentence.status == "connective":
        return "" if is_label(sentence) or is_connective(sentence.text) else "it states something, uncited"
    return "; ".join(find_unsupported(sentence.text, quotes_behind_sentence(sentence, claims)))


def is_copied(sentence: Sentence, claims: ClaimsById) -> bool:
    """Whether each of its claims has it as a whole line or sentence, but for the marks that a page has."""
    known = [claims[c] for c in sentence.claims if c in claims]
    return bool(known) and all(is_verbatim(sentence.text, _bare_quotes(claim)) for claim in known)


def _bare_quotes(claim: Claim) -> list[str]:
    return ["\n".join(strip_marks(line, line) for line in quote.text.split("\n")) for quote in claim.quotes]


def find_opposing_claims(sentence: Sentence, claims: ClaimsById) -> dict[str, str]:
    """Return the claims it cites whose own quotes say otherwise, each with what they say."""
    found = (
        (c, find_contradicting_quote(sentence.text, _bare_texts(claims[c])))
        for c in sentence.claims
        if c in claims
    )
    return {c: why for c, why in found if why}


def refuse_sentence(sentence: Sentence, fault: Fault, why: str) -> Sentence:
    """Return the sentence, refused."""
    return sentence.model_copy(update={"status": "unsupported", "fault": fault, "why": why})


def needs_no_check(sentence: Sentence, section: Section, claims: ClaimsById) -> bool:
    """Whether no model needs to look: it is refused, surely only connects, or is its quote word for word.

    A line of a passage that is shown as it stands says nothing that the passage does not.
    """
    if is_extract(sentence, section) and is_copied(sentence, claims):
        return True
    if sentence.status == "connective":
        return is_label(sentence) or is_connective(sentence.text)
    if sentence.status == "unsupported" or sentence.kind == "inference" or sentence.calculation:
        return sentence.status == "unsupported"
    if sentence.row is not None or not is_quotation(sentence.text, quotes_behind_sentence(sentence, claims)):
        return False
    return not find_unsupported(
        sentence.text, quotes_behind_sentence(sentence, claims)
    )  # a part of a quote may say more


def is_label(sentence: Sentence) -> bool:
    """Whether it is a cell that only names its row, or says that there is nothing."""
    if sentence.row is None or sentence.claims:
        return False
    return sentence.column == 0 or _WORDLESS.fullmatch(sentence.text) is not None


def cell_statement(sentence: Sentence, section: Section) -> str:
    """Return the sentence; a table's cell with the names of its row and column."""
    if sentence.row is None or not sentence.column:
        return sentence.text
    labels = (s.text for s in section.sentences if s.block == sentence.block and s.row == sentence.row)
    columns = section.blocks[sentence.block].columns if sentence.block < len(section.blocks) else []
    column = columns[sentence.column] if sentence.column < len(columns) else ""
    return f"{next(labels, '')} – {column}: {sentence.text}".strip(" –")


def captioned_statement(sentence: Sentence, section: Section) -> str:
    """Return the sentence; a table's cell with the caption and the names of its row and column."""
    is_cell = sentence.row is not None and sentence.block < len(section.blocks)
    caption = section.blocks[sentence.block].title if is_cell else ""
    return " – ".join(filter(None, [caption, cell_statement(sentence, section)]))


def quotes_behind_sentence(sentence: Sentence, claims: ClaimsById) -> list[str]:
    """Return the words it stands on, without the marks that a page has in them."""
    return _quotes(sentence.claims, claims)


def _quotes(ids: Sequence[str], claims: ClaimsById) -> list[str]:
    return [text for c in ids if c in claims for text in _bare_texts(claims[c])]


def _bare_texts(claim: Claim) -> list[str]:
    return [strip_marks(quote.text, quote.text) for quote in claim.quotes]


def quote_claim(claim: Claim) -> Sentence:
    """Return the claim's own quote as a sentence: the one thing that is always supported."""
    text = claim.quotes[0].text
    return Sentence(text=strip_marks(text, text), claims=[claim.id], status="supported")


def quote_section(heading: Heading, claims: ClaimsById) -> Section:
    """Return a section of quotes, for when nothing that was written about them holds."""
    lines = {one_line(s.text): s for s in (quote_claim(claims[c]) for c in heading.claims if c in claims)}
    return Section(id=heading.id, title=heading.title, sentences=list(lines.values()), is_list=True)


def _split_sentence(sentence: Sentence, claims: ClaimsById) -> list[Sentence]:
    """A paragraph that came as one sentence is several, each of which must hold by itself."""
    if sentence.row is not None or sentence.calculation:
        return [sentence]
    if is_quotation(strip_marks(sentence.text, sentence.text), quotes_behind_sentence(sentence, claims)):
        return [sentence]
    texts = [span.text for span in split_sentences(sentence.text)] or [sentence.text]
    if texts == [sentence.text]:
        return [sentence]
    return [sentence.model_copy(update={"text": text}) for text in texts if text.strip()]


def _set_status(sentence: Sentence, claims: ClaimsById) -> Sentence:
    """Supported by what is known; without any of it, a link at most."""
    known = [c for c in dict.fromkeys(sentence.claims) if c in claims]
    text = strip_marks(sentence.text, " ".join(_quotes(known, claims)))
    kind = "fact" if known and sentence.kind in {"link", "limit"} else sentence.kind
    held = {"claims": known, "text": text, "status": "supported", "why": "", "fault": None, "kind": kind}
    bare = sentence.model_copy(update=held)
    if known:
        return bare
    if sentence.claims or sentence.status == "unsupported":
        return refuse_sentence(bare, "unknown", sentence.why or "its claims are unknown")
    if sentence.limits and not has_address(sentence.text):
        return bare.model_copy(update={"status": "connective", "kind": "limit"})
    link = bare.model_copy(update={"status": "connective", "kind": "link"})
    if is_label(link) and not has_address(sentence.text):
        return link
    is_marked = sentence.kind == "link" and sentence.row is None and not find_underived(text, Passage(()))
    if has_address(sentence.text) or not (is_marked or is_connective(text)):
        return refuse_sentence(bare, "uncited", "it states something and cites nothing")
    return link


_AROUND_CHARS = 100  # the sentence before and after

_WHOLE_CHARS = 400  # a paragraph with a quote is shown whole if no more than this is added at either end

_CODE = re.compile(r"^(`{3,})$.*?^\1$", re.MULTILINE | re.DOTALL)

_MOST_TOKENS = 5_000  # of one page

_MOST_TOKENS_TOGETHER = 10_000

_GAP = "\n[…]\n"


async def source_texts(
    claims: Sequence[Claim], pages: Sequence[Page], get: Callable[[str], Awaitable[str]]
) -> list[SourceText]:
    """Return the pages that the claims quote, in the order of the claims; one whose text is gone has none."""
    by_sha = {page.sha: page for page in reversed(pages)}
    quotes: dict[str, list[Quote]] = {}
    for quote in (quote for claim in claims for quote in claim.quotes):
        if quote.page in by_sha:
            quotes.setdefault(quote.page, []).append(quote)
    passages: dict[str, str] = {}
    for sha, own in quotes.items():
        try:
            passages[sha] = _passages(own, await get(sha))
        except ProviderError:
            passages[sha] = ""
    return [_make_source_text(by_sha[sha], text) for sha, text in _share_room(passages).items()]


def _share_room(passages: Mapping[str, str]) -> dict[str, str]:
    """Return the texts cut to what all may take together; what a short one leaves, the longer ones get."""
    sizes = {sha: min(count_tokens(text), _MOST_TOKENS) for sha, text in passages.items()}
    room, left, cut = _MOST_TOKENS_TOGETHER, len(sizes), dict(passages)
    for sha in sorted(sizes, key=lambda sha: sizes[sha]):
        most = min(sizes[sha], room // left)
        cut[sha] = truncate_to_tokens(passages[sha], most, count_tokens) if most else ""
        room, left = room - most, left - 1
    return cut


def latest_day(pages: Sequence[Page]) -> str:
    """Return the day of the latest reading: "today" for whoever writes, the same when a run goes on."""
    return max((page.fetched[:10] for page in pages), default="")


def _passages(quotes: Sequence[Quote], text: str) -> str:
    """Return the text around the quotes under its headings: whole paragraphs, and examples of code whole."""
    code = [found.span() for found in _CODE.finditer(text)]
    spans: list[tuple[int, int]] = []
    for start, end in find_windows(quotes, text, _AROUND_CHARS):
        start, end = _to_paragraphs(text, start, end)
        touched = [span for span in code if span[0] < end and start < span[1]]
        start, end = min([start, *(a for a, _ in touched)]), max([end, *(b for _, b in touched)])
        if spans and start - spans[-1][1] <= _AROUND_CHARS:
            before = spans.pop()
            start, end = before[0], max(end, before[1])
        spans.append((start, end))
    return _GAP.join(_under_headings(text, start, end) for start, end in spans)


def _to_paragraphs(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span widened to whole paragraphs, at either end only if that is near."""
    before, after = text[:start].rpartition("\n\n")[2], text[end:].partition("\n\n")[0]
    return (
        start - len(before) if len(before) <= _WHOLE_CHARS else start,
        end + len(after) if len(after) <= _WHOLE_CHARS else end,
    )


def _under_headings(text: str, start: int, end: int) -> str:
    part, path = text[start:end].strip(), " > ".join(heading_path(text, start))
    return f"[{path}] {part}" if path and not part.startswith("#") else part


def _make_source_text(page: Page, passages: str) -> SourceText:
    return SourceText(
        page=page.sha,
        title=page.title,
        publisher=page.publisher or "",
        author=page.author or "",
        published=(page.published or "")[:10],
        passages=passages,
    )


def order_drafts(drafts: Sequence[Section], headings: Sequence[Heading]) -> list[Section]:
    """Return the drafts in the order of their headings, however they came."""
    written = {draft.id: draft for draft in drafts}
    return [written[heading.id] for heading in headings if heading.id in written]


def flatten_drafts(drafts: Sequence[Section]) -> list[tuple[Section, Sentence]]:
    """Return every sentence with its section."""
    return [(draft, sentence) for draft in drafts for sentence in draft.sentences]


def replace_sentences(drafts: Sequence[Section], sentences: Sequence[Sentence]) -> list[Section]:
    """Return the drafts with these sentences in the place of their own."""
    rest = iter(sentences)
    return [draft.model_copy(update={"sentences": [next(rest) for _ in draft.sentences]}) for draft in drafts]
