"""Find quotes in a page, always in the page's own words, and their context there.

The context is the page's title and date, the headings above, and the text around a quote. Statements are
checked against this, not against the bare quote.
"""

import difflib
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import pairwise

from fathom.errors import ProviderError
from fathom.evidence.checks.derivation import Passage
from fathom.state import Claim, Page, Quote
from fathom.text.normalization import FoldedText, fold_text
from fathom.text.sentences import split_sentences
from fathom.text.tokens import has_cjk


def is_quotation(sentence: str, quotes: Iterable[str]) -> bool:
    """Tell whether the sentence is verbatim in one of the quotes."""
    said = _fold_sentence(sentence)
    return bool(said) and any(said in fold_text(quote).text for quote in quotes)


def is_verbatim(statement: str, quotes: Iterable[str]) -> bool:
    """Tell whether it is a quote, a line of one, or one or two whole sentences of it.

    Then nothing was left out that could change it, and there is nothing to check.
    """
    said = _fold_sentence(statement)
    for quote in quotes:
        spans = [_fold_sentence(span.text) for span in split_sentences(quote)]
        if said in {_fold_sentence(quote), *map(_fold_sentence, quote.split("\n")), *spans}:
            return True
        if said in (f"{one}. {two}" for one, two in pairwise(spans)):
            return True
    return False


def _fold_sentence(text: str) -> str:
    return fold_text(text).text.strip(" .")


MIN_LIKENESS = 0.9
_MIN_CHARS = 8  # a Korean, Chinese or Japanese character says as much as two letters
_MAX_CHARS = 1500
_MAX_WHOLE_CHARS = 6000  # for a list or table that is quoted whole
_SEED_CHARS = 12
_PART_CHARS = 16
_MOST_CELLS = 60
_MOST_PLACES = 1000  # occurrences of one quote
_MOST_STEPS = 8_000_000  # letter pairs compared per quote; ordinary prose needs fewer
_CLOSING = ".!?…。！？"
_REST_CHARS = 300
_SENTENCE_BEGINS = re.compile(
    r"[.!?…][\"'”’)\]]*\s|[。！？]|\n[^\S\n]*\n|\n(?=[^\S\n]*(?:[-*+•#|>]|\d{1,9}[.)])\s)|(?:^|\n)#[^\n]*\n|[-*+•]\s"
)
_SENTENCE_ENDS = re.compile(
    r"(?<=[.!?…])(?=[\"'”’)\]]*(?:\s|$))|(?<=[。！？])|\n[^\S\n]*\n|\n(?=[^\S\n]*(?:[-*+•#|>]|\d{1,9}[.)])\s)"
    r"|(?<!\s)\s*$"
)
_MARKS = re.compile(r"^(?:[-*+•·>#|]+\s*|\d+[.)]\s+)+")
_GAP = re.compile(r"\[(?:…|\.\.\.)\]|\((?:…|\.\.\.)\)|…|\.\.\.")
_INSIDE_A_NUMBER = re.compile(r"\d[.,]?\|\d|\d\|[.,]\d")


class QuoteFinder:
    """A page to look up quotes in; it is folded once."""

    def __init__(self, sha: str, text: str) -> None:
        self._sha = sha
        self._text = text
        self._folded: FoldedText = fold_text(text)

    def find(self, words: str) -> Quote | None:
        """Return the quote as the page has it, by exact or fuzzy match; None if it is not there."""
        whole = self._text.find(words) if _MAX_CHARS < len(words) <= _MAX_WHOLE_CHARS else -1
        if whole >= 0:
            return Quote(page=self._sha, start=whole, end=whole + len(words), text=words)
        wanted = fold_text(words.strip().strip("\"'“”‘’「」")).text.strip(" .…")
        if not _is_long_enough(wanted) or len(wanted) > _MAX_CHARS:
            return None
        # Copied with another list or heading mark than the page's, or with none.
        unmarked = _MARKS.sub("", wanted).rstrip(" |")
        found = self._find_exact(wanted) or (
            self._find_exact(unmarked) if _is_long_enough(unmarked) else None
        )
        return found or self._find_row(unmarked) or self._find_near(wanted)

    def find_parts(self, words: str) -> list[Quote]:
        """Return the quote, or the parts of one paragraph joined by an ellipsis; empty if not found.

        Each part must be found by itself, in order, within one paragraph, and be long enough to mean
        something: a bare subject joined to another sentence's verb is a forgery.
        """
        whole = self.find(words)
        parts = [part.strip() for part in _GAP.split(words.strip().strip("\"'“”‘’「」")) if part.strip()]
        if whole or len(parts) < 2:
            return [whole] if whole else []
        found = [quote for part in parts if len(part) >= _PART_CHARS and (quote := self.find(part))]
        is_one_place = len(found) == len(parts) and all(
            one.end <= two.start and "\n\n" not in self._text[one.end : two.start]
            for one, two in pairwise(found)
        )
        return found if is_one_place else []

    def extend_to_sentence(self, quote: Quote) -> Quote:
        """Extend the quote to its whole sentence, so that no "not" or "in mice" is cut off."""
        before = self._text[max(0, quote.start - _REST_CHARS) : quote.start]
        after = self._text[quote.end : quote.end + _REST_CHARS]
        starts = [match.end() for match in _SENTENCE_BEGINS.finditer(before)]
        if before.endswith("\n") and _MARKS.match(quote.text):  # a list item or row, quoted with its mark
            starts.append(len(before))
        is_first = not starts and quote.start < _REST_CHARS
        start = 0 if is_first else quote.start - len(before) + (starts[-1] if starts else len(before))
        stop = None if self._text[quote.end - 1] in _CLOSING else _SENTENCE_ENDS.search(after)
        end = quote.end + stop.start() if stop else quote.end
        while start < quote.start and self._text[start].isspace():
            start += 1
        path = " > ".join(heading_path(self._text, start))
        return Quote(page=self._sha, start=start, end=end, text=self._text[start:end], heading=path)

    def _find_exact(self, wanted: str) -> Quote | None:
        start = -1
        for _ in range(_MOST_PLACES):
            start = self._folded.text.find(wanted, start + 1)
            if start < 0:
                break
            if not self._splits_number(start, start + len(wanted)):
                return self._quote(start, start + len(wanted))
        return None

    def _find_row(self, wanted: str) -> Quote | None:
        """Find a table row, whatever separates its cells."""
        cells = [re.escape(cell.strip()) for cell in wanted.split("|") if cell.strip()]
        if not 2 <= len(cells) <= _MOST_CELLS:
            return None
        found = re.search(r"\s*\|\s*".join(cells), self._folded.text)
        if not found or self._splits_number(*found.span()):
            return None
        return self._quote(*found.span())

    def _splits_number(self, start: int, end: int) -> bool:
        """Tell whether a number continues beyond an edge: "5 percent" is not "2.5 percent"."""
        text = self._folded.text
        around = (f"{text[max(0, edge - 2) : edge]}|{text[edge : edge + 2]}" for edge in (start, end))
        return any(_INSIDE_A_NUMBER.search(edge) for edge in around)

    def _quote(self, start: int, end: int) -> Quote:
        first, last = self._folded.original_span(start, end)
        while last < len(self._text) and self._text[last] in _CLOSING:
            last += 1
        return Quote(page=self._sha, start=first, end=last, text=self._text[first:last])

    def _find_near(self, wanted: str) -> Quote | None:
        """Return the most similar window around a shared run of characters, if similar enough.

        Digits must agree: a quote with another number is another quote. On a page of endless repeats only the
        first candidates are compared, since each takes a second.
        """
        steps, counted = 0, Counter(wanted)
        for start in self._candidates(wanted):
            window = self._folded.text[start : start + len(wanted) + len(wanted) // 8]
            steps += sum(counted[letter] for letter in window)
            if steps > _MOST_STEPS:
                return None
            matcher = difflib.SequenceMatcher(None, wanted, window, autojunk=False)
            blocks = [b for b in matcher.get_matching_blocks() if b.size]
            if not blocks:
                continue
            end = blocks[-1].b + blocks[-1].size
            likeness = 2 * sum(b.size for b in blocks) / (len(wanted) + end)
            is_alike = likeness >= MIN_LIKENESS and _digits(wanted) == _digits(window[:end])
            if is_alike and not self._splits_number(start + blocks[0].b, start + end):
                return self._quote(start + blocks[0].b, start + end)
        return None

    def _candidates(self, wanted: str) -> list[int]:
        """Return where the quote could start, from runs of it that the page has."""
        starts: dict[int, None] = {}
        last = max(0, len(wanted) - _SEED_CHARS)
        for offset in [*range(0, last, _SEED_CHARS // 2), last]:
            seed = wanted[offset : offset + _SEED_CHARS]
            place = self._folded.text.find(seed)
            while place >= 0 and len(starts) < 40:
                starts.setdefault(max(0, place - offset))
                place = self._folded.text.find(seed, place + 1)
        return list(starts)


def _is_long_enough(words: str) -> bool:
    return len(words) + sum(map(has_cjk, words)) >= _MIN_CHARS


def _digits(text: str) -> str:
    return "".join(c for c in text if c.isdigit())


AROUND_CHARS = 400
SHOWN_CHARS = 160  # for a verifier, who sees the excerpts of a page together
_SLACK_CHARS = 120  # more, where a shown excerpt would end within a sentence
_ENDS = re.compile(r"[.!?。]\s|\n")
STRETCH_GAP = "\n[…]\n"
_HEADING = re.compile(r"^(`{3,})$.*?^\1$|^(#{1,6}) (.+?)$", re.MULTILINE | re.DOTALL)


def heading_path(text: str, position: int) -> list[str]:
    """Return the headings above a position, outermost first."""
    above: list[tuple[int, str]] = []
    for found in _HEADING.finditer(text, 0, position):
        if found.group(1):
            continue  # in code, "#" starts a comment
        level = len(found.group(2))
        above = [*(heading for heading in above if heading[0] < level), (level, found.group(3).strip())]
    return [words for _, words in above]


def find_windows(
    quotes: Iterable[Quote], text: str, around_chars: int = AROUND_CHARS, slack_chars: int = 0
) -> list[tuple[int, int]]:
    """Return the spans around a page's quotes, merged where they overlap, in order.

    With slack they are widened to whole sentences, if these end near enough.
    """
    merged: list[tuple[int, int]] = []
    for quote in sorted(quotes, key=lambda q: q.start):
        start, end = max(0, quote.start - around_chars), min(len(text), quote.end + around_chars)
        if slack_chars and around_chars:
            before = [m.end() for m in _ENDS.finditer(text, max(0, start - slack_chars), start)]
            after = _ENDS.search(text, max(quote.end, end - 2), end + slack_chars)
            start, end = (before[-1] if before else start), (after.start() + 1 if after else end)
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def build_passage(quotes: Sequence[Quote], page: Page, text: str) -> Passage:
    """Return quotes of one page with their context."""
    paths = dict.fromkeys(" > ".join(heading_path(text, quote.start)) for quote in quotes)
    return Passage(
        quotes=tuple(quote.text for quote in quotes),
        title=page.title,
        headings="\n".join(path for path in paths if path),
        date=page.published or "",
        around=STRETCH_GAP.join(text[start:end] for start, end in find_windows(quotes, text)),
    )


def describe_context(quotes: Sequence[Quote], page: Page, text: str, around_chars: int = SHOWN_CHARS) -> str:
    """Render a page's text around some quotes for a model: each excerpt once, under its headings."""
    facts = " · ".join(filter(None, [page.title, page.publisher, page.author, page.published]))
    parts = []
    for start, end in find_windows(quotes, text, around_chars, _SLACK_CHARS):
        path = " > ".join(heading_path(text, start))
        parts.append(f"[{path}] {text[start:end].strip()}" if path else text[start:end].strip())
    return STRETCH_GAP.join([facts, *parts])


async def load_passages(
    claims: Sequence[Claim], pages: Sequence[Page], get: Callable[[str], Awaitable[str]]
) -> dict[str, Passage]:
    """Load the evidence of each claim by id; bare quotes if a page's text is gone."""
    by_sha, texts = {page.sha: page for page in reversed(pages)}, await load_page_texts(claims, get)
    found: dict[str, Passage] = {}
    for claim in claims:
        parts = []
        for sha in dict.fromkeys(quote.page for quote in claim.quotes):
            quotes = [quote for quote in claim.quotes if quote.page == sha]
            if sha in by_sha and sha in texts:
                parts.append(build_passage(quotes, by_sha[sha], texts[sha]))
            else:
                parts.append(Passage(quotes=tuple(quote.text for quote in quotes)))
        found[claim.id] = join_passages(parts)
    return found


async def load_page_texts(claims: Sequence[Claim], get: Callable[[str], Awaitable[str]]) -> dict[str, str]:
    """Load the texts of the quoted pages by hash, without those that are gone."""
    return await load_texts((quote.page for claim in claims for quote in claim.quotes), get)


async def load_texts(shas: Iterable[str], get: Callable[[str], Awaitable[str]]) -> dict[str, str]:
    """Load texts by hash, each once, without those that are gone."""
    texts: dict[str, str] = {}
    for sha in dict.fromkeys(shas):
        try:
            texts[sha] = await get(sha)
        except ProviderError:
            continue
    return texts


def join_passages(parts: Sequence[Passage]) -> Passage:
    """Join passages, for a sentence with several claims."""
    if len(parts) == 1:
        return parts[0]
    return Passage(
        quotes=tuple(quote for part in parts for quote in part.quotes),
        title="\n".join(dict.fromkeys(part.title for part in parts if part.title)),
        headings="\n".join(dict.fromkeys(part.headings for part in parts if part.headings)),
        date="\n".join(dict.fromkeys(part.date for part in parts if part.date)),
        around=STRETCH_GAP.join(part.around for part in parts if part.around),
    )
