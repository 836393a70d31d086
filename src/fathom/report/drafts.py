"""What a mind wrote, as sentences that each stand on something, and what code has against them.

Does not know minds. A sentence leaves here supported as far as code can tell, unsupported with its fault, or
connective.
"""

from collections.abc import Mapping, Sequence

from fathom.evidence.carrying import contradicted, uncarried
from fathom.evidence.connective import is_connective
from fathom.evidence.facts import is_quotation, is_verbatim
from fathom.report.marks import has_address, unmarked
from fathom.state import Claim, Fault, Heading, Section, Sentence
from fathom.text.normal import one_line
from fathom.text.sentences import sentences

Claims = Mapping[str, Claim]


def drafted(written: Sequence[Sentence], claims: Claims) -> list[Sentence]:
    """One entry a sentence, without marks, with the claims it may name, each with its status."""
    standing = (_standing(part, claims) for sentence in written for part in _parts(sentence, claims))
    return [sentence for sentence in standing if sentence.text]


def redrafted(sentence: Sentence, claims: Claims) -> Sentence:
    """The same for a sentence that was written again; it stays one entry."""
    return _standing(sentence, claims)


def checked(sentence: Sentence, claims: Claims) -> Sentence:
    """The sentence, unsupported if code finds something in it that its quotes do not have.

    A claim that says otherwise is no longer cited for it; if all of them do, the sentence is refused.
    """
    if sentence.status != "supported" or is_copied(sentence, claims):
        return sentence
    against = opposing(sentence, claims)
    kept = [c for c in sentence.claims if c not in against]
    own = sentence.model_copy(update={"claims": kept}) if kept else sentence
    found = uncarried(own.text, quotes_of(own, claims)) or ([] if kept else list(against.values()))
    return faulted(own, "facts", "; ".join(found)) if found else own


def is_copied(sentence: Sentence, claims: Claims) -> bool:
    """Whether each of its claims has it as a whole line or sentence, but for the marks that a page has."""
    known = [claims[c] for c in sentence.claims if c in claims]
    return bool(known) and all(is_verbatim(sentence.text, _bare_quotes(claim)) for claim in known)


def _bare_quotes(claim: Claim) -> list[str]:
    return ["\n".join(unmarked(line, line) for line in quote.text.split("\n")) for quote in claim.quotes]


def opposing(sentence: Sentence, claims: Claims) -> dict[str, str]:
    """The claims it cites whose own quotes say otherwise, each with what they say."""
    found = ((c, contradicted(sentence.text, _words_of(claims[c]))) for c in sentence.claims if c in claims)
    return {c: why for c, why in found if why}


def faulted(sentence: Sentence, fault: Fault, why: str) -> Sentence:
    """The sentence, refused."""
    return sentence.model_copy(update={"status": "unsupported", "fault": fault, "why": why})


def is_settled(sentence: Sentence, claims: Claims) -> bool:
    """Whether no mind needs to look: it is refused, only connects, or is its quote word for word."""
    return sentence.status != "supported" or is_quotation(sentence.text, quotes_of(sentence, claims))


def quotes_of(sentence: Sentence, claims: Claims) -> list[str]:
    """The words it stands on, without the marks that a page has in them."""
    return _quotes(sentence.claims, claims)


def _quotes(ids: Sequence[str], claims: Claims) -> list[str]:
    return [text for c in ids if c in claims for text in _words_of(claims[c])]


def _words_of(claim: Claim) -> list[str]:
    return [unmarked(quote.text, quote.text) for quote in claim.quotes]


def quoted(claim: Claim) -> Sentence:
    """The claim's own quote as a sentence: the one thing that is always supported."""
    text = claim.quotes[0].text
    return Sentence(text=unmarked(text, text), claims=[claim.id], status="supported")


def quoted_section(heading: Heading, claims: Claims) -> Section:
    """A section of quotes, for when nothing that was written about them holds."""
    lines = {one_line(s.text): s for s in (quoted(claims[c]) for c in heading.claims if c in claims)}
    return Section(id=heading.id, title=heading.title, sentences=list(lines.values()), is_list=True)


def _parts(sentence: Sentence, claims: Claims) -> list[Sentence]:
    """A paragraph that came as one sentence is several, each of which must hold by itself."""
    if is_quotation(unmarked(sentence.text, sentence.text), quotes_of(sentence, claims)):
        return [sentence]
    texts = [span.text for span in sentences(sentence.text)] or [sentence.text]
    if texts == [sentence.text]:
        return [sentence]
    return [sentence.model_copy(update={"text": text}) for text in texts if text.strip()]


def _standing(sentence: Sentence, claims: Claims) -> Sentence:
    """Supported by what is known; without any of it, connective at most."""
    known = [c for c in dict.fromkeys(sentence.claims) if c in claims]
    text = unmarked(sentence.text, " ".join(_quotes(known, claims)))
    held = {"claims": known, "text": text, "status": "supported", "why": "", "fault": None}
    bare = sentence.model_copy(update=held)
    if known:
        return bare
    if sentence.claims or sentence.status == "unsupported":
        return faulted(bare, "unknown", sentence.why or "its claims are unknown")
    if has_address(sentence.text) or not is_connective(text):
        return faulted(bare, "uncited", "it states something and cites nothing")
    return bare.model_copy(update={"status": "connective"})
