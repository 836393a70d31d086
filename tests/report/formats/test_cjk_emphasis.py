"""Emphasis beside letters that stand without spaces."""

import pytest
from markdown_it import MarkdownIt

from fathom.report.formats.cjk_emphasis import add_cjk_emphasis
from fathom.report.formats.html import render_notebook


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("비중이 **47%**까지", "비중이 <strong>47%</strong>까지"),
        ("*약 18.7%*로 늘었다", "<em>약 18.7%</em>로 늘었다"),
        ("**(LFP)**가", "<strong>(LFP)</strong>가"),
        ('**"양산"**의', "<strong>&quot;양산&quot;</strong>의"),
        ("리튬**(Li)**은", "리튬<strong>(Li)</strong>은"),
        ("**조력 발전**은", "<strong>조력 발전</strong>은"),
        ("가격은 **$5**였다", "가격은 <strong>$5</strong>였다"),
        ("***“매우” 중요***하다", "<em><strong>“매우” 중요</strong></em>하다"),
        ("这是**“重点”**内容", "这是<strong>“重点”</strong>内容"),
        ("값은 3 * 4 * 5이다", "값은 3 * 4 * 5이다"),
    ],
)
def test_korean_emphasis_is_seen(text: str, shown: str) -> None:
    assert add_cjk_emphasis(MarkdownIt()).render(text) == f"<p>{shown}</p>\n"
    assert f"<p>{shown}</p>" in render_notebook(text, "")


@pytest.mark.parametrize(
    "text",
    [
        "a **bold** word",
        "2 * 3 * 4",
        "un*frigging*believable",
        "**not(bold)**here",
        "snake_case_name and _this_",
        "***both***",
        "* a\n* list",
        "`**code**` \\**literal\\**",
        "**open",
    ],
)
def test_other_text_is_read_as_before(text: str) -> None:
    assert add_cjk_emphasis(MarkdownIt()).render(text) == MarkdownIt().render(text)
