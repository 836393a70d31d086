"""Whatever the evidence, a prompt fits its window; instructions and the question are never cut."""

import pytest
from fakes import claim, gap, hit, points, query, question, section, section_brief, sentence
from hypothesis import given, settings
from hypothesis import strategies as st

from fathom.llm import drafting, planned
from fathom.llm.keys import keyed
from fathom.llm.pairing import shown
from fathom.llm.planned import listed
from fathom.llm.port import Brief, CheckBrief, EditBrief, Revision
from fathom.llm.sheets import NONE, Lines, Passages, Sheet, TooSmall
from fathom.llm.window import Window
from fathom.prompts import load
from fathom.report.drafts import CheckItem
from fathom.report.material import SourceText
from fathom.text.fitting import cut_to
from fathom.text.tokencount import token_count, worst_tokens

QUESTION = "How do tidal barrages compare with offshore wind?"
TEXTS = {
    "prose": "The barrage was opened in the spring, and engineers measured the silt behind it. " * 20,
    "korean": "조력 발전소는 밀물 때 바닷물을 가두었다가 썰물 때 내보내며 전기를 만든다.\n\n" * 20,
    "emoji": "👩‍🚀🇰🇷🔥" * 100,
    "rule": "-" * 2_000,
    "garbage": "x7Qz9_kV" * 200,
    "long": "Silt gathers behind every dam. " * 300,
    "short": "One.",
    "nothing": "",
}
WINDOWS = st.sampled_from([2_048, 3_000, 4_096, 8_192, 16_384, 32_768, 131_072])


def sheets(texts: list[str]) -> list[Sheet]:
    """Every role's prompt over the same evidence."""
    said = [text or "x" for text in texts]
    claims = [claim(text, name=f"c{n}", of=f"{text} ") for n, text in enumerate(said)]
    by_key = keyed(points(*claims))
    asked = listed(f"Q{n}: {text}" for n, text in enumerate(texts))
    lines = listed(texts, weight=4)
    common = {"question": QUESTION, "language": "English"}
    brief = Brief(
        QUESTION, 2, 5, [question(1)], [query(text) for text in said], [gap()], claims,
        [hit(f"https://a.example/{n}") for n in range(4)], outlines=texts, memory=texts,
    )  # fmt: skip
    failed = [sentence(text) for text in said]
    items = [CheckItem(text, "fact", [c.id]) for text, c in zip(said, claims, strict=False)]
    sources = [SourceText("", "T", passages=text) for text in texts]
    pairs = shown(list(zip(claims, claims, strict=True)))
    return [
        planned.sheet_of(brief, "English"),
        Sheet(
            "reader",
            {**common, "facts": "Title: T", "sought": "nothing else"},
            {"questions": asked, "passages": Passages("\n\n".join(texts), [QUESTION], 3_500)},
        ),
        Sheet("verifier", {}, {"evidence": Lines(texts, between="\n\n")}),
        Sheet("retry", {"language": "English"}, {"refused": Lines(texts, between="\n\n")}),
        Sheet(
            "judge",
            {**common, "kind": "survey", "limits": "1 round", "today": "2026-11-18"},
            {
                "questions": asked,
                "pairs": pairs,
                **dict.fromkeys(
                    ("claims", "sources", "rejected", "checks", "hypotheses", "outline", "gaps"), lines
                ),
            },
        ),
        Sheet("outline", common, {"questions": asked, "claims": lines}),
        drafting.write_sheet(
            section_brief(*by_key.values(), sources=sources, question=QUESTION), by_key, "English"
        ),
        drafting.check_sheet("checker", CheckBrief(items, claims, {}), items),
        drafting.check_sheet("refuter", CheckBrief(items, claims, {}), items),
        drafting.rewrite_sheet(Revision(QUESTION, failed, [], sources), failed, by_key, "English"),
        drafting.edit_sheet(EditBrief(QUESTION, "T", [section(*failed)]), "English"),
    ]


@settings(max_examples=12, deadline=None)
@given(st.lists(st.sampled_from(sorted(TEXTS)), min_size=1, max_size=4), st.text(max_size=200), WINDOWS)
def test_every_roles_prompt_and_its_answer_fit_whatever_the_evidence(
    names: list[str], other: str, size: int
) -> None:
    window = Window(size)
    for sheet in sheets([*(TEXTS[name] for name in names), other]):
        fitted = sheet.within(window.room(), window.count)
        prompt = fitted.prompt
        sent = worst_tokens(prompt.system) + worst_tokens(prompt.user)
        assert sent + window.answer() <= size, sheet.name
        bare = load(sheet.name).fill(**sheet.fixed, **dict.fromkeys(sheet.evidence, NONE))
        assert prompt.system == bare.system
        assert "question" not in sheet.fixed or QUESTION in prompt.user


def test_the_guard_bites_where_nothing_is_cut() -> None:
    text = "조력 발전소는 밀물 때 바닷물을 가두었다가 썰물 때 내보낸다.\n\n" * 300
    whole = sheets([text] * 4)[0].whole()
    assert worst_tokens(whole.user) > 4_096


def test_the_least_relevant_goes_first_and_all_that_fits_stays() -> None:
    parts = [f"E{n}: " + "The silt behind the dam is measured twice a year. " * 4 for n in range(40)]
    sheet = Sheet("outline", {"question": QUESTION, "language": "English"}, {
        "questions": listed(["Q1: What?"]), "claims": Lines(parts)})  # fmt: skip
    fitted = sheet.within(1_500, worst_tokens)
    kept = fitted.kept["claims"]
    assert 5 < kept < 40
    assert fitted.cut == ["claims"]
    assert all((part in fitted.prompt.user) == (n < kept) for n, part in enumerate(parts))
    assert "Q1: What?" in fitted.prompt.user
    room = worst_tokens(fitted.prompt.system) + worst_tokens(fitted.prompt.user)
    assert room > 1_200  # what room there is, is used
    assert sheet.within(50_000, worst_tokens).cut == []


def test_of_what_was_asked_before_the_oldest_goes_first() -> None:
    lines = Lines([f"- query {n}" for n in range(50)], is_newest_last=True)
    text, kept = lines.within(60, worst_tokens)
    assert 0 < kept < 50
    assert text.splitlines() == [f"- query {n}" for n in range(50 - kept, 50)]


def test_half_an_ask_is_half_the_evidence() -> None:
    sheet = Sheet("checker", {}, {"sentences": Lines([f"Sentence {n}: It is so." for n in range(40)])})
    kept = sheet.within(50_000, token_count, share=0.5).kept["sentences"]
    assert 15 <= kept <= 21


def test_a_window_that_does_not_hold_the_instructions_is_too_small() -> None:
    with pytest.raises(TooSmall, match="tokens without any evidence"):
        sheets(["One."])[0].within(300, worst_tokens)


@given(st.text(max_size=200), st.integers(0, 120))
def test_the_beginning_of_a_text_fits_whatever_the_room(text: str, room: int) -> None:
    cut = cut_to(text, room, worst_tokens)
    assert text.startswith(cut)
    assert not cut or worst_tokens(cut) <= room
