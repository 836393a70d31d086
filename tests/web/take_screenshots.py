"""Take the pictures in docs/images: every view of the page and page 1 of the formats, in both languages.

python tests/web/take_screenshots.py [FOLDER]

Needs Chromium, Pillow, a font with Korean letters and, for the Word document, LibreOffice. All of it
shows the demo: its plan, its run, an update, a batch, and an audit of a report on it.
"""

import asyncio
import io
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[1]
sys.path.insert(0, str(HERE))

import pypdfium2  # noqa: E402
from playwright.sync_api import Page  # noqa: E402
from standins.browser import PageServer, chromium  # noqa: E402

from fathom import DeepResearcher  # noqa: E402
from fathom.demo import FOLDER, demo_request  # noqa: E402
from fathom.runs.batch import read_questions  # noqa: E402
from fathom.settings import load_settings  # noqa: E402

IMAGES = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "docs" / "images"
SIZES = {"en": ("en-GB", 1200, 900), "ko": ("ko-KR", 390, 844)}
DROPPED = {
    "en": "The bus depot dropped the four-day week in 2024 after five months, because it could not find"
    " enough drivers.",
    "ko": "버스 차고지는 운전사를 구하지 못해 2024년 다섯 달 만에 주 4일제를 그만두었다.",
}
AUDITED = {
    "en": """# The four-day week in Alderby

The four-day week cost 1.9 million euros in 2025 [1]. It saved 1.6 million euros in the same year [1].

The average wait was 14 minutes in 2022 and 21 minutes in 2025 [2]. The counters close at 4 pm on Fridays [2].
Rents in Alderby rose by 6 percent in 2025.

## Sources

[1] audit.md
[2] counters.md
""",
    "ko": """# 솔내시의 주 4일제

2025년 주 4일제에는 19억 원이 들었다 [1]. 2025년 주 4일제로 16억 원을 아꼈다 [1].

평균 대기 시간은 2022년 14분, 2025년 21분이었다 [2]. 창구는 금요일 오후 4시에 닫는다 [2].
솔내시의 집세는 2025년에 6퍼센트 올랐다.

## 출처

[1] audit.md
[2] counters.md
""",
}
OTHERS = {
    "en": ["How long do people wait at the counters?", "What does the four-day week cost?"],
    "ko": ["창구에서 얼마나 기다리나?", "주 4일제에 드는 돈은 얼마인가?"],
}
LONG_MS = 60_000
pillow = import_module("PIL.Image")


@dataclass(frozen=True)
class Made:
    """The ids of what is shown."""

    planned: str
    run: str
    updated: str


async def make_runs(home: Path, shelf: Path, language: str) -> Made:
    """A plan that waits, a whole run and its update after one document lost a sentence, and a batch."""
    asked = demo_request(language).model_copy(update={"docs": [str(shelf)]})
    async with DeepResearcher(load_settings(home=home, docs_roots=[shelf], local_servers={})) as researcher:
        planned = await researcher.begin(asked.model_copy(update={"review": "plan"}))
        async for _ in planned.events():
            pass
        run = (await researcher.research(asked)).run_id
        changed = shelf / "courier.md"
        changed.write_text(changed.read_text("utf-8").replace(DROPPED[language], ""), "utf-8")
        update = await researcher.begin_update(run)
        async for _ in update.events():
            pass
        lines = [{"question": asked.query, **asked.said}]
        lines += [{"question": one, "docs": [str(shelf)], "model": "none"} for one in OTHERS[language]]
        questions = "\n".join(json.dumps(line) for line in lines)
        await researcher.batch(read_questions(questions, {}), home / "batches" / "of-the-demo")
    return Made(planned.id, run, update.id)


def take(folder: Path, language: str) -> None:
    """Take all pictures of one language."""
    shelf = Path(shutil.copytree(FOLDER / language, folder / "shelf"))
    home = folder / "home"
    made = asyncio.run(make_runs(home, shelf, language))
    settings = {"FATHOM_HOME": str(home), "FATHOM_DOCS_ROOTS": json.dumps([str(shelf)])}
    server = PageServer(shelf, settings).start()
    locale, width, height = SIZES[language]
    try:
        with chromium() as browser:
            page = browser.new_context(viewport={"width": width, "height": height}, locale=locale).new_page()
            visit(Camera(page, language, height), server.url, made, language)
            page.emulate_media(color_scheme="dark")
            look_at_night(Camera(page, f"{language}-dark", height), server.url, made.run)
            page.emulate_media(color_scheme="light")
            export(page, server.url, made.run, language)
    finally:
        server.stop()


@dataclass(frozen=True)
class Camera:
    """A window whose views are kept under their names."""

    page: Page
    ending: str
    height: int

    def shoot(self, name: str, height: int = 0) -> None:
        """Keep what is on the screen, from its top."""
        size = self.page.viewport_size or {"width": 0, "height": 0}
        self.page.set_viewport_size({**size, "height": height or self.height})
        self.page.wait_for_timeout(500)
        keep(pillow.open(io.BytesIO(self.page.screenshot())), IMAGES / f"{name}-{self.ending}.png")


def visit(camera: Camera, url: str, made: Made, language: str) -> None:
    """Every view of the page."""
    page = camera.page
    page.goto(url)
    page.locator(".demo button").wait_for()
    camera.shoot("ask", 1120)
    page.goto(f"{url}#/run/{made.planned}")
    page.locator(".plan .editable").first.wait_for()
    camera.shoot("plan", 1150)
    page.goto(url)
    page.locator(".demo button").click()
    page.locator(".pages li").first.wait_for()
    page.wait_for_timeout(600)
    camera.shoot("watch", 1000)
    page.locator(".go-on").wait_for(timeout=LONG_MS)
    page.goto(f"{url}#/run/{made.run}/read")
    page.locator(".chart img").first.wait_for()
    camera.shoot("read", 1750)
    page.locator(".sentence .cite").nth(4).click()
    page.locator("dialog .around").first.wait_for(state="attached")
    camera.shoot("citation")
    page.keyboard.press("Escape")
    page.locator("#sources").evaluate("part => part.scrollIntoView()")
    page.locator(".fold summary").nth(1).click()
    camera.shoot("sources", 1100)
    page.goto(f"{url}#/run/{made.updated}/read")
    page.locator(".changes").wait_for()
    camera.shoot("update", 1100)
    page.goto(f"{url}#/history")
    page.locator(".add-tag").first.click()
    page.keyboard.type("4일" if language == "ko" else "four days")
    page.keyboard.press("Enter")
    page.locator(".chosen-tag").wait_for()
    camera.shoot("history")
    page.goto(f"{url}#/compare/{made.run}/{made.updated}")
    page.locator("table.compare").wait_for()
    camera.shoot("compare")
    page.goto(f"{url}#/history")
    page.locator(".batches a").first.click()
    page.locator(".batch tbody tr").first.wait_for()
    camera.shoot("batch", 600)
    audit(camera, url, AUDITED[language])


def audit(camera: Camera, url: str, report: str) -> None:
    """A report with one false figure, one statement without a source, and some that hold."""
    page = camera.page
    page.goto(f"{url}#/audit")
    page.locator("textarea[name=text]").fill(report)
    page.locator("details.more summary").first.click()
    page.locator(".documents button").first.click()
    page.locator(".folder ul button").first.click()
    page.locator(".folder .primary").click()
    page.locator("form button[type=submit]").click()
    page.locator(".forecast .primary").click()
    page.locator(".statements .contradicted summary").first.click(timeout=LONG_MS)
    page.evaluate("scrollTo(0, 0)")
    camera.shoot("audit", 1050)


def look_at_night(camera: Camera, url: str, run: str) -> None:
    """The report in the dark."""
    camera.page.goto(f"{url}#/run/{run}/read")
    camera.page.locator(".chart img").first.wait_for()
    camera.shoot("read", 1500)


def export(page: Page, url: str, run: str, language: str) -> None:
    """Page 1 of each format: the browser shows HTML, PDFium draws PDF, LibreOffice turns Word into one."""
    kept = {
        kind: page.request.get(f"{url}api/runs/{run}/export/{kind}").body()
        for kind in ("html", "pdf", "docx")
    }
    draw_first_page(kept["pdf"], IMAGES / f"pdf-{language}.png")
    with tempfile.TemporaryDirectory() as place:
        for kind in ("html", "docx"):
            (Path(place) / f"report.{kind}").write_bytes(kept[kind])
        page.goto(f"file://{place}/report.html")
        Camera(page, language, 1130).shoot("html")
        if office := shutil.which("soffice"):
            command = [office, "--headless", "--convert-to", "pdf", "--outdir", place, f"{place}/report.docx"]
            subprocess.run(command, check=True, capture_output=True, timeout=180)
            draw_first_page((Path(place) / "report.pdf").read_bytes(), IMAGES / f"docx-{language}.png")


def draw_first_page(pdf: bytes, to: Path) -> None:
    """The first page of a PDF as PNG."""
    keep(pypdfium2.PdfDocument(pdf)[0].render(scale=1.3).to_pil(), to)


def keep(image: Any, to: Path) -> None:
    """Write a picture in few colours, which makes it small."""
    image.convert("RGB").quantize(128).save(to, optimize=True)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for wanted in SIZES:
        with tempfile.TemporaryDirectory() as where:
            take(Path(where), wanted)
