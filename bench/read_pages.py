"""Web pages made up for the bench: the text is known, and around it stands what real pages have there.

Does not know what is measured with them.
"""

import random
from collections.abc import Callable, Iterator

Page = tuple[str, str, str]  # name, markup, expected text

_ENGLISH = (
    [
        "The lake",
        "A local board",
        "The new gauge",
        "Every village",
        "The old dam",
        "One engineer",
        "The survey",
    ],
    ["measured", "reported", "lost", "doubled", "explained", "repaired", "questioned"],
    [
        "twelve metres of water",
        "its oldest records",
        "the level of the river",
        "a third of the snow",
        "the plan",
    ],
    [
        "in May",
        "after the storm",
        "within two years",
        "without a permit",
        "despite the cost",
        "near the border",
    ],
)
_GERMAN = (
    ["Der See", "Die Gemeinde", "Der neue Pegel", "Jedes Dorf", "Die alte Mauer", "Ein Ingenieur"],
    ["verlor", "meldete", "überprüfte", "verdoppelte", "erklärte", "erneuerte"],
    ["zwölf Meter Wasser", "die ältesten Akten", "den Stand des Flusses", "ein Drittel des Schnees"],
    ["im Mai", "nach dem Sturm", "binnen zweier Jahre", "ohne Genehmigung", "trotz der Kosten"],
)
_KOREAN = (
    ["호수는", "지역 위원회는", "새 수위계는", "모든 마을은", "오래된 댐은", "한 기술자는"],
    ["오월에", "폭풍이 지난 뒤", "두 해 만에", "허가 없이", "비용에도 불구하고", "국경 근처에서"],
    ["십이 미터의 물을", "가장 오래된 기록을", "강의 수위를", "눈의 삼분의 일을", "계획을"],
    ["잃었다", "보고했다", "측정했다", "두 배로 늘렸다", "설명했다", "고쳤다"],
)
_LANGUAGES = {"en": _ENGLISH, "de": _GERMAN, "ko": _KOREAN}
_MENU = {
    "en": ["Home", "News", "Sport", "Weather", "Sign in", "Subscribe now", "Cookie settings", "About us"],
    "de": ["Startseite", "Nachrichten", "Sport", "Wetter", "Anmelden", "Jetzt abonnieren", "Impressum"],
    "ko": ["홈", "뉴스", "스포츠", "날씨", "로그인", "지금 구독하기", "쿠키 설정", "회사 소개"],
}


class _Author:
    """Writes in one language, always differently and always the same for a seed."""

    def __init__(self, language: str, seed: int) -> None:
        self.language = language
        self._source = random.Random(f"{language}{seed}")  # noqa: S311  pages, not secrets
        self.said: list[str] = []

    def sentence(self) -> str:
        number = self._source.randint(3, 990)
        parts = [self._source.choice(part) for part in _LANGUAGES[self.language]]
        return f"{' '.join(parts)} ({number})."

    def words(self, sentences: int) -> str:
        return " ".join(self.sentence() for _ in range(sentences))

    def kept(self, sentences: int) -> str:
        """Words that belong to the text."""
        self.said.append(self.words(sentences))
        return self.said[-1]

    def title(self) -> str:
        self.said.append(self.sentence().rpartition(" (")[0])
        return self.said[-1]

    def menu(self, tag: str = "li") -> str:
        entries = "".join(
            f"<{tag}><a href='/{n}'>{word}</a></{tag}>" for n, word in enumerate(_MENU[self.language])
        )
        return f"<ul>{entries}</ul>" if tag == "li" else entries

    def related(self) -> str:
        links = "".join(f"<li><a href='/r{n}'>{self.sentence()}</a></li>" for n in range(5))
        return f"<aside class='related'><h3>{_MENU[self.language][1]}</h3><ul>{links}</ul></aside>"

    def comments(self) -> str:
        said = "".join(f"<div class='comment'><b>user{n}</b><p>{self.words(2)}</p></div>" for n in range(4))
        return f"<section id='comments' class='comments'><h3>4</h3>{said}</section>"

    def table(self) -> str:
        rows = [[self.sentence().rpartition(" (")[0], str(self._source.randint(1, 99))] for _ in range(4)]
        self.said += [" ".join(row) for row in rows]
        cells = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"

    def list(self) -> str:
        return f"<ul>{''.join(f'<li>{self.kept(1)}</li>' for _ in range(4))}</ul>"


def _news(author: _Author) -> str:
    return f"""<header><nav>{author.menu()}</nav></header>
<main><article><h1>{author.title()}</h1><p>{author.kept(4)}</p>
<div class="ad advertisement"><a href="/buy">{author.words(1)}</a></div>
<p>{author.kept(5)}</p><h2>{author.title()}</h2><p>{author.kept(4)}</p><p>{author.kept(3)}</p></article>
{author.related()}{author.comments()}</main><footer>{author.menu()}<p>© 2024</p></footer>"""


def _manual(author: _Author) -> str:
    return f"""<div class="page"><div class="sidebar" role="navigation">{author.menu()}{author.menu()}</div>
<div role="main" class="document"><h1>{author.title()}</h1><p>{author.kept(3)}</p>{author.table()}
<h2>{author.title()}</h2><p>{author.kept(2)}</p>{author.list()}<p>{author.kept(4)}</p></div></div>
<div class="footer">{author.menu("span")}</div>"""


def _blog(author: _Author) -> str:
    return f"""<div id="top">{author.menu("span")}</div><div id="content"><div class="post">
<h1 class="title">{author.title()}</h1><div class="entry-content"><p>{author.kept(5)}</p>
<blockquote><p>{author.kept(2)}</p></blockquote><p>{author.kept(4)}</p>{author.list()}<p>{author.kept(3)}</p></div>
<div class="share">{author.menu("span")}</div></div>{author.comments()}</div>
<div id="sidebar">{author.related()}</div>"""


def _plain(author: _Author) -> str:
    return f"""<div>{author.menu("span")}</div><div><h1>{author.title()}</h1>
<div>{author.kept(5)}</div><div>{author.kept(6)}</div><div>{author.kept(4)}</div></div>
<div>{author.menu("span")}</div>"""


_TEMPLATES: dict[str, Callable[[_Author], str]] = {
    "news": _news,
    "manual": _manual,
    "blog": _blog,
    "plain": _plain,
}


def made_pages(each: int = 5) -> Iterator[Page]:
    """Some pages of every template in every language."""
    for language in _LANGUAGES:
        for name, template in _TEMPLATES.items():
            for seed in range(each):
                author = _Author(language, seed)
                inside = template(author)
                head = f"<head><meta charset='utf-8'><title>{author.said[0]}</title></head>"
                markup = f"<!doctype html><html lang='{language}'>{head}<body>{inside}</body></html>"
                yield f"{name}-{language}-{seed}", markup, "\n".join(author.said)
