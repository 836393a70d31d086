"""Whatever the evidence, a prompt fits its window; instructions and the question are never cut."""

import pytest
from fakes.records import claim, gap, hit, points, query, question, section, section_brief, sentence
from hypothesis import given, settings
from hypothesis import strategies as st

from fathom.llm.context_window import ContextWindow
from fathom.llm.prompt_budget import (
    NONE,
    PromptBudget,
    PromptLines,
    PromptPassages,
    WindowTooSmall,
    list_lines,
)
from fathom.llm.roles import planner, writer
from fathom.llm.roles.evidence import checker_prompt
from fathom.llm.roles.writer import key_points
from fathom.prompts import load_prompt
from fathom.report.sentence_checks import CheckInput
from fathom.state.model_io import EditInput, PlanInput, RewriteInput, SentenceToCheck, SourceText
from fathom.text.token_count import count_tokens, count_tokens_at_worst, truncate_to_tokens

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
# In a smaller window an author has no room for evidence: `WindowTooSmall`, and the run goes on without it.
WINDOWS = st.sampled_from([3_000, 4_096, 8_192, 16_384, 32_768, 131_072])


def sheets(texts: list[str]) -> list[PromptBudget]:
    """Every role's prompt over the same evidence."""
    said = [text or "x" for text in texts]
    claims = [claim(text, name=f"c{n}", of=f"{text} ") for n, text in enumerate(said)]
    by_key = key_points(points(*claims))
    asked = list_lines(f"Q{n}: {text}" for n, text in enumerate(texts))
    lines = list_lines(texts, weight=4)
    common = {"question": QUESTION, "language": "English"}
    brief = PlanInput(
        QUESTION, 2, 5, [question(1)], [query(text) for text in said], [gap()], claims,
        [hit(f"https://a.example/{n}") for n in range(4)], outlines=texts, memory=texts,
    )  # fmt: skip
    failed = [sentence(text) for text in said]
    items = [SentenceToCheck(text, "fact", [c.id]) for text, c in zip(said, claims, strict=False)]
    sources = [SourceText("", "T", passages=text) for text in texts]
    writing = section_brief(*by_key.values(), sources=sources, question=QUESTION)
    return [
        planner.build_prompt(brief, "English"),
        PromptBudget(
            "reader",
            {**common, "facts": "Title: T", "sought": "nothing else"},
            {"questions": asked, "passages": PromptPassages("\n\n".join(texts), [QUESTION], 3_500)},
        ),
        PromptBudget("verifier", {}, {"evidence": PromptLines(texts, between="\n\n")}),
        PromptBudget("retry", {"language": "English"}, {"refused": PromptLines(texts, between="\n\n")}),
        PromptBudget(
            "judge",
            {**common, "kind": "survey", "limits": "1 round", "today": "2026-11-18"},
            {
                "questions": asked,
                **dict.fromkeys(
                    ("claims", "sources", "rejected", "checks", "hypotheses", "outline", "gaps"), lines
                ),
            },
        ),
        PromptBudget("outline", common, {"questions": asked, "claims": lines}),
        writer.writer_prompt(writing, writing.headings, by_key, "English"),
        checker_prompt("checker", CheckInput(items, claims, {}), items),
        checker_prompt("refuter", CheckInput(items, claims, {}), items, language="English"),
        writer.rewriter_prompt(RewriteInput(QUESTION, failed, [], sources), failed, by_key, "English"),
        writer.editor_prompt(EditInput(QUESTION, "T", [section(*failed)]), "English"),
    ]


@settings(max_examples=12, deadline=None)
@given(st.lists(st.sampled_from(sorted(TEXTS)), min_size=1, max_size=4), st.text(max_size=200), WINDOWS)
def test_every_roles_prompt_and_its_answer_fit_whatever_the_evidence(
    names: list[str], other: str, size: int
) -> None:
    window = ContextWindow(size)
    for prompt_budget in sheets([*(TEXTS[name] for name in names), other]):
        fitted = prompt_budget.fit_prompt(window.prompt_tokens(), window.count)
        prompt = fitted.prompt
        sent = count_tokens_at_worst(prompt.system) + count_tokens_at_worst(prompt.user)
        assert sent + window.answer_tokens() <= size, prompt_budget.name
        bare = load_prompt(prompt_budget.name).fill(
            **prompt_budget.fixed, **dict.fromkeys(prompt_budget.evidence, NONE)
        )
        assert prompt.system == bare.system
        assert "question" not in prompt_budget.fixed or QUESTION in prompt.user


def test_the_guard_bites_where_nothing_is_cut() -> None:
    text = "조력 발전소는 밀물 때 바닷물을 가두었다가 썰물 때 내보낸다.\n\n" * 300
    whole = sheets([text] * 4)[0].fill()
    assert count_tokens_at_worst(whole.user) > 4_096


def test_the_least_relevant_goes_first_and_all_that_fits_stays() -> None:
    parts = [f"E{n}: " + "The silt behind the dam is measured twice a year. " * 4 for n in range(40)]
    prompt_budget = PromptBudget("outline", {"question": QUESTION, "language": "English"}, {
        "questions": list_lines(["Q1: What?"]), "claims": PromptLines(parts)})  # fmt: skip
    fitted = prompt_budget.fit_prompt(1_500, count_tokens_at_worst)
    kept = fitted.kept["claims"]
    assert 5 < kept < 40
    assert fitted.cut == ["claims"]
    assert all((part in fitted.prompt.user) == (n < kept) for n, part in enumerate(parts))
    assert "Q1: What?" in fitted.prompt.user
    room = count_tokens_at_worst(fitted.prompt.system) + count_tokens_at_worst(fitted.prompt.user)
    assert room > 1_200  # what room there is, is used
    assert prompt_budget.fit_prompt(50_000, count_tokens_at_worst).cut == []


def test_of_what_was_asked_before_the_oldest_goes_first() -> None:
    lines = PromptLines([f"- query {n}" for n in range(50)], is_newest_last=True)
    text, kept = lines.cut_to_room(60, count_tokens_at_worst)
    assert 0 < kept < 50
    assert text.splitlines() == [f"- query {n}" for n in range(50 - kept, 50)]


def test_half_an_ask_is_half_the_evidence() -> None:
    prompt_budget = PromptBudget(
        "checker", {}, {"sentences": PromptLines([f"Sentence {n}: It is so." for n in range(40)])}
    )
    kept = prompt_budget.fit_prompt(50_000, count_tokens, share=0.5).kept["sentences"]
    assert 15 <= kept <= 21


def test_a_window_that_does_not_hold_the_instructions_is_too_small() -> None:
    with pytest.raises(WindowTooSmall, match="tokens without any evidence"):
        sheets(["One."])[0].fit_prompt(300, count_tokens_at_worst)


@given(st.text(max_size=200), st.integers(0, 120))
def test_the_beginning_of_a_text_fits_whatever_the_room(text: str, room: int) -> None:
    cut = truncate_to_tokens(text, room, count_tokens_at_worst)
    assert text.startswith(cut)
    assert not cut or count_tokens_at_worst(cut) <= room
