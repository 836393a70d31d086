"""Tests of reading web pages."""

import pytest

from fathom.errors import Unreadable
from fathom.reading.parsers import parse_document

PAGE = """<!doctype html><html lang="en"><head><title>Lake levels | Water Board</title>
<meta property="og:title" content="Lake levels">
<meta property="article:published_time" content="2024-03-05T10:00Z">
<script>var tracked = true;</script></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/shop">Shop our bestsellers</a></li></ul></nav>
<article><h1>Lake levels</h1>
<p>The lake <b>rose</b> by <a href="https://a.example/gauge">twelve centimetres</a> in May,
which was more than anyone at the board had expected.</p>
<h2>Months</h2>
<table><tr><th>Month</th><th>Level</th></tr><tr><td>May</td><td>12</td></tr></table>
<ul><li>Snow melted early in the valleys.</li><li>Run <code>gauge --now</code> to see the level.</li></ul>
<pre><code>level = 12
print(level)</code></pre>
<p>호수의 수위는 오월에 십이 센티미터 올랐으며 이는 예상보다 훨씬 높은 수치였다.</p>
</article><footer>Copyright Water Board, all rights reserved</footer></body></html>"""


def test_the_main_text_is_kept_with_its_shape() -> None:
    document = parse_document(PAGE.encode(), content_type="text/html", name="https://w.example/lake")
    assert document.text.split("\n\n") == [
        "# Lake levels",
        "The lake rose by twelve centimetres in May, which was more than anyone at the board had expected.",
        "## Months",
        "| Month | Level |\n| May | 12 |",
        "- Snow melted early in the valleys.\n- Run `gauge --now` to see the level.",
        "```\nlevel = 12\nprint(level)\n```",
        "호수의 수위는 오월에 십이 센티미터 올랐으며 이는 예상보다 훨씬 높은 수치였다.",
    ]
    assert (document.title, document.how, document.published) == ("Lake levels", "html", "2024-03-05")


def test_no_menu_no_footer_no_address_gets_in() -> None:
    text = parse_document(PAGE.encode(), content_type="text/html", name="x").text
    assert not any(word in text for word in ("bestsellers", "Copyright", "a.example", "tracked"))


def test_a_page_without_main_text_gives_its_visible_words() -> None:
    page = b"<html><head><title>T</title></head><body><span>Only</span> <b>this</b><script>x</script></body>"
    document = parse_document(page, content_type="text/html", name="x")
    assert "Only this" in document.text
    assert document.title == "T"


@pytest.mark.parametrize("page", [b"<html><body><script>x()</script></body></html>", b"<html></html>"])
def test_a_page_without_words_is_unreadable(page: bytes) -> None:
    with pytest.raises(Unreadable, match="x has no text, only markup"):
        parse_document(page, content_type="text/html", name="x")


def test_the_page_may_declare_its_own_encoding() -> None:
    page = PAGE.replace("<head>", '<head><meta charset="euc-kr">').encode("euc-kr")
    assert "호수의 수위는" in parse_document(page, content_type="text/html", name="x").text


def test_the_header_may_declare_the_encoding() -> None:
    words = "Größe und Höhe der Wälder überraschten die Förster im März sehr. " * 3
    page = f"<html><body><article><p>{words}</p></article></body></html>".encode("latin-1")
    assert (
        "Größe und Höhe" in parse_document(page, content_type="text/html; charset=ISO-8859-1", name="x").text
    )


def test_a_deeply_nested_page_is_read_or_refused() -> None:
    page = b"<html><body>" + b"<div>" * 3000 + b"deep words" + b"</div>" * 3000
    try:
        assert parse_document(page, content_type="text/html", name="x").text
    except Unreadable as error:
        assert "x" in str(error)


def test_author_and_language_are_kept() -> None:
    page = PAGE.replace("<head>", '<head><meta name="author" content="Ada Kim">').encode()
    document = parse_document(page, content_type="text/html", name="x")
    assert (document.author, document.language) == ("Ada Kim", "en")


@pytest.mark.parametrize(
    ("said", "expected"),
    [('lang="ko_KR"', "ko-KR"), ('lang="the finest English"', None), ("", None), ('xml:lang="de"', "de")],
)
def test_a_language_is_a_code_or_nothing(said: str, expected: str | None) -> None:
    page = PAGE.replace('lang="en"', said).encode()
    assert parse_document(page, content_type="text/html", name="x").language == expected


def test_what_a_person_would_not_see_is_not_read() -> None:
    seen = "Tides rise twice a day because the moon pulls the water of the oceans towards it."
    hidden = [
        '<p style="display: none">Obey me one.</p>',
        "<div hidden>Obey me two.</div>",
        '<p style="visibility:hidden">Obey me three.</p>',
        '<span style="font-size:0px">Obey me four.</span>',
        '<div style="position:absolute; left:-9999px">Obey me five.</div>',
        "<!-- Obey me six. -->",
    ]
    markup = (
        f"<html><body><article><p>{seen}</p>{''.join(hidden)}<p>{seen} Again.</p></article></body></html>"
    )
    text = parse_document(markup.encode(), content_type="text/html", name="page").text
    assert seen in text
    assert "Obey" not in text


def test_small_type_is_still_seen() -> None:
    words = "The small print says that the plant makes 240 megawatts in a good year and less in others."
    markup = f'<html><body><p style="font-size:0.8em; opacity:0.9; left:-2px">{words}</p></body></html>'
    assert words in parse_document(markup.encode(), content_type="text/html", name="page").text


@pytest.mark.parametrize(
    ("language", "words", "encoding"),
    [
        (
            "ko",
            "조력 발전소는 하루에 두 번 밀물과 썰물의 힘으로 전기를 만든다고 이 보고서는 말한다.",
            "cp949",
        ),
        ("ja", "潮力発電所は一日に二回、満ち潮と引き潮の力で電気を作ると報告書は述べています。", "shift_jis"),
        ("zh", "潮汐电站每天两次利用涨潮和落潮的力量发电，报告这样写道，并且给出了数字。", "gb18030"),
        ("ar", "تولد محطة المد والجزر الكهرباء مرتين في اليوم بقوة الماء كما يقول هذا التقرير.", "utf-8"),
    ],
)
def test_pages_of_every_script_come_through_whole(language: str, words: str, encoding: str) -> None:
    body = f"<article><h1>{words[:6]}</h1><p>{words}</p><p>{words}</p></article>"
    markup = f'<html lang="{language}"><head><meta charset="{encoding}"></head><body>{body}</body></html>'
    read = parse_document(markup.encode(encoding), content_type="text/html", name="page")
    assert words in read.text
    assert read.language == language


BODY = (
    "<p>The 2018 model was sold until 2018-01-01 and drives as well as the one before it did, we find.</p>"
    * 3
)


@pytest.mark.parametrize(
    ("head", "body", "published"),
    [
        ("", "", None),
        ("<title>Cars of 2018-05-05</title>", "<h1>News of 5 May 2018</h1>", None),
        ('<meta name="copyright" content="2018-01-01">', "", None),
        ('<meta name="description" content="Cars of 2018">', "", None),
        ('<meta property="article:published_time" content="2024-03-05T10:00Z">', "", "2024-03-05"),
        ('<meta name="DC.date.issued" content="2024-03-05">', "", "2024-03-05"),
        (
            '<script type="application/ld+json">{"@type": "Article", "datePublished": "2024-03-05"}</script>',
            "",
            "2024-03-05",
        ),
        ("", '<time datetime="2024-03-05T08:00">yesterday</time>', "2024-03-05"),
        ("", '<time itemprop="datePublished" datetime="2024-03-05"></time>', "2024-03-05"),
        ("", '<time datetime="1998-05-05">then</time> and <time datetime="1999-05-05">later</time>', None),
        ("", '<time datetime="2018">that year</time>', None),
    ],
)
def test_a_date_is_what_the_markup_says_and_never_a_year_in_the_text(
    head: str, body: str, published: str | None
) -> None:
    page = f"<html><head>{head}</head><body><article>{body}{BODY}</article></body></html>"
    assert parse_document(page.encode(), content_type="text/html", name="x").published == published


def test_the_site_is_the_publisher() -> None:
    page = PAGE.replace("<head>", '<head><meta property="og:site_name" content="Water Board">').encode()
    assert parse_document(page, content_type="text/html", name="x").publisher == "Water Board"
    address = "https://x.example/blog/water-board"  # a name that only repeats the address tells nothing
    assert parse_document(page, content_type="text/html", name=address).publisher is None


MANUAL = b"""<html><head><title>3.1. Limits</title></head><body>
<div class="navheader"><a accesskey="u" href="x.html" title="Chapter 3. Gates">Up</a></div>
<div class="sect1"><h2 class="title">3.1. Limits<a class="headerlink" href="#x">\xc2\xb6</a></h2>
<p>The gates of the harbour have the following limits, which every skipper has to know before the tide.</p>
<ul><li><p>They open twice a day, one hour before high water.</p></li>
<li><p>They hold no ship longer than ninety metres.</p></li></ul>
<div class="warning"><h3 class="title">Warning</h3><p>Nobody may swim in the basin behind them.</p></div>
<dl><dt>Sill</dt><dd>The edge that a gate closes against.</dd><dd>Also its depth.</dd>
<dt>Pound</dt><dd>The water between two gates.</dd></dl>
<pre class="synopsis">gate <em>name</em> --open
  [ --slow ]</pre></div></body></html>"""


def test_a_manual_without_a_marked_main_part_keeps_headings_lists_and_definitions() -> None:
    made = parse_document(MANUAL, content_type="text/html", name="limits.html")
    assert made.title == "3.1. Limits (Chapter 3. Gates)"
    lines = made.text.splitlines()
    assert "## 3.1. Limits" in lines
    assert "- They open twice a day, one hour before high water." in lines
    assert "- Sill: The edge that a gate closes against. Also its depth." in lines
    assert "- Pound: The water between two gates." in lines
    assert "gate name --open" in lines
    assert not any(line.lstrip("# ") == "Warning" for line in lines)


def test_a_section_named_by_its_heading_is_not_taken_for_a_share_button() -> None:
    sections = "".join(
        f"<section id='{name}'><h2>{name.replace('-', ' ').capitalize()}?</h2><p>{text}</p></section>"
        for name, text in (
            ("why-are-values-shared", "Default values are made once, when the function is defined."),
            ("how-do-i-navigate-related-comments", "Use the menu of the editor to move between them."),
        )
    )
    page = f"<html><body><div role='main'><h1>Questions</h1><p>Many ask.</p>{sections}</div></body></html>"
    text = parse_document(page.encode(), content_type="text/html", name="faq.html").text
    assert "Default values are made once" in text
    assert "Use the menu of the editor" in text


def test_the_title_of_a_page_is_its_own_and_not_that_of_the_book() -> None:
    page = (
        "<html><head><title>Slack water - The Book of Tides</title></head><body>"
        "<h1 class='menu-title'>The Book of Tides</h1><main><h1>Slack water</h1><p>"
        + "The water stands still for some minutes. " * 20
        + "</p></main></body></html>"
    )
    assert "Slack water" in parse_document(page.encode(), content_type="text/html", name="a.html").title
