"""Bodies of chat completions as servers send them, through the client that reads them."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from pydantic import SecretStr

from fathom.llm.call_cost import TokenUsage
from fathom.llm.errors import MalformedAnswer
from fathom.llm.openai_compatible import CompatibleChatOpenAI, normalize_completion

COUNTED = {"prompt_tokens": 50, "completion_tokens": 20, "total_tokens": 70}
WORST = TokenUsage(900, 400)


def answered(message: object, usage: object = COUNTED) -> AIMessage:
    """What the client makes of a body with this message."""
    client = CompatibleChatOpenAI(model="m", base_url="http://127.0.0.1:9/v1", api_key=SecretStr("none"))
    body: Any = {"choices": [{"index": 0, "finish_reason": "stop", "message": message}], "usage": usage}
    found = client._create_chat_result(body).generations[0].message
    assert isinstance(found, AIMessage)
    return found


def called(arguments: object) -> dict[str, Any]:
    call = {"id": "t", "type": "function", "function": {"name": "X", "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"role": "assistant", "content": "Yes."}, "Yes."),
        ({"content": "Yes."}, "Yes."),
        ({"role": None, "content": "Yes."}, "Yes."),
        ({"role": "user", "content": "Yes."}, "Yes."),
        ({"role": "tool", "content": "Yes.", "name": 7, "id": 8, "audio": 9}, "Yes."),
        ({"role": "assistant", "content": {"a": 1}}, '{"a": 1}'),
        (
            {"role": "assistant", "content": [1, None, "Ye", {"type": "text", "text": "s."}, {"text": 3}]},
            "Yes.",
        ),
        ({"role": "assistant", "content": "Yes.", "tool_calls": "no"}, "Yes."),
        ({"role": "assistant", "content": "Yes.", "tool_calls": [1, {}, {"function": 2}]}, "Yes."),
        ({"role": "assistant", "content": "Yes.", "function_call": "no"}, "Yes."),
        ({}, ""),
        (called('[{"a": 1}]'), '[{"a": 1}]'),
        (called([{"a": 1}]), '[{"a": 1}]'),
        (called("in words"), "in words"),
    ],
)
def test_an_answer_is_read_wherever_a_server_put_it(message: object, text: str) -> None:
    assert answered(message).text == text


@pytest.mark.parametrize("arguments", ['{"a": 1}', {"a": 1}, ' {"a": 1}'])
def test_the_arguments_of_a_call_may_be_an_object(arguments: object) -> None:
    assert [call["args"] for call in answered(called(arguments)).tool_calls] == [{"a": 1}]


@pytest.mark.parametrize(
    "body", [None, [1], "x" * 10**6, {}, {"choices": None}, {"choices": [{"message": None}]}, {"error": "no"}]
)
def test_what_is_no_answer_is_said_to_be_none_in_few_words(body: object) -> None:
    with pytest.raises(MalformedAnswer) as caught:
        normalize_completion(body)
    assert len(str(caught.value)) < 200


def test_of_a_word_that_is_too_long_to_be_shown_no_part_is_shown() -> None:
    for before in ("Bad request: ", "Bad request: " + "so " * 20):
        with pytest.raises(MalformedAnswer, match="Bad request") as caught:
            normalize_completion(f"{before}sk-{'a' * 90}")
        assert "sk-" not in str(caught.value)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        "many",
        [1],
        {},
        {"total_tokens": 7},
        {"prompt_tokens": "5", "completion_tokens": "2"},
        {"prompt_tokens": -5, "completion_tokens": 2},
        {"prompt_tokens": 5, "completion_tokens": -2_000_000},
        {"prompt_tokens": 10**30, "completion_tokens": 2},
        {"prompt_tokens": float("nan"), "completion_tokens": 2},
        {"prompt_tokens": float("inf"), "completion_tokens": 2},
        {"prompt_tokens": True, "completion_tokens": True},
        {"prompt_tokens": 0, "completion_tokens": 0},
    ],
)
def test_a_count_that_means_nothing_is_the_worst_case(usage: object) -> None:
    assert TokenUsage.from_message(answered({"content": "Yes."}, usage), WORST) == WORST


@pytest.mark.parametrize(
    ("more", "usage"),
    [
        ({}, TokenUsage(50, 20)),
        ({"prompt_tokens": 49.5}, TokenUsage(50, 20)),
        ({"prompt_tokens_details": {"cached_tokens": 30}}, TokenUsage(50, 20, 30)),
        ({"prompt_tokens_details": {"cached_tokens": 999}}, TokenUsage(50, 20, 50)),
        ({"prompt_tokens_details": {"cached_tokens": -999}}, TokenUsage(50, 20)),
        ({"prompt_tokens_details": {"cached_tokens": "30"}}, TokenUsage(50, 20)),
        ({"prompt_tokens_details": "x", "completion_tokens_details": 7}, TokenUsage(50, 20)),
        ({"completion_tokens": 0}, TokenUsage(50, WORST.tokens_out)),
    ],
)
def test_what_was_counted_counts(more: dict[str, Any], usage: TokenUsage) -> None:
    assert TokenUsage.from_message(answered({"content": "Yes."}, {**COUNTED, **more}), WORST)[:4] == usage[:4]


def test_who_says_less_than_the_words_must_take_is_billed_by_the_words() -> None:
    long = "A sentence that nobody can say in a single token. " * 40
    usage = TokenUsage.from_message(
        answered({"content": long}, {"prompt_tokens": 1, "completion_tokens": 1}), WORST, 300
    )
    assert usage.tokens_in == usage.tokens_out == 1  # as it was said, for what a window is learned from
    assert usage.billed[0] == 300
    assert usage.billed[1] > 100


def test_who_said_nothing_may_have_taken_no_tokens_for_it() -> None:
    said = answered({"content": ""}, {**COUNTED, "completion_tokens": 0})
    assert TokenUsage.from_message(said, WORST) == TokenUsage(50, 0)


def test_a_body_that_was_sent_is_not_changed() -> None:
    body = {"choices": [{"message": called({"a": 1})}], "usage": COUNTED}
    before = json.dumps(body)
    normalize_completion(body)
    assert json.dumps(body) == before
