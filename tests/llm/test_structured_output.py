"""A filled form from servers that offer everything, little, or nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel, SecretStr
from standins.model import Form, Model, ModelRequest
from standins.replies import Reply

from fathom.errors import Refused, Unavailable, Unreadable
from fathom.llm.chat import Chat
from fathom.llm.openai_compatible import CompatibleChatOpenAI
from fathom.llm.structured_output import StructuredOutput
from fathom.prompts import FilledPrompt
from fathom.storage import open_storage
from fathom.storage.content import Replies

pytestmark = pytest.mark.wire

PROMPT = FilledPrompt("planner@1", "You name a city.", "Which city has the deepest harbour?")
ROTTERDAM = {"name": "Rotterdam", "depth_m": 24}


class City(BaseModel):
    """A city and how deep its harbour is."""

    name: str
    depth_m: int


def structured_output(tmp_path: Path, model: Model) -> StructuredOutput:
    client = CompatibleChatOpenAI(
        model="stand-in", base_url=model.base_url, api_key=SecretStr("none"), timeout=5, max_retries=0
    )
    return StructuredOutput(Chat(client, model.base_url, Replies(open_storage(tmp_path / "fathom.sqlite"))))


def forms(model: Model) -> list[Form]:
    return [request.form for request in model.requests]


def offering(*known: Form, reply: Reply | None = None) -> Callable[[ModelRequest], Reply]:
    """A server that takes these kinds of requests only."""
    good = reply or Reply.give(ROTTERDAM)
    return lambda request: good if request.form in known else Reply.unsupported_format()


async def test_a_schema_is_asked_for_first_and_is_enough(tmp_path: Path) -> None:
    with Model(offering("json_schema")) as model:
        found = await structured_output(tmp_path, model).ask("plan", PROMPT, City)
        city, costs = found.form, found.costs
        assert forms(model) == ["json_schema"]
        assert model.requests[0].schema_name == "City"
    assert city == City(name="Rotterdam", depth_m=24)
    assert [cost.role for cost in costs] == ["plan"]


async def test_a_server_without_schemas_gets_a_tool_call_and_no_schema_again(tmp_path: Path) -> None:
    with Model(offering("tool")) as model:
        output = structured_output(tmp_path, model)
        found = await output.ask("plan", PROMPT, City)
        city, costs = found.form, found.costs
        assert (city.name, len(costs)) == ("Rotterdam", 1)
        await output.ask("plan", FilledPrompt("planner@1", "You name a city.", "Another one?"), City)
        assert forms(model) == ["json_schema", "tool", "tool"]


async def test_a_server_without_tools_is_asked_in_plain_words(tmp_path: Path) -> None:
    with Model(offering("text")) as model:
        output = structured_output(tmp_path, model)
        assert (await output.ask("plan", PROMPT, City)).form.depth_m == 24
        await output.ask("plan", FilledPrompt("planner@1", "You name a city.", "Another one?"), City)
        assert forms(model) == ["json_schema", "tool", "text", "text"]
        assert '"depth_m"' in model.requests[2].user_text


@pytest.mark.parametrize(
    "words",
    [
        'Sure! Here it is: {"name": "Rotterdam", "depth_m": 24} Anything else?',
        '```json\n{"name": "Rotterdam", "depth_m": 24}\n```',
        'Here:\n```\n{"name": "Rotterdam", "depth_m": 24,}\n```\nDone.',
        '<think>{"name": "Antwerp", "depth_m": 1}? No.</think>{"name": "Rotterdam", "depth_m": 24}',
        'It could be {"name": "Antwerp"}.</think>\n{"name": "Rotterdam", "depth_m": "24"}',
        '{"name": "Rotterdam", "depth_m": 24, "country": "NL"}',
    ],
)
async def test_a_form_is_found_in_what_stands_around_it(tmp_path: Path, words: str) -> None:
    with Model(offering("json_schema", reply=Reply.say(words))) as model:
        found = await structured_output(tmp_path, model).ask("plan", PROMPT, City)
        city = found.form
        assert len(model.calls) == 1
    assert city == City(name="Rotterdam", depth_m=24)


async def test_a_mistake_is_repaired_in_one_turn_that_quotes_it(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Reply:
        is_repair = "That cannot be used" in request.user_text
        return Reply.give(ROTTERDAM) if is_repair else Reply.give({"name": "Rotterdam", "depth_m": "very"})

    with Model(answer) as model:
        found = await structured_output(tmp_path, model).ask("plan", PROMPT, City)
        city, costs = found.form, found.costs
        assert forms(model) == ["json_schema", "tool", "text", "text"]
        repair = model.requests[-1]
    assert city.depth_m == 24
    assert len(costs) == 4
    assert "depth_m" in repair.messages[-1]["content"]
    assert "valid integer" in repair.messages[-1]["content"]
    assert repair.messages[-2]["role"] == "assistant"
    assert "very" in repair.messages[-2]["content"]


@pytest.mark.parametrize("reply", [Reply.say("I do not know."), Reply.say(""), Reply.refuse()])
async def test_nonsense_on_every_rung_ends_after_one_repair_and_all_of_it_is_charged(
    tmp_path: Path, reply: Reply
) -> None:
    with Model(lambda _: reply) as model:
        with pytest.raises(Unreadable, match="no usable answer to planner@1") as caught:
            await structured_output(tmp_path, model).ask("plan", PROMPT, City)
        assert forms(model) == ["json_schema", "tool", "text", "text"]
    assert len({cost.key for cost in caught.value.costs}) == 4


async def test_a_tool_call_that_cannot_be_read_is_followed_by_plain_words(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Reply:
        said = {"text": Reply.give(ROTTERDAM), "tool": Reply.give("no idea")}
        return said.get(request.form, Reply.say("Hm."))

    with Model(answer) as model:
        found = await structured_output(tmp_path, model).ask("plan", PROMPT, City)
        city = found.form
        assert forms(model) == ["json_schema", "tool", "text"]
    assert city.name == "Rotterdam"


async def test_what_was_paid_before_a_failure_is_kept(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Reply:
        return Reply.say("Hm.") if request.number == 0 else Reply.broken()

    with Model(answer) as model, pytest.raises(Unavailable) as caught:
        await structured_output(tmp_path, model).ask("plan", PROMPT, City)
    assert len(caught.value.costs) == 1


async def test_a_refusal_of_the_key_ends_the_climb(tmp_path: Path) -> None:
    with Model(lambda _: Reply.wrong_key()) as model:
        with pytest.raises(Refused) as caught:
            await structured_output(tmp_path, model).ask("plan", PROMPT, City)
        assert len(model.calls) == 1
    assert caught.value.costs == []


async def test_a_server_that_takes_nothing_is_told_as_it_is(tmp_path: Path) -> None:
    refusing = Model(lambda _: Reply.unsupported_format())
    with refusing as model, pytest.raises(Unreadable, match="did not take the request"):
        await structured_output(tmp_path, model).ask("plan", PROMPT, City)


async def test_a_question_that_is_too_long_does_not_cost_the_server_its_strategies(tmp_path: Path) -> None:
    """A 400 for what was asked says nothing about how it was asked."""

    def answer(request: ModelRequest) -> Reply:
        return Reply.too_long() if "endless" in request.user_text else Reply.give(ROTTERDAM)

    with Model(answer) as model:
        output = structured_output(tmp_path, model)
        with pytest.raises(Unreadable, match="context length"):
            await output.ask("plan", FilledPrompt("planner@1", "You name a city.", "endless"), City)
        sent = len(model.calls)
        found = await output.ask("plan", PROMPT, City)
        city = found.form
        assert forms(model)[sent:] == ["json_schema"]
    assert city.name == "Rotterdam"


async def test_a_second_ask_sends_nothing_and_charges_the_same(tmp_path: Path) -> None:
    with Model(offering("json_schema")) as model:
        first = await structured_output(tmp_path, model).ask("plan", PROMPT, City)
        again = await structured_output(tmp_path, model).ask("plan", PROMPT, City)
        assert len(model.calls) == 1
    assert again == first
