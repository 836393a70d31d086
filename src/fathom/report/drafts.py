"""What a model wrote, as sentences that each stand on something, and what code has against them.

Does not know models. Code alone refuses a sentence that names no claim it was given, states a fact without
naming any, or has a figure or date that neither its evidence nor its calculation gives. Everything else that
code finds odd is a suspicion, for the checker to look at. The strict rules decide only where no checker can
be trusted.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fathom.evidence.calculation import calculation_faults, recompute
from fathom.evidence.carrying import contradicted, uncarried
from fathom.evidence.connective import is_connective
from fathom.evidence.context import joined_passages
from fathom.evidence.derivation import Passage, underived
from fathom.evidence.facts import is_quotation, is_verbatim
from fathom.evidence.suspicions import find_suspicions
from fathom.report.marks import has_address, unmarked
from fathom.report.passage_lines import is_extract
from fathom.state import Claim, Fault, Heading, Section, Sentence, SentenceKind
from fathom.text.normal import one_line
from fathom.text.sentences import sentences

Claims = Mapping[str, Claim]
Evidence = Mapping[str, Passage]  # by the id of the claim
_WORDLESS = re.compile(r"[\W_]*|n/?a", re.IGNORECASE)
_MOST_SUSPICIONS = 4


@dataclass(frozen=True)
class CheckItem:
    """A sentence as its checker sees it, with the claims it stands on."""

    statement: str  # of a table's cell: caption, row, column and value
    kind: SentenceKind
    claims: Sequence[str]  # ids
    suspicions: Sequence[str] = ()  # what code finds odd about it
    calculation: str = ""  # the formula with its operands, and what code makes of it
    rests_on: Sequence[str] = ()  # sentences that were checked before, for one that sums them up


def draft_sentences(written: Section, claims: Claims) -> list[Sentence]:
    """Return one entry a sentence, without marks, with the claims it may name, each with its status."""
    standing = (
        _standing(part, claims) for sentence in written.sentences for part in _parts(sentence, claims)
    )
    return [sentence for sentence in standing if sentence.text]


def redraft_sentence(sentence: Sentence, claims: Claims) -> Sentence:
    """Return the same for a sentence that was written again; it stays one entry."""
    return _standing(sentence, claims)


def check_by_code(sentence: Sentence, claims: Claims, evidence: Evidence) -> Sentence:
    """Return the sentence, unsupported if a figure or date of it cannot be derived or computed.

    A claim that says otherwise is no longer cited for it, as long as another one is left.
    """
    if sentence.status != "supported" or is_copied(sentence, claims):
        return sentence
    if sentence.kind == "fact":
        against = opposing(sentence, claims)
        kept = [c for c in sentence.claims if c not in against]
        sentence = sentence.model_copy(update={"claims": kept}) if kept else sentence
    own = {c: evidence[c] for c in sentence.claims if c in evidence}
    if sentence.calculation:
        why = calculation_faults(sentence.text, sentence.calculation, own)
        return refuse_sentence(sentence, "calculation", why) if why else sentence
    # Of a cell only its own words: the names of its row and column are for the checker to compare.
    wrong = underived(sentence.text, joined_passages(list(own.values()))) if own else []
    if not wrong:
        return sentence
    why = f"its evidence does not give {', '.join(wrong)}; a figure that is worked out needs a calculation"
    return refuse_sentence(sentence, "facts", why)


def check_item(sentence: Sentence, section: Section, claims: Claims, evidence: Evidence) -> CheckItem:
    """Return a sentence as its checker sees it, with what code finds odd about it."""
    own = {c: evidence[c] for c in sentence.claims if c in evidence}
    statement, calculation = cell_statement(sentence, section), ""
    if sentence.calculation:
        given = sentence.calculation
        value = recompute(given, own, statement).value
        named = ", ".join(f"{one.name} = {one.value}" for one in given.operands)
        calculation = f"{given.formula}, with {named}; code makes it {value}"
    notes = [] if sentence.kind in {"inference", "link"} else _suspicions(sentence, statement, claims, own)
    caption = _caption(sentence, section)
    return CheckItem(
        statement=f"{caption} – {statement}" if caption else statement,
        kind=sentence.kind if sentence.status == "supported" else "link",
        claims=sentence.claims,
        suspicions=notes[:_MOST_SUSPICIONS],
        calculation=calculation,
    )


def _suspicions(sentence: Sentence, statement: str, claims: Claims, own: Evidence) -> list[str]:
    if not own:
        return []
    against = opposing(sentence, claims) if sentence.kind == "fact" else {}
    found = find_suspicions(statement, joined_passages(list(own.values())))
    return list(dict.fromkeys([*against.values(), *(suspicion.note for suspicion in found)]))


def strict_fault(sentence: Sentence, claims: Claims) -> str:
    """Return why the strict rules refuse a sentence that no trusted checker has looked at; empty if not."""
    if sentence.kind == "inference":
        return "it is an inference that nobody could check"
    if sentence.status == "connective":
        return "" if is_label(sentence) or is_connective(sentence.text) else "it states something, uncited"
    return "; ".join(uncarried(sentence.text, quotes_of(sentence, claims)))


def is_copied(sentence: Sentence, claims: Claims) -> bool:
    """Whether each of its claims has it as a whole line or sentence, but for the marks that a page has."""
    known = [claims[c] for c in sentence.claims if c in claims]
    return bool(known) and all(is_verbatim(sentence.text, _bare_quotes(claim)) for claim in known)


def _bare_quotes(claim: Claim) -> list[str]:
    return ["\n".join(unmarked(line, line) for line in quote.text.split("\n")) for quote in claim.quotes]


def opposing(sentence: Sentence, claims: Claims) -> dict[str, str]:
    """Return the claims it cites whose own quotes say otherwise, each with what they say."""
    found = ((c, contradicted(sentence.text, _words_of(claims[c]))) for c in sentence.claims if c in claims)
    return {c: why for c, why in found if why}


def refuse_sentence(sentence: Sentence, fault: Fault, why: str) -> Sentence:
    """Return the sentence, refused."""
    return sentence.model_copy(update={"status": "unsupported", "fault": fault, "why": why})


def is_settled(sentence: Sentence, section: Section, claims: Claims) -> bool:
    """Whether no model needs to look: it is refused, surely only connects, or is its quote word for word.

    A line of a passage that is shown as it stands says nothing that the passage does not.
    """
    if is_extract(sentence, section) and is_copied(sentence, claims):
        return True
    if sentence.status == "connective":
        return is_label(sentence) or is_connective(sentence.text)
    if sentence.status == "unsupported" or sentence.kind == "inference" or sentence.calculation:
        return sentence.status == "unsupported"
    if sentence.row is not None or not is_quotation(sentence.text, quotes_of(sentence, claims)):
        return False
    return not uncarried(sentence.text, quotes_of(sentence, claims))  # a part of a quote may say more


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


def _caption(sentence: Sentence, section: Section) -> str:
    is_cell = sentence.row is not None and sentence.block < len(section.blocks)
    return section.blocks[sentence.block].title if is_cell else ""


def quotes_of(sentence: Sentence, claims: Claims) -> list[str]:
    """Return the words it stands on, without the marks that a page has in them."""
    return _quotes(sentence.claims, claims)


def _quotes(ids: Sequence[str], claims: Claims) -> list[str]:
    return [text for c in ids if c in claims for text in _words_of(claims[c])]


def _words_of(claim: Claim) -> list[str]:
    return [unmarked(quote.text, quote.text) for quote in claim.quotes]


def quoted(claim: Claim) -> Sentence:
    """Return the claim's own quote as a sentence: the one thing that is always supported."""
    text = claim.quotes[0].text
    return Sentence(text=unmarked(text, text), claims=[claim.id], status="supported")


def quoted_section(heading: Heading, claims: Claims) -> Section:
    """Return a section of quotes, for when nothing that was written about them holds."""
    lines = {one_line(s.text): s for s in (quoted(claims[c]) for c in heading.claims if c in claims)}
    return Section(id=heading.id, title=heading.title, sentences=list(lines.values()), is_list=True)


def _parts(sentence: Sentence, claims: Claims) -> list[Sentence]:
    """A paragraph that came as one sentence is several, each of which must hold by itself."""
    if sentence.row is not None or sentence.calculation:
        return [sentence]
    if is_quotation(unmarked(sentence.text, sentence.text), quotes_of(sentence, claims)):
        return [sentence]
    texts = [span.text for span in sentences(sentence.text)] or [sentence.text]
    if texts == [sentence.text]:
        return [sentence]
    return [sentence.model_copy(update={"text": text}) for text in texts if text.strip()]


def _standing(sentence: Sentence, claims: Claims) -> Sentence:
    """Supported by what is known; without any of it, a link at most."""
    known = [c for c in dict.fromkeys(sentence.claims) if c in claims]
    text = unmarked(sentence.text, " ".join(_quotes(known, claims)))
    kind = "fact" if known and sentence.kind == "link" else sentence.kind
    held = {"claims": known, "text": text, "status": "supported", "why": "", "fault": None, "kind": kind}
    bare = sentence.model_copy(update=held)
    if known:
        return bare
    if sentence.claims or sentence.status == "unsupported":
        return refuse_sentence(bare, "unknown", sentence.why or "its claims are unknown")
    link = bare.model_copy(update={"status": "connective", "kind": "link"})
    if is_label(link) and not has_address(sentence.text):
        return link
    is_marked = sentence.kind == "link" and sentence.row is None and not underived(text, Passage(()))
    if has_address(sentence.text) or not (is_marked or is_connective(text)):
        return refuse_sentence(bare, "uncited", "it states something and cites nothing")
    return link
