"""A GGUF file as a chat model in this process: SmolLM2 with 135 million parameters."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError, ModelInvalidRequestError
from langchain_core.messages import AIMessage, AIMessageChunk
from pydantic import BaseModel
from standins.localmodel import missing, weights

from fathom.errors import BadInput
from fathom.llm.answer_parsing import parse_answer
from fathom.llm.gguf import GGUFChatModel, make_gguf_model, shared_engine
from fathom.llm.roles.answer_forms import ReadAnswer

pytestmark = [
    pytest.mark.localmodel,
    pytest.mark.skipif(bool(missing()), reason=missing() or "everything is installed"),
]
HELLO = "Say hello."
STORY = "Tell a very long story about the sea."


def model(**settings: Any) -> GGUFChatModel:
    found = weights()
    assert found is not None
    return make_gguf_model(
        found, **{"n_ctx": 2048, "n_threads": 1, "temperature": 0.0, "seed": 7, **settings}
    )


def beginning(size: int) -> bytes:
    """The first bytes of the file."""
    found = weights()
    assert found is not None
    with found.open("rb") as file:
        return file.read(size)


class Town(BaseModel):
    """A town."""

    name: str
    people: int


async def test_an_answer_has_its_usage_and_its_reason_to_end() -> None:
    answer = await model(max_tokens=8).ainvoke(HELLO)
    assert answer.text
    assert answer.response_metadata["finish_reason"] == "length"
    assert answer.response_metadata["model_name"].endswith(".gguf")
    assert answer.usage_metadata is not None
    assert answer.usage_metadata["output_tokens"] == 8
    assert answer.usage_metadata["input_tokens"] > 8
    assert (await model().ainvoke(HELLO, max_completion_tokens=200)).response_metadata[
        "finish_reason"
    ] == "stop"


def test_it_answers_without_an_event_loop_too() -> None:
    assert model(max_tokens=8).invoke(HELLO).text == "".join(
        c.text for c in model(max_tokens=8).stream(HELLO)
    )


async def test_it_streams_its_tokens() -> None:
    chunks = [chunk async for chunk in model(max_tokens=8).astream(HELLO)]
    assert sum(bool(chunk.text) for chunk in chunks) == 8
    whole = sum(chunks[1:], chunks[0])
    assert isinstance(whole, AIMessageChunk)
    assert whole.usage_metadata is not None
    assert whole.usage_metadata["output_tokens"] == 8


@pytest.mark.parametrize("form", [Town, ReadAnswer])
async def test_a_schema_is_kept_even_by_this_model(form: type[BaseModel]) -> None:
    schema = {"name": form.__name__, "schema": form.model_json_schema(), "strict": True}
    asked = model(max_tokens=256).bind(response_format={"type": "json_schema", "json_schema": schema})
    answer = await asked.ainvoke("Claim: the town Grey Sound has 240 people.")
    if answer.response_metadata["finish_reason"] == "stop":
        form.model_validate_json(answer.text)
    else:
        assert answer.text.lstrip().startswith("{")
        assert isinstance(parse_answer(answer.text + '"', form), form)


async def test_langchains_own_way_to_structured_output_works() -> None:
    assert isinstance(await model().with_structured_output(Town).ainvoke("Name a town."), Town)
    found = await model(max_tokens=2).with_structured_output(Town, include_raw=True).ainvoke("Name a town.")
    assert isinstance(found, dict)
    assert found["raw"].response_metadata["finish_reason"] == "length"
    assert found["parsed"] is None
    assert found["parsing_error"]


async def test_the_window_is_that_of_the_file_and_overflow_is_told_as_langchain_tells_it() -> None:
    profile = model(n_ctx=None).profile
    assert profile is not None
    assert profile["max_input_tokens"] == 8192
    with pytest.raises(ContextOverflowError, match="exceeds the available context size"):
        await model().ainvoke("word " * 3000)


async def test_a_request_that_is_not_understood_is_told_too() -> None:
    with pytest.raises(ModelInvalidRequestError):
        await model().ainvoke(HELLO, response_format={"type": "nonsense"})


async def test_the_event_loop_goes_on_while_the_model_thinks() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    await model(max_tokens=64).ainvoke(STORY)
    ticking.cancel()
    assert ticks > 64


async def test_a_cancelled_call_stops_the_model_and_one_that_waits_never_begins() -> None:
    gguf = model(max_tokens=1500)
    begun: asyncio.Queue[str] = asyncio.Queue()

    async def tell() -> None:
        async for chunk in gguf.astream(STORY):
            begun.put_nowait(chunk.text)

    telling = asyncio.create_task(tell())
    await begun.get()
    waiting = asyncio.create_task(gguf.ainvoke(STORY))
    await asyncio.sleep(0)
    for task in (waiting, telling):
        task.cancel()
    await asyncio.gather(telling, waiting, return_exceptions=True)
    assert telling.cancelled()
    assert waiting.cancelled()
    # The one place is free again: otherwise this would wait for 1,500 tokens.
    answer = await model(max_tokens=4).ainvoke(HELLO)
    assert answer.usage_metadata is not None
    assert answer.usage_metadata["output_tokens"] == 4


async def test_one_file_is_loaded_once_for_all_who_ask() -> None:
    first, second = model(), model(temperature=0.5, max_tokens=4)
    assert shared_engine(first.engine) is shared_engine(second.engine)
    before = threading.active_count()
    answers = await asyncio.gather(*(second.ainvoke(HELLO) for _ in range(4)))
    assert all(isinstance(answer, AIMessage) for answer in answers)
    assert threading.active_count() <= before + 1


LISTENING = """
import json, os, sys
from pathlib import Path
from fathom.llm.gguf import make_gguf_model
model = make_gguf_model(Path(sys.argv[1]), n_ctx=512, n_threads=1, max_tokens=2)
assert model.invoke("Hi").text
places = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
mine = {os.readlink(place) for place in places if os.path.lexists(place)}
inodes = {name[8:-1] for name in mine if name.startswith("socket:")}
tcp = [line.split() for table in ("tcp", "tcp6") for line in open(f"/proc/self/net/{table}")]
unix = [line.split() for line in open("/proc/self/net/unix")]
print(json.dumps({
    "tcp": [row for row in tcp if row[9:10] and row[9] in inodes],
    "unix": [row[7] for row in unix if len(row) > 7 and row[6] in inodes],
}))
"""


@pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="reads Linux's tables of sockets")
def test_nobody_else_can_reach_the_model() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", LISTENING, str(weights())], capture_output=True, text=True, check=True
    )
    found = json.loads(answer.stdout.splitlines()[-1])
    assert found["tcp"] == []
    assert len(found["unix"]) == 1  # llama.cpp listens there; its file is gone, so nobody can connect
    assert not Path(found["unix"][0]).parent.exists()
    assert answer.stderr == ""  # nor does llama.cpp write its log over ours


def test_what_cannot_be_used_is_told_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^There is no model file /.*/none\.gguf\.$"):
        make_gguf_model(tmp_path / "none.gguf")
    (tmp_path / "page.gguf").write_text("<html>")
    with pytest.raises(BadInput, match="is not a GGUF file"):
        make_gguf_model(tmp_path / "page.gguf")
    for size in (10, 100):
        (tmp_path / "cut.gguf").write_bytes(beginning(size))
        with pytest.raises(BadInput, match="header cannot be read"):
            make_gguf_model(tmp_path / "cut.gguf")
    with pytest.raises(BadInput, match="cannot be read"):
        make_gguf_model(tmp_path)


def test_a_file_that_breaks_off_is_told_when_it_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "half.gguf").write_bytes(beginning(4_000_000))
    with pytest.raises(BadInput, match=r"llama\.cpp cannot load the model"):
        make_gguf_model(tmp_path / "half.gguf").invoke(HELLO)


def test_without_the_extra_the_way_to_install_it_is_told() -> None:
    script = (
        "import sys; sys.modules['xllamacpp'] = None\n"
        "from pathlib import Path\nfrom fathom.llm.gguf import make_gguf_model\n"
        "make_gguf_model(Path(sys.argv[1]))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script, str(weights())], capture_output=True, text=True, env={**os.environ}
    )
    assert "pip install 'fathom-research[local]'" in answer.stderr.splitlines()[-1]
