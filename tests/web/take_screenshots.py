"""Take the pictures in docs/images: every view of the page and page 1 of the formats, in both languages.

python tests/web/take_screenshots.py

Needs Chromium, Pillow and a font with Korean letters. They show the demo: anybody can take them again.
"""

import io
import json
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[1]
sys.path.insert(0, str(HERE))

import pypdfium2  # noqa: E402
from playwright.sync_api import Page  # noqa: E402
from standins.browser import PageServer, chromium  # noqa: E402
from standins.documents import KOREAN_QUESTION, QUESTION, stocked  # noqa: E402

IMAGES = HERE.parent / "docs" / "images"
SIZES = {"en": ("en-GB", 1200, 900), "ko": ("ko-KR", 390, 844)}
LONG_MS = 60_000
pillow = import_module("PIL.Image")


def take(folder: Path) -> None:
    """Take all of them."""
    shelf = stocked(folder / "shelf")
    settings = {"FATHOM_HOME": str(folder / "home"), "FATHOM_DOCS_ROOTS": json.dumps([str(shelf)])}
    server = PageServer(shelf, settings).start()
    try:
        with chromium() as browser:
            for name, (locale, width, height) in SIZES.items():
                page = browser.new_context(
                    viewport={"width": width, "height": height}, locale=locale
                ).new_page()
                visit(page, server, partial(shoot_view, page, name))
                run = page.url.partition("/run/")[2].partition("/")[0]
                export(page, server, run, name)
    finally:
        server.stop()


def visit(page: Page, server: PageServer, taken: Callable[[str], None]) -> None:
    """Ask, plan, watch, look at the history, read, open a citation."""
    question = KOREAN_QUESTION if (page.viewport_size or {"width": 0})["width"] < 500 else QUESTION
    page.goto(server.url)
    page.locator(".demo button").wait_for()
    page.wait_for_timeout(800)
    taken("ask")
    page.locator("textarea[name=query]").fill(question)
    page.get_by_role("radio").nth(3).check()
    page.locator(".documents button").first.click()
    page.locator(".folder ul button").first.click()
    page.locator(".folder .primary").click()
    page.locator("form.ask button[type=submit]").click()
    page.locator(".plan .editable").first.wait_for(timeout=LONG_MS)
    taken("plan")
    page.locator(".plan button.primary").click()
    page.locator(".go-on").wait_for(timeout=LONG_MS)
    page.goto(server.url)
    page.locator(".demo button").click()
    page.locator(".pages li").first.wait_for()
    page.wait_for_timeout(700)
    taken("watch")
    page.locator(".go-on").wait_for(timeout=LONG_MS)
    run = page.url
    page.goto(f"{server.url}#/history")
    page.locator(".add-tag").first.wait_for()
    taken("history")
    page.goto(run)
    page.locator(".chart img").first.wait_for()
    page.wait_for_timeout(800)
    page.evaluate("scrollTo(0, 0)")
    page.set_viewport_size({**(page.viewport_size or {"width": 0, "height": 0}), "height": 1500})
    taken("read")
    page.locator(".sentence .cite").nth(2).click()
    page.locator("dialog .around").first.wait_for(state="attached")
    page.set_viewport_size({**(page.viewport_size or {"width": 0, "height": 0}), "height": 844})
    taken("citation")
    page.keyboard.press("Escape")


def export(page: Page, server: PageServer, run: str, name: str) -> None:
    """Page 1 of HTML and PDF; the browser shows the one, PDFium draws the other."""
    made = page.request.get(f"{server.url}api/runs/{run}/export/html").body()
    with tempfile.NamedTemporaryFile(suffix=".html") as file:
        Path(file.name).write_bytes(made)
        page.set_viewport_size({"width": 800, "height": 1130})
        page.goto(f"file://{file.name}")
        shoot(page, f"html-{name}")
    pdf = page.request.get(f"{server.url}api/runs/{run}/export/pdf").body()
    draw_first_page(pdf, IMAGES / f"pdf-{name}.png")


def draw_first_page(pdf: bytes, to: Path) -> None:
    """The first page of a PDF as PNG."""
    keep(pypdfium2.PdfDocument(pdf)[0].render(scale=1.3).to_pil(), to)


def shoot_view(page: Page, language: str, view: str) -> None:
    """Keep a view under its name and language."""
    shoot(page, f"{view}-{language}")


def shoot(page: Page, name: str) -> None:
    """Keep what is on the screen."""
    page.wait_for_timeout(300)
    keep(pillow.open(io.BytesIO(page.screenshot())), IMAGES / f"{name}.png")


def keep(image: Any, to: Path) -> None:
    """Write a picture in few colours, which makes it small."""
    image.convert("RGB").quantize(128).save(to, optimize=True)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        take(Path(place))
