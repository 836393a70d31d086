"""A report as a notebook shows it.

Does not know where it is shown. The words of sources stay words: nothing in them is a tag or a script, and
only addresses of the web are links.
"""

from html import escape

from markdown_it import MarkdownIt

from fathom.report.emphasis import add_cjk_emphasis

_STYLE = "max-width:46em;line-height:1.5"
_FACTS = "color:#666;font-size:90%"


class _Reader(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 - the package's own name for it
        return url.startswith(("https://", "http://"))


def as_html(markdown: str, facts: str) -> str:
    """The report, and below it one line of facts about its making."""
    text = add_cjk_emphasis(_Reader("commonmark", {"html": False})).render(markdown)
    return f'<div style="{_STYLE}">{text}<p style="{_FACTS}">{escape(facts)}</p></div>'
