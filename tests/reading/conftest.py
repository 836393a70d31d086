"""What the tests of reading share: a PDF writer and a web server on loopback.

Does not know what is tested with them.
"""

from collections.abc import Callable

import pytest
from standins.site import reply, site

__all__ = ["reply", "site"]


def make_pdf(pages: list[list[str]], *, title: str = "", created: str = "") -> bytes:
    """A PDF of lines without parentheses, in Helvetica: the smallest file a reader accepts."""
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"", b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    kids = []
    for lines in pages:
        shown = b" T* ".join(b"(" + line.encode("latin-1") + b") Tj" for line in lines)
        stream = b"BT /F1 12 Tf 14 TL 50 750 Td " + shown + b" ET"
        objects.append(b"<</Length %d>>\nstream\n%s\nendstream" % (len(stream), stream))
        resources = b"<</Font<</F1 3 0 R>>>>"
        kids.append(len(objects) + 1)
        page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources%s/Contents %d 0 R>>"
        objects.append(page % (resources, len(objects)))
    objects[1] = b"<</Type/Pages/Count %d/Kids[%s]>>" % (
        len(kids),
        b" ".join(b"%d 0 R" % kid for kid in kids),
    )
    objects.append(f"<</Title({title})/CreationDate({created})>>".encode())
    return _assembled(objects)


def _assembled(objects: list[bytes]) -> bytes:
    out = b"%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"trailer\n<</Size %d/Root 1 0 R/Info %d 0 R>>\nstartxref\n%d\n%%%%EOF\n"
    return out + trailer % (len(objects) + 1, len(objects), start)


@pytest.fixture
def pdf_of() -> Callable[..., bytes]:
    """The PDF writer."""
    return make_pdf
