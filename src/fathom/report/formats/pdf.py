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
_HOST = re.compile(r"(https?://[^/?#]{1,60}/?)(.*)", re.DOTALL)
_BREAKS = re.compile(r"(?<=[/?&=])")
_FEWEST_ENTRIES = 4  # of a list of contents


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
        return typst.compile(layout, font_paths=fonts, sys_inputs=data, pdf_standards="ua-1")
    except typst.TypstError:  # it has letters that the font lacks, which PDF/UA does not allow
        return typst.compile(layout, font_paths=fonts, sys_inputs=data)


def _data(document: ReportDocument) -> str:
    sections = [b for part in document.parts for b in part.blocks if isinstance(b, Title) and b.level == 2]
    return json.dumps(
        {
            "title": document.title,
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
            "svg": draw_chart(value.chart),
            "alt": value.chart.description,
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
    return value


def _address(source: Source) -> dict[str, Any]:
    """A long address in a part that stays on one line and those that a line may end after."""
    found = _HOST.fullmatch(source.address)
    host, path = found.groups() if found else ("", source.address)
    return {"host": host, "path": _BREAKS.split(path)}
