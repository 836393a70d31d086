"""A report as one page: nothing in it acts, whatever a source or a model says."""

from html.parser import HTMLParser
from typing import Any

from fakes.records import claim, heading, judgement, page, quote, section, sentence

from fathom.report.formats.html import render_html
from fathom.report.ledger import LEDGER_FORMAT, Ledger
from fathom.state import Citation, Outline

RUDE = '</title><script>alert(1)</script><img src=x onerror=alert(1)>" onload="x'


class Tags(HTMLParser):
    """Which tags and links a page has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.links += [value or "" for name, value in attrs if name in {"href", "src"}]


def ledger(address: str = "https://a.example/x", **words: Any) -> Ledger:
    used = quote(RUDE, of="page one")
    cited = Citation(
        number=1,
        page=used.page,
        address=address,
        title=RUDE,
        published=None,
        fetched="2025-06-01",
        quotes=[used],
    )
    given = {
        "question": "Why?",
        "status": "complete",
        "report": "",
        "outline": Outline(title=RUDE, headings=[heading("c1")]),
        "sections": [
            section(sentence(RUDE, "c1"), sentence("Nobody said so.", status="unsupported"), title=RUDE)
        ],
        "claims": [claim(RUDE, "c1", quotes=[used])],
        "sources": [page(address=address, title=RUDE)],
        "citations": [cited],
        "judgements": [judgement()],
        **words,
    }
    return Ledger(format=LEDGER_FORMAT, fathom="0", run_id="r", **given)


def test_words_are_words_and_the_only_links_are_sources_and_marks() -> None:
    found = Tags(render_html(ledger()))
    assert found.tags <= {
        "html", "head", "meta", "title", "style", "body", "main", "section", "div", "h1", "h2", "p", "sup",
        "a", "span", "ol", "ul", "li", "q", "cite", "b", "details", "summary", "blockquote", "code",
    }  # fmt: skip
    assert found.links == ["#s1", "https://a.example/x"]
    assert not {name for name in found.attributes if name.startswith("on")}


def test_an_address_that_a_browser_would_run_is_no_link() -> None:
    for address in ("javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "https://[bad"):
        assert Tags(render_html(ledger(address))).links == ["#s1"]


def test_what_is_without_support_is_marked_and_a_korean_page_says_so() -> None:
    assert "[citation needed]" in render_html(ledger())
    assert '<html lang="ko">' in render_html(ledger(question="왜 그런가?"))


def test_a_report_of_nothing_says_so() -> None:
    text = render_html(ledger(sections=[], citations=[], claims=[], outline=None, status="failed"))
    assert "Nothing is reported." in text
