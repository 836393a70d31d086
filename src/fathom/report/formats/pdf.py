"""A report as PDF, set by typst: contents, page numbers, links, tags for screen readers.

Does not know the report: the document goes to the layout (`report.typ`) as data, so that no word of a source
is ever read as markup. One font has Korean, Hanja, Kana and Latin letters; it comes in a package.
"""

import json
import re
from dataclasses import fields, is_dataclass
from importlib.resources import files
from typing import Any, Literal

from fathom.report.formats.chart import draw_chart
from fathom.report.formats.document import Picture, ReportDocument, Source, Title, make_document
from fathom.report.ledger import Ledger

_LAYOUT = "report.typ"
_ACCESSIBLE: Any = "ua-1"  # typst knows it, its type hints do not
_HOST = re.compile(r"(https?://[^/?#]{1,60}/?)(.*)", re.DOTALL)
_BREAKS = re.compile(r"(?<=[/?&=])")
_FEWEST_ENTRIES = 4  # of a list of contents
# Pictures that no bundled font has. A few have a plain twin; the others go, with the space before them.
_TWINS = str.maketrans({"✅": "✓", "✔": "✓", "❌": "×", "✖": "×", "⭐": "★", "❗": "!", "❓": "?"})
_PICTURES = re.compile(
    " ?[\U0001f000-\U0001f0ff\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff\u231a\u231b\u23e9-\u23fa\u2614\u2615"
    "\u2648-\u2653\u267f\u2693\u26a1\u26aa\u26ab\u26bd-\u26ff\u2705-\u270d\u2728\u274e\u2754\u2755\u2763\u2764"
    "\u2795-\u2797\u27b0\u27bf\u2b1b\u2b1c\u2b55]+"
    "|[\ufe0e\ufe0f\u200d\u20e3\U000e0020-\U000e007f]+"
)


def render_pdf(ledger: Ledger) -> bytes:
    """The whole file; the same ledger gives the same bytes."""
    document = make_document(ledger)
    return compile_typst(files("fathom.report.formats").joinpath(_LAYOUT).read_bytes(), _data(document))


def compile_typst(layout: bytes, report: str, kind: Literal["pdf", "png"] = "pdf") -> bytes:
    """What typst makes of a layout of ours and its data, with no font but the bundled ones."""
    import typst  # 77 MB, and only who wants a PDF needs it
    from noto_cjk_sans_otc import FONT_PATH

    fonts = typst.Fonts(include_system_fonts=False, font_paths=[str(FONT_PATH.parent)])
    data = {"report": report}
    if kind == "png":
        return typst.compile(layout, font_paths=fonts, sys_inputs=data, format="png", ppi=220)
    try:
        return typst.compile(layout, font_paths=fonts, sys_inputs=data, pdf_standards=_ACCESSIBLE)
    except typst.TypstError:  # it has letters that the font lacks, which PDF/UA does not allow
        return typst.compile(layout, font_paths=fonts, sys_inputs=data)


def _data(document: ReportDocument) -> str:
    sections = [b for part in document.parts for b in part.blocks if isinstance(b, Title) and b.level == 2]
    return json.dumps(
        {
            "title": without_pictures(document.title).strip() or "Fathom",
            "language": document.words.language,
            "has_contents": len(sections) >= _FEWEST_ENTRIES,
            "contents": document.words("report.contents"),
            "parts": _plain(document.parts),
        },
        ensure_ascii=False,
    )


def _plain(value: Any) -> Any:
    """Records as dictionaries with the name of their type."""
    if isinstance(value, Picture):
        return {
            "type": "Picture",
            "svg": without_pictures(draw_chart(value.chart)),
            "alt": without_pictures(value.chart.description),
            "caption": _plain(value.caption),
        }
    if is_dataclass(value):
        told = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        return {
            "type": type(value).__name__,
            **told,
            **(_address(value) if isinstance(value, Source) else {}),
        }
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return without_pictures(value) if isinstance(value, str) else value


def without_pictures(text: str) -> str:
    """The text without emoji, which would be boxes."""
    return _PICTURES.sub("", text.translate(_TWINS))


def _address(source: Source) -> dict[str, Any]:
    """A long address in a part that stays on one line and those that a line may end after."""
    found = _HOST.fullmatch(source.address)
    host, path = found.groups() if found else ("", source.address)
    return {"host": host, "path": _BREAKS.split(path)}
