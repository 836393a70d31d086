"""Whatever the evidence, a prompt fits its window; instructions and the question are never cut."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from fakes.records import claim, gap, hit, points, query, question, section, section_brief, sentence
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from standins.server import Answer, Seen, StandIn, closed_port, json_answer

from fathom.llm.errors import is_overflow, read_window_size
from fathom.llm.factory import find_window
from fathom.llm.prompt_budget import (
    NONE,
    UNKNOWN_WINDOW_TOKENS,
    ContextWindow,
    PromptBudget,
    PromptLines,
    PromptPassages,
    WindowTooSmall,
    list_lines,
)
from fathom.llm.roles import planner, writer
from fathom.llm.roles.evidence import checker_prompt
from fathom.llm.roles.writer import key_points
from fathom.llm.servers import ask_server_window
from fathom.prompts import load_prompt
from fathom.report.sentence_checks import CheckInput
from fathom.state.model_io import EditInput, PlanInput, RewriteInput, SentenceToCheck, SourceText
from fathom.text.token_count import count_tokens, count_tokens_at_worst, measure_tokens, truncate_to_tokens

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


pytestmark = pytest.mark.wire

PROSE = "The barrage was opened in the spring, and engineers have measured the silt behind it. " * 40
KOREAN = "조력 발전소는 밀물 때 바닷물을 가두었다가 썰물 때 내보내며 전기를 만든다. " * 40


class Server(StandIn):
    """Answers by path; what it was not given is not there."""

    def __init__(self, pages: Mapping[str, Any]) -> None:
        super().__init__()
        self.pages = pages

    def answer_to(self, seen: Seen) -> Answer:
        found = self.pages.get(seen.route)
        return json_answer(found) if found is not None else json_answer({"error": "none"}, 404)


def listing(**about: object) -> dict[str, object]:
    return {"object": "list", "data": [{"id": "m", "object": "model", **about}, {"id": "other"}]}


@pytest.mark.parametrize(
    ("pages", "size"),
    [
        ({"/v1/models": listing(owned_by="vllm", max_model_len=4096)}, 4096),
        ({"/v1/models": listing(context_length=131072)}, 131072),
        ({"/v1/models": listing(context_window=8192)}, 8192),
        ({"/v1/models": listing(), "/api/v0/models": listing(loaded_context_length=4096)}, 4096),
        (
            {
                "/v1/models": listing(owned_by="llamacpp", meta={"n_ctx": 16384, "n_ctx_train": 32768}),
                "/props": {"default_generation_settings": {"n_ctx": 4096}},
            },
            4096,
        ),
        ({"/v1/models": listing(owned_by="llamacpp", meta={"n_ctx_train": 2048})}, 2048),
        (
            {
                "/v1/models": listing(owned_by="library"),
                "/api/ps": {"models": [{"name": "m", "context_length": 8192}]},
            },
            8192,
        ),
        (
            {
                "/v1/models": listing(owned_by="library"),
                "/api/ps": {"models": []},
                "/api/show": {"parameters": 'stop "x"\nnum_ctx    6000', "model_info": {}},
            },
            6000,
        ),
        (
            {
                "/v1/models": listing(owned_by="library"),
                "/api/show": {"model_info": {"llama.context_length": 131072, "general.name": "m"}},
            },
            4096,  # trained for more, but that is all that Ollama gives it
        ),
        ({"/v1/models": listing(context_length="many")}, None),
        ({"/v1/models": {"data": "none"}}, None),
        ({"/v1/models": [1]}, None),
        ({}, None),
    ],
)
async def test_a_server_is_asked_in_its_own_way(pages: Mapping[str, Any], size: int | None) -> None:
    with Server(pages) as server:
        assert await ask_server_window(f"{server.url}/v1", "m") == size


async def test_the_key_goes_only_where_calls_go_too() -> None:
    key = SecretStr("sk-a-secret-4711")
    with Server({"/v1/models": listing(owned_by="llamacpp")}) as server:
        await ask_server_window(f"{server.url}/v1", "m", key)
        sent = {seen.route: seen.headers.get("authorization") for seen in server.records}
    assert sent == {"/v1/models": "Bearer sk-a-secret-4711", "/props": None}


async def test_a_server_that_is_not_there_says_nothing_and_tables_are_asked() -> None:
    nowhere = f"http://127.0.0.1:{closed_port()}/v1"
    assert await ask_server_window(nowhere, "m") is None
    client = ChatOpenAI(model="gpt-4.1-mini", base_url=nowhere, api_key=SecretStr("none"))
    assert await find_window(client, nowhere, is_asked=True) == 1_047_576
    client = ChatOpenAI(model="deepseek-chat", base_url=nowhere, api_key=SecretStr("none"))
    assert (await find_window(client, nowhere, is_asked=False) or 0) > 30_000
    client = ChatOpenAI(model="nobody-knows-it", base_url=nowhere, api_key=SecretStr("none"))
    assert await find_window(client, nowhere, is_asked=False) is None


async def test_the_size_is_asked_for_once_and_a_knob_beats_it() -> None:
    asked = []

    async def source() -> int:
        asked.append(1)
        return 4_096

    window = ContextWindow(source=source)
    assert [await window.find_size(), await window.find_size()] == [4_096, 4_096]
    assert len(asked) == 1
    assert await ContextWindow(2_048, source=source).find_size() == 2_048
    assert len(asked) == 1
    assert await ContextWindow().find_size() == UNKNOWN_WINDOW_TOKENS


@pytest.mark.parametrize(
    ("size", "answer"), [(1_024, 256), (2_048, 512), (4_096, 1_024), (16_384, 4_096), (131_072, 4_096)]
)
def test_a_small_window_leaves_a_smaller_room_for_the_answer(size: int, answer: int) -> None:
    assert ContextWindow(size).answer_tokens() == answer
    assert ContextWindow(size).prompt_tokens() == size - answer
    assert ContextWindow(size, most_answer=200).answer_tokens() == 200


def test_what_replies_report_replaces_the_worst() -> None:
    window = ContextWindow(8_192)
    assert window.count(PROSE) <= count_tokens_at_worst(PROSE)
    before = window.count(PROSE)
    window.learn(measure_tokens(PROSE), round(0.95 * count_tokens(PROSE)))
    assert 0.95 * count_tokens(PROSE) <= window.count(PROSE) < before
    window.learn(measure_tokens(PROSE), round(1.3 * count_tokens(PROSE)))  # the most that was seen counts
    assert window.count(PROSE) >= 1.3 * count_tokens(PROSE)


def test_other_scripts_are_learnt_apart() -> None:
    window = ContextWindow(8_192)
    window.learn(measure_tokens(KOREAN), 5_000)  # before plain text is known it could be either
    assert window.count(KOREAN) == pytest.approx(count_tokens_at_worst(KOREAN), rel=0.02)
    window.learn(measure_tokens(PROSE), count_tokens(PROSE))
    window.learn(measure_tokens(f"{PROSE}\n{KOREAN}"), count_tokens(PROSE) + 2 * count_tokens(KOREAN))
    assert 2 * count_tokens(KOREAN) * 0.8 <= window.count(KOREAN) < count_tokens_at_worst(KOREAN)
    assert window.count(PROSE) < 1.2 * count_tokens(PROSE)


def test_a_schema_that_may_or_may_not_be_counted_teaches_neither_too_much_nor_too_little() -> None:
    schema = json.dumps({"properties": {f"field{n}": {"type": "string"} for n in range(60)}})
    window = ContextWindow(8_192)
    window.learn(measure_tokens(PROSE), count_tokens(PROSE) + count_tokens(schema), beside=schema)
    assert not window.is_cut(measure_tokens(PROSE), count_tokens(PROSE))


def test_a_server_that_saw_far_less_than_was_sent_is_found_out() -> None:
    window = ContextWindow(8_192)
    sent = PROSE * 6
    assert window.is_cut(measure_tokens(sent), 2_048)
    assert not window.is_cut(measure_tokens(sent), round(0.8 * count_tokens(sent)))
    assert not window.is_cut(measure_tokens(sent), 0)  # nothing was reported
    assert not window.is_cut(measure_tokens("Hello?"), 1)
    window.learn(measure_tokens(PROSE), count_tokens(PROSE))
    assert window.is_cut(
        measure_tokens(sent), round(0.8 * count_tokens(sent))
    )  # known by now to make more of it
    assert not window.is_cut(measure_tokens(sent), round(0.95 * count_tokens(sent)))


def test_a_window_only_gets_smaller_and_never_useless() -> None:
    window = ContextWindow(8_192)
    window.lower(4_096)
    window.lower(6_000)
    assert window.size == 4_095
    window.lower(3)
    assert window.size == 512


REFUSALS = {
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001": 8192,
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (3976": 4096,
    "request (5033 tokens) exceeds the available context size (4096 tokens), try increasing it": 4096,
    "the request exceeds the available context size. try increasing the context size": None,
    "However, the model is loaded with context length of only 4096 tokens": 4096,
    "prompt is too long: 210000 tokens > 200000 maximum": 200000,
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)": 1048576,
    "Prompt contains 40000 tokens, too large for model with 32768 maximum context length": 32768,
    "Please reduce the length of the messages or completion": None,
}


@pytest.mark.parametrize(("words", "size"), REFUSALS.items())
def test_refusals_of_what_is_too_long_are_understood(words: str, size: int | None) -> None:
    assert is_overflow(words)
    assert read_window_size(words) == size


def test_a_code_is_enough() -> None:
    assert is_overflow("", "context_length_exceeded")
    assert is_overflow("", "exceed_context_size_error")


@pytest.mark.parametrize(
    "words",
    ["This response_format type is unavailable now", "Invalid value for temperature", "too long a name"],
)
def test_other_refusals_are_not(words: str) -> None:
    assert not is_overflow(words)
