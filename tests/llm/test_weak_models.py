"""Models that think aloud, wrap, stop, repeat themselves or speak another language, each against a server."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes.records import claim, points, section_brief
from pydantic import SecretStr
from standins.model import Model, ModelRequest
from standins.replies import Reply

from fathom.errors import Unreadable
from fathom.llm.answer_parsing import cut_repetition, is_repetitive, parse_answer
from fathom.llm.chat import Chat
from fathom.llm.extractive import ExtractiveModel
from fathom.llm.fallback import FallbackModel
from fathom.llm.llm_model import LLMResearchModel
from fathom.llm.openai_compatible import CompatibleChatOpenAI
from fathom.llm.prompt_budget import UNKNOWN_WINDOW_TOKENS, ContextWindow, PromptBudget, PromptLines
from fathom.llm.roles.answer_forms import CheckAnswer, JudgeAnswer, ReadAnswer, VerifyAnswer, WriteAnswer
from fathom.llm.structured_output import StructuredOutput
from fathom.storage import open_storage
from fathom.storage.content import Replies
from fathom.text.token_count import count_tokens, count_tokens_at_worst

pytestmark = pytest.mark.wire

CLAIM = {
    "question": "Q1",
    "quote": "It makes 240 MW.",
    "statement": "The plant makes 240 MW.",
    "relevance": 0.9,
}
OTHER = {**CLAIM, "quote": "It opened in 1966.", "statement": "The plant opened in 1966."}
GOOD = json.dumps({"claims": [CLAIM]})
SHEET = PromptBudget(
    "checker", {}, {"sentences": PromptLines([f"Sentence {n}: The dam holds." for n in range(40)])}
)


def structured_output(tmp_path: Path, model: Model, window: ContextWindow | None = None) -> StructuredOutput:
    client = CompatibleChatOpenAI(
        model="m", base_url=model.base_url, api_key=SecretStr("none"), max_retries=0
    )
    return StructuredOutput(
        Chat(client, model.base_url, Replies(open_storage(tmp_path / "fathom.sqlite"))),
        window or ContextWindow(8_192),
    )


async def read(tmp_path: Path, answer: Callable[[ModelRequest], Reply]) -> tuple[list[str], list[str]]:
    """The statements that were had from a model, and the strategies it took."""
    with Model(answer) as model:
        found = await structured_output(tmp_path, model).ask("read", SHEET, ReadAnswer)
    return [c.statement for c in found.form.claims], [c.strategy for c in found.costs]


ONE = ["The plant makes 240 MW."]


@pytest.mark.parametrize(
    "said",
    [
        f"<think>Hm, {{not json}}.</think>{GOOD}",
        f"<think>Say {GOOD.replace('240', '999')}?\nNo.</think>\n\n{GOOD}",
        f"I should look. It is {{240}}.</think>{GOOD}",
        f"<reasoning>\n1. Read.\n</reasoning>\n```json\n{GOOD}\n```",
        f"Sure! Here is the JSON you asked for:\n\n{GOOD}\n\nLet me know if you need more.",
        f"```\n{GOOD}\n```",
        f"~~~json\n{GOOD}\n~~~",
        GOOD[:-2] + ",]}",
        GOOD.replace('"', "'"),
        GOOD.replace('"', "“", 1).replace('"', "”", 1),
        re.sub(r'"(\w+)":', r"\1:", GOOD),
        '{"claims": [ // the first\n' + json.dumps(CLAIM) + " /* no more */ ]} # done",
        json.dumps({"claims": [{**CLAIM, "relevance": "high", "page": 7, "note": None}], "source": "x"}),
        json.dumps({"claims": [{**CLAIM, "relevance": "90%"}]}),
        json.dumps({"claims": [{**CLAIM, "relevance": "4/5"}]}),
        GOOD.replace("0.9", "NaN"),
        json.dumps({"Claims": [{k.title(): v for k, v in CLAIM.items()}]}),
        json.dumps([CLAIM]),
        json.dumps(CLAIM),
        json.dumps({"answer": {"claims": [CLAIM]}}),
        json.dumps({"claims": CLAIM}),
        f'{GOOD[:-2]}, {{"question": "Q1", "quote": "It op',
        f"{GOOD}\n{GOOD}",
        f"{GOOD[:-2]}, " + json.dumps({**CLAIM, "statement": "and so on " * 60}),
    ],
)  # fmt: skip
async def test_what_was_meant_is_read_at_the_first_try(tmp_path: Path, said: str) -> None:
    assert await read(tmp_path, lambda _: Reply.say(said)) == (ONE, ["schema"])


async def test_an_object_for_each_entry_is_one_list(tmp_path: Path) -> None:
    said = f"{json.dumps(CLAIM)}\n{json.dumps(OTHER)}"
    assert (await read(tmp_path, lambda _: Reply.say(said)))[0] == [CLAIM["statement"], OTHER["statement"]]
    twice = f'{{"claims": [{json.dumps(CLAIM)}]}}\n{{"claims": [{json.dumps(OTHER)}]}}'
    assert [c.statement for c in parse_answer(twice, ReadAnswer).claims] == [
        CLAIM["statement"],
        OTHER["statement"],
    ]


@pytest.mark.parametrize("reply", [Reply.think(f"So I would say: {GOOD}"), Reply.think("Hm.", GOOD)])
async def test_an_answer_in_the_field_for_thoughts_is_found_there(tmp_path: Path, reply: Reply) -> None:
    assert await read(tmp_path, lambda _: reply) == (ONE, ["schema"])


@pytest.mark.parametrize(
    "nothing",
    [
        Reply.say("null"),
        Reply.say(""),
        Reply.say("{}"),
        Reply.say('{"claims": null}'),
        Reply.say("[]"),
        Reply.refuse(),
        Reply.say("I'm sorry, but I can't help with that."),
        Reply.say("<think>I wonder whether"),
        Reply.think("I wonder whether"),
        Reply.cut('{"clai'),
        Reply.cut("no no no " * 300),
    ],
)
async def test_no_answer_leads_to_the_next_strategy(tmp_path: Path, nothing: Reply) -> None:
    def answer(request: ModelRequest) -> Reply:
        return Reply.say(GOOD) if request.form == "text" else nothing

    assert await read(tmp_path, answer) == (ONE, ["schema", "tool", "words"])


async def test_the_last_rung_asks_for_less_and_every_rung_is_counted(tmp_path: Path) -> None:
    with Model(lambda request: Reply.say("" if "Sentence 39" in request.text else GOOD)) as model:
        found = await structured_output(tmp_path, model).ask("read", SHEET, ReadAnswer)
        asked = [request.user_text.count("Sentence ") for request in model.requests]
    assert Counter(c.strategy for c in found.costs) == {
        "schema": 1, "tool": 1, "words": 1, "repair": 1, "smaller": 1,
    }  # fmt: skip
    assert asked[:4] == [40] * 4
    assert 10 <= asked[4] <= 21
    assert found.kept == {"sentences": asked[4]}


async def test_when_even_less_is_too_much_the_step_is_unreadable_and_paid_for(tmp_path: Path) -> None:
    with Model(lambda _: Reply.say("no")) as model:
        with pytest.raises(Unreadable, match="no usable answer to checker") as caught:
            await structured_output(tmp_path, model).ask("check", SHEET, CheckAnswer)
        assert len(model.calls) == 5
    assert [c.strategy for c in caught.value.costs] == ["schema", "tool", "words", "repair", "smaller"]


async def test_a_rung_that_never_gives_anything_is_passed_over_once_another_does(tmp_path: Path) -> None:
    with Model(lambda request: Reply.say(GOOD if request.form == "text" else "hm")) as model:
        climbing = structured_output(tmp_path, model)
        strategies = []
        for n in range(5):
            prompt_budget = PromptBudget(
                "checker", {}, {"sentences": PromptLines([f"Sentence {n}: It holds."])}
            )
            found = await climbing.ask("read", prompt_budget, ReadAnswer)
            strategies.append([c.strategy for c in found.costs])
    assert strategies == [["schema", "tool", "words"]] * 3 + [["words"]] * 2


async def test_an_answer_without_an_end_costs_what_an_answer_may_cost(tmp_path: Path) -> None:
    with Model(lambda request: Reply.cut("The dam. " * 200)) as model:
        with pytest.raises(Unreadable):
            await structured_output(tmp_path, model, ContextWindow(4_096)).ask("check", SHEET, CheckAnswer)
        assert {request.body["max_completion_tokens"] for request in model.requests} == {1_024}
        assert len(model.calls) == 5
        repair = next(r for r in model.requests if "That cannot be used" in r.user_text)
    assert len(str(repair.messages[-2]["content"])) <= 2_000


def test_what_is_said_for_ever_is_said_once() -> None:
    assert cut_repetition("A dam. " + "It holds. " * 50) == "A dam. It holds. "
    assert cut_repetition("A dam. " + "It holds. " * 50 + "It ho").startswith("A dam. It holds. It ho")
    assert cut_repetition("A dam holds water.") == "A dam holds water."
    assert is_repetitive("the dam and " * 12)
    assert not is_repetitive("A dam holds water, and a dam holds silt. " * 3)


MARKS = {"evidence": "E1", "accuracy": 4, "relevance": 4, "completeness": 4, "consistency": 4, "gaps": []}


@pytest.mark.parametrize(
    ("word", "mark"),
    [
        ("4/5", 4),
        ("3 out of 5", 3),
        ("high", 4),
        ("Low", 1),
        ("5 (good)", 5),
        ("**4**", 4),
        ([2], 2),
        (3.6, 4),
    ],
)
def test_marks_are_read_as_they_are_meant(word: object, mark: int) -> None:
    assert parse_answer(json.dumps({**MARKS, "accuracy": word}), JudgeAnswer).accuracy == mark


def test_yes_and_no_item_names_and_lists_in_words_are_read_too() -> None:
    verdict = {"is_explicit": "Yes", "is_same_scope": "true", "is_not_overstated": "No.", "reason": None}
    said = {"verdicts": {"1": {"item": "Item 3", "score": "8/10", **verdict, "reason": "said"}}}
    (found,) = parse_answer(json.dumps(said), VerifyAnswer).verdicts
    assert (found.item, found.score, found.is_explicit, found.is_not_overstated) == (3, 0.8, True, False)
    written = parse_answer(
        json.dumps({"sentences": [{"text": "It holds.", "claims": "E1, E2"}]}), WriteAnswer
    )
    assert written.blocks[0].sentences[0].claims == ["E1", "E2"]


def writer(tmp_path: Path, model: Model) -> FallbackModel:
    return FallbackModel(LLMResearchModel({"write": structured_output(tmp_path, model)}), ExtractiveModel())


QUESTION = "What does the plant at Grey Sound make in a year?"
FOREIGN = {
    "sentences": [{"text": "그레이 사운드 발전소는 240 메가와트를 만든다고 알려져 있다.", "claims": ["E1"]}]
}
FRENCH = {
    "sentences": [
        {
            "text": "La centrale produit 240 mégawatts pour les habitants de la ville et du port.",
            "claims": ["E1"],
        }
    ]
}
POINT = points(claim("The plant at Grey Sound makes 240 megawatts.", name="c0ffee1"))


@pytest.mark.parametrize("foreign", [FOREIGN, FRENCH], ids=["another script", "the same script"])
async def test_an_answer_in_another_language_is_sent_back_once(
    foreign: dict[str, Any], tmp_path: Path
) -> None:
    asked_for = {"sentences": [{"text": "The plant makes 240 megawatts.", "claims": ["E1"]}]}

    def answer(request: ModelRequest) -> Reply:
        return Reply.give(asked_for if "is not written in" in request.user_text else foreign)

    with Model(answer) as model:
        thought = await writer(tmp_path, model).write(section_brief(*POINT, question=QUESTION))
    assert [s.text for s in thought.value[0].sentences] == ["The plant makes 240 megawatts."]
    assert thought.failures == []


@pytest.mark.parametrize("foreign", [FOREIGN, FRENCH], ids=["another script", "the same script"])
async def test_a_model_that_knows_only_another_language_is_stood_in_for(
    foreign: dict[str, Any], tmp_path: Path
) -> None:
    with Model(lambda _: Reply.give(foreign)) as model:
        thought = await writer(tmp_path, model).write(section_brief(*POINT, question=QUESTION))
    assert "240" in thought.value[0].sentences[0].text
    assert thought.value[0].sentences[0].text != foreign["sentences"][0]["text"]
    assert "not written in" in thought.failures[0].why


@pytest.mark.parametrize("share", [0.05, 0.4])
async def test_a_server_that_counts_only_what_is_new_to_it_is_not_taken_for_one_that_cuts_prompts_off(
    share: float, tmp_path: Path
) -> None:
    def answer(request: ModelRequest) -> Reply:
        usage = {"prompt_tokens": round(share * count_tokens(request.text)), "completion_tokens": 9}
        said = {"message": {"content": json.dumps({"objections": []})}}
        return Reply.garbage(json.dumps({"choices": [said], "usage": usage}).encode())

    prompt_budget = PromptBudget(
        "checker", {}, {"sentences": PromptLines([f"Sentence {n}: The dam holds." for n in range(500)])}
    )
    with Model(answer) as model:
        window = ContextWindow()
        asked = structured_output(tmp_path, model, window)
        answers = [await asked.ask("check", prompt_budget, CheckAnswer) for _ in range(2)]
    told = [failure.why for answer in answers for failure in answer.failures]
    assert all(re.fullmatch(r"The window of m was taken for 2,\d+ tokens\.", why) for why in told)
    assert len(told) == (share > 0.1)  # in the first call, before it was known
    assert window.size == UNKNOWN_WINDOW_TOKENS
    assert window.count("The dam holds. " * 100) == count_tokens_at_worst("The dam holds. " * 100)
