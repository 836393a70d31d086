"""A quote stands in its page, in the page's own words and at the right place, or it is no quote."""

import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fathom.evidence.grounding import QuoteFinder
from fathom.text.normalization import fold_text

PAGE = """# Tidal power

The Rance plant opened in 1966 and makes 240 megawatts at its peak. It stands on the estuary
of the river — “a working bridge,” as locals say — and carries a road.

Costs fell by 12.5 percent between 2010 and 2020. The gates are serviced every 15 years by divers.

시화호 조력발전소는 2011년에 완공되었다. 설비 용량은 254 메가와트이며 세계에서 가장 크다.
"""


def found(words: str, text: str = PAGE) -> str | None:
    quote = QuoteFinder("ab", text).find(words)
    if quote is None:
        return None
    assert text[quote.start : quote.end] == quote.text
    assert quote.page == "ab"
    return quote.text


@pytest.mark.parametrize(
    ("words", "own"),
    [
        ("makes 240 megawatts at its peak", "makes 240 megawatts at its peak."),
        ("THE RANCE PLANT opened", "The Rance plant opened"),
        ("estuary of the river - \"a working bridge,\"", "estuary\nof the river — “a working bridge,"),
        ("“The Rance plant opened in 1966”", "The Rance plant opened in 1966"),
        ("The Rance plant opened in 1966 …", "The Rance plant opened in 1966"),
        ("시화호 조력발전소는 2011년에 완공되었다", "시화호 조력발전소는 2011년에 완공되었다."),
        (unicodedata.normalize("NFD", "설비 용량은 254 메가와트이며"), "설비 용량은 254 메가와트이며"),
    ],
)  # fmt: skip
def test_the_same_words_in_another_dress_are_found(words: str, own: str) -> None:
    assert found(words) == own


def test_characters_nobody_sees_do_not_hide_a_quote() -> None:
    text = "The tur\u00adbine was\u200b re\u00adbuilt by the har\u00adbour board in spring."
    own = found("turbine was rebuilt by the harbour board", text)
    assert own == "tur\u00adbine was\u200b re\u00adbuilt by the har\u00adbour board"


def test_a_page_in_decomposed_letters_is_quoted_whole() -> None:
    text = unicodedata.normalize(
        "NFD", "그 조력발전소는 각 지역에 전기를 보낸다. Le café près de l'île est fermé."
    )
    assert unicodedata.normalize("NFC", found("café près de l'île est fermé", text) or "") == (
        "café près de l'île est fermé."
    )
    assert unicodedata.normalize("NFC", found("조력발전소는 각 지역에 전기를", text) or "") == (
        "조력발전소는 각 지역에 전기를"
    )


@pytest.mark.parametrize(
    ("words", "own"),
    [
        ("gates are servised every 15 years by the divers", "gates are serviced every 15 years by divers."),
        ("시화호 조력 발전소는 2011년에 완공되었다", "시화호 조력발전소는 2011년에 완공되었다."),
    ],
)  # fmt: skip
def test_a_near_copy_is_stored_in_the_pages_own_words(words: str, own: str) -> None:
    assert found(words) == own


@pytest.mark.parametrize(
    "words",
    [
        "The Rance plant opened in 1967 and makes 240 megawatts at its peak",
        "The Rance plant opened in 1966 and makes 2400 megawatts at its peak",
        "설비 용량은 255 메가와트이며 세계에서 가장 크다",
        "5 percent between 2010 and 2020",
        "The gates are serviced every 1",
        "6 and makes 240 megawatts at its peak",
        "Costs fell by 12",
        "Costs fell by 12.5 percent between 2010 and 202",
    ],
)
def test_a_quote_with_another_number_is_another_quote(words: str) -> None:
    assert found(words) is None


def test_a_number_that_is_cut_in_one_place_may_stand_whole_in_another() -> None:
    text = "Of the rest, 15 people liked it. In the end 5 people liked it."
    assert found("5 people liked it", text) == "5 people liked it."
    quote = QuoteFinder("ab", text).find("5 people liked it")
    assert quote is not None
    assert quote.start == text.rindex("5 people")


@pytest.mark.parametrize(
    "words",
    [
        "The Rance plant opened in 1966 and the gates are serviced every 15 years by divers",
        "The Rance plant opened in 1966 ... Costs fell by 12.5 percent between 2010 and 2020",
        "Solar farms in the desert made more power than anybody expected that year",
        "peak",
        "“peak.”",
        "",
        "        ",
        "........",
    ],
)
def test_what_is_spliced_too_short_or_not_there_is_no_quote(words: str) -> None:
    assert found(words) is None


@pytest.mark.parametrize(
    ("words", "full"),
    [
        ("makes 240 megawatts", "The Rance plant opened in 1966 and makes 240 megawatts at its peak."),
        ("serviced every 15 years", "The gates are serviced every 15 years by divers."),
        (
            "Costs fell by 12.5 percent between 2010 and 2020.",
            "Costs fell by 12.5 percent between 2010 and 2020.",
        ),
        ("설비 용량은 254 메가와트", "설비 용량은 254 메가와트이며 세계에서 가장 크다."),
    ],
)
def test_a_quote_is_kept_with_the_rest_of_its_sentence(words: str, full: str) -> None:
    page = QuoteFinder("ab", PAGE)
    quote = page.find(words)
    assert quote is not None
    whole = page.extend_to_sentence(quote)
    assert whole.text == full == PAGE[whole.start : whole.end]


def test_a_whole_page_is_not_a_quote() -> None:
    assert found("word " * 2000, "word " * 2500) is None
    assert found("Word " * 400, "word " * 500) is None


def test_a_long_list_is_a_quote_only_as_it_stands() -> None:
    page = "\n".join(f"- item {n} of a long list" for n in range(100))
    assert found(page, page) == page
    assert found(page.replace("\n", " "), page) is None


def test_nothing_stands_in_an_empty_page() -> None:
    assert found("The Rance plant opened", "") is None


letters = st.text(
    alphabet=st.sampled_from("abcdefgh ABCD \n\t éüﬁ—“”’조력발전소는\u00ad\u200b,;()"),
    min_size=30,
    max_size=200,
)


@given(letters, st.data())
def test_any_slice_of_a_page_is_found_in_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start, len(text)))
    wanted = text[start:end]
    assume(len(fold_text(wanted.strip().strip("\"'“”‘’「」")).text) >= 8)
    own = found(wanted, text)
    assert own is not None
    assert fold_text(own).text == fold_text(wanted.strip().strip("\"'“”‘’「」")).text


def test_a_short_korean_quote_is_found() -> None:
    text = "## 전망\n\n- 인구 규모. 30대 초반 인구는 2027년에 가장 많아진다."
    assert QuoteFinder("s", text).find("- 인구 규모.") is not None
    assert QuoteFinder("s", text).find("인구") is None
