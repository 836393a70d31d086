"""A report while it is written: its tokens, its drafts, and what a run tells besides."""

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from checks.event_order import find_order_faults
from langchain_core.messages import AIMessage, AIMessageChunk
from standins.documents import TIDES, written
from standins.killable_run import QUESTION, WORKING, Site
from standins.model import Model, ModelRequest
from standins.replies import Reply
from standins.server import Answer, Seen
from standins.tavily import KEY
from standins.working_model import scripted, value

from fathom import DeepResearcher, ResearchRequest
from fathom.events import (
    AnalysisCompleted,
    Checkpoint,
    Completed,
    ContentExtracted,
    Progress,
    ReportChunk,
    ReportDraft,
    ReportSection,
    SearchCompleted,
)
from fathom.graph import build_graph, standard_dependencies
from fathom.llm.clients import model_clients
from fathom.settings import load_settings
from fathom.state import RunConfig

PIECE_S = 0.15
A_SECOND = 5  # drafts, of all parts together


class Typing(Model):
    """A model that types: its streams come piece by piece."""

    def answer_to(self, seen: Seen) -> Answer:
        answer = super().answer_to(seen)
        return replace(answer, pieces=_typed(answer.pieces)) if answer.pieces else answer


def _typed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        time.sleep(PIECE_S)
        yield piece


def in_parts(request: ModelRequest) -> Reply:
    """Write as the stand-in does, each part in blocks of its own."""
    told = {sentence["claims"][0]: sentence for sentence in value(request)["sentences"]}
    entries = re.findall(r"^Part (\w+):(.*?)(?=^Part |^</)", request.user_text, re.MULTILINE | re.DOTALL)
    blocks = [
        {"part": part, "sentences": [told[key] for key in re.findall(r"^(E\d+):", text, re.MULTILINE)]}
        for part, text in entries
    ]
    return Reply.give({"blocks": blocks})


async def told(tmp_path: Path, model: Model, **words: Any) -> list[Progress]:
    settings = load_settings(home=tmp_path, base_url=model.base_url)
    docs = written(tmp_path / "docs", TIDES)
    request = ResearchRequest(query=QUESTION, docs=[docs], model="stand-in", **words)
    researcher = DeepResearcher(settings, out=tmp_path / "out")
    return [event async for event in researcher.stream(request)]


async def test_a_part_is_told_while_it_is_written_and_kept_once_it_is_whole(tmp_path: Path) -> None:
    with Typing(scripted(write=in_parts)) as model:
        events = await told(tmp_path, model, max_rounds=1)
        streamed = [request.schema_name for request in model.requests if request.is_streaming]
    assert {*streamed} <= {"WriteAnswer", "RewriteAnswer", "EditAnswer"}
    assert {"WriteAnswer", "EditAnswer"} <= {*streamed}
    assert find_order_faults(events) == []
    drafts = [(e.elapsed_s, e.payload) for e in events if isinstance(e.payload, ReportDraft)]
    whole = {draft.title: draft.text for _, draft in drafts if draft.is_whole}
    growing = [(at, draft) for at, draft in drafts if not draft.is_whole]
    assert len({draft.text for _, draft in growing}) > 2
    assert {draft.title for _, draft in growing} & whole.keys()
    assert {draft.title for _, draft in growing} <= {*whole, "Summary"}
    for title, text in whole.items():
        texts = [draft.text for _, draft in growing if draft.title == title]
        assert all(later.startswith(earlier) for earlier, later in pairwise([*texts, text]))
    assert all(later - earlier >= 1 / A_SECOND for (earlier, _), (later, _) in pairwise(growing))
    (journal,) = (tmp_path / "out").rglob("events.jsonl")
    lines = [Progress.model_validate_json(line) for line in journal.read_text().splitlines()]
    assert [one.payload.text for one in lines if isinstance(one.payload, ReportDraft)] == [*whole.values()]


def with_a_fault_at_the_end(request: ModelRequest) -> Reply:
    """Write in parts, the last of which has a sentence that must be written again."""
    given: Any = in_parts(request).value
    blocks = given["blocks"]
    first, *others = blocks[-1]["sentences"]
    wrong = {**first, "text": "Tidal power costs 7777 euros."}
    return Reply.give({"blocks": [*blocks[:-1], {**blocks[-1], "sentences": [wrong, *others]}]})


async def test_a_part_is_told_as_it_settles_while_another_is_written_again(tmp_path: Path) -> None:
    with Typing(scripted(write=with_a_fault_at_the_end)) as model:
        events = await told(tmp_path, model, max_rounds=1)
        assert "RewriteAnswer" in [request.schema_name for request in model.requests]
    assert find_order_faults(events) == []
    chunks = [(e.elapsed_s, e.payload.text) for e in events if isinstance(e.payload, ReportChunk)]
    (known_at, known), (against_at, against), (summary_at, _) = chunks
    assert against_at - known_at >= PIECE_S
    assert summary_at - against_at >= PIECE_S
    sections = [e.payload.title for e in events if isinstance(e.payload, ReportSection)]
    assert sections == ["What is known", "What speaks against it"]
    assert "7777" not in known + against


async def test_the_messages_of_the_graph_have_the_tokens_of_what_is_written(tmp_path: Path) -> None:
    site = Site()
    pieces: dict[str, list[AIMessageChunk]] = {}
    with Model(WORKING) as model:
        engine = {"tavily_api_key": KEY, "tavily_url": site.engine.url, "allow_private": True}
        settings = load_settings(home=tmp_path, base_url=model.base_url, **engine)
        graph = build_graph(standard_dependencies(settings))
        async with model_clients():
            stream: Any = graph.astream(
                {"question": QUESTION},
                context=RunConfig(model="stand-in", rounds=1),
                stream_mode="messages",
                subgraphs=True,
            )
            async for _, (message, about) in stream:
                assert isinstance(message, AIMessage)
                assert about["role"]
                if isinstance(message, AIMessageChunk):
                    pieces.setdefault(about["langgraph_node"], []).append(message)
    site.stop()
    assert {"draft", "edit"} <= pieces.keys() <= {"draft", "edit", "rewrite"}
    assert len(pieces["draft"]) > 3
    assert '"text"' in "".join(piece.text for piece in pieces["draft"])


async def test_a_run_tells_engines_costs_checkpoints_and_its_result(tmp_path: Path) -> None:
    site = Site()
    with Model(WORKING) as model:
        engine = {"tavily_api_key": KEY, "tavily_url": site.engine.url, "allow_private": True}
        settings = load_settings(home=tmp_path, base_url=model.base_url, **engine)
        request = ResearchRequest(query=QUESTION, model="stand-in", max_rounds=2)
        events = [event async for event in DeepResearcher(settings).stream(request)]
    site.stop()
    assert find_order_faults(events) == []
    searches = [e.payload for e in events if isinstance(e.payload, SearchCompleted)]
    assert {engine for search in searches for engine in search.engines} == {"tavily"}
    assert all(search.hits > 0 and search.usd > 0 for search in searches)
    kinds = [e.kind for e in events]
    rounds = [e.round for e in events if e.kind == "round completed"]
    kept = [e for e in events if isinstance(e.payload, Checkpoint)]
    assert [(e.round, e.payload.model_dump()["why"]) for e in kept] == [(n, "round") for n in rounds]
    assert rounds == [1, 2]
    assert kinds.index("checkpoint") == kinds.index("round completed") + 1
    end = events[-1].payload
    assert isinstance(end, Completed)
    assert end.result is not None
    assert end.result.report.startswith("# ")
    assert "result" not in events[-1].model_dump()["payload"]
    read = [n for n, e in enumerate(events) if isinstance(e.payload, ContentExtracted) and e.round == 1]
    verified = [n for n, e in enumerate(events) if isinstance(e.payload, AnalysisCompleted) and e.round == 1]
    assert max(read) < min(verified)
