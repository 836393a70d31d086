"""The nearest passages of a source: what a statement is compared with, and what a model is shown."""

import re
from collections.abc import Sequence
from functools import cached_property

from fathom.audit.sources import CitedText
from fathom.evidence.checks.derivation import Passage
from fathom.evidence.context import build_passage, describe_context, heading_path
from fathom.state import Quote
from fathom.text.ranking import score_relevance
from fathom.text.sentences import split_sentences

_ROW = re.compile(r"^\|.*\|$", re.MULTILINE)
_WHOLE_CHARS = 3000
_AROUND_CHARS = 240
_NEAREST = 3
_LEAST_CHARS = 12
_MOST_SPANS = 4000


class SourcePassages:
    """The sentences and table rows of one source that was read."""

    def __init__(self, source: CitedText) -> None:
        assert source.page is not None
        self.about, self.page, self.text = source.about, source.page, source.text

    @cached_property
    def quotes(self) -> list[Quote]:
        """Every sentence and table row, in order."""
        spans = [(span.start, span.end) for span in split_sentences(self.text)]
        spans += [found.span() for found in _ROW.finditer(self.text)]
        kept = sorted(span for span in spans if span[1] - span[0] >= _LEAST_CHARS)[:_MOST_SPANS]
        return [self._quote(start, end) for start, end in kept]

    def nearest(self, statements: Sequence[str], most: int = _NEAREST) -> list[list[Quote]]:
        """Return for each statement the quotes that are most about it, best first."""
        if not self.quotes:
            return [[] for _ in statements]
        scores = score_relevance(statements, [quote.text for quote in self.quotes])
        ranked = [sorted(range(len(row)), key=lambda n: -row[n])[:most] for row in scores]
        return [[self.quotes[n] for n in places] for places in ranked]

    def describe(self, quotes: Sequence[Quote]) -> str:
        """Return the source as a model sees it: short ones whole, long ones around the quotes."""
        if len(self.text) <= _WHOLE_CHARS:
            return describe_context([self._quote(0, len(self.text))], self.page, self.text, 0)
        opening = self._quote(0, min(len(self.text), _AROUND_CHARS))
        return describe_context([opening, *quotes], self.page, self.text, _AROUND_CHARS)

    def passage(self, quotes: Sequence[Quote]) -> Passage:
        """Return quotes with their context, for the checks."""
        return build_passage(quotes, self.page, self.text)

    def with_heading(self, quote: Quote) -> Quote:
        """Return the quote with the headings it stands under."""
        return quote.model_copy(update={"heading": " > ".join(heading_path(self.text, quote.start))})

    def _quote(self, start: int, end: int) -> Quote:
        return Quote(page=self.page.sha, start=start, end=end, text=self.text[start:end])
