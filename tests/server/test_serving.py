"""What `langgraph dev` serves: the forms, a run from question to report, and clear refusals."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk.client import SyncLangGraphClient
from standins.devserver import ROOT, DevServer
from standins.documents import DOCUMENTS, QUESTION

from fathom.state import Claim, Report

pytestmark = pytest.mark.server
Record = dict[str, Any]


def answered(client: SyncLangGraphClient, given: object, context: Record | None = None) -> Record:
    """The state at the end of a run on a new thread, or the server's words when it failed."""
    thread = client.threads.create()
    words: Any = {"input": given, "context": context, "raise_error": False}
    state = client.runs.wait(thread["thread_id"], "research", **words)
    assert isinstance(state, dict)
    return state


def refusal(client: SyncLangGraphClient, given: object, context: Record | None = None) -> str:
    """What the server says to a run that must not start."""
    try:
        state = answered(client, given, context)
    except httpx.HTTPStatusError as error:  # refused before there was a run
        assert error.response.status_code == httpx.codes.UNPROCESSABLE_ENTITY
        return str(error.response.json()["detail"])
    assert "report" not in state
    return str(state["__error__"]["message"])


def test_the_configuration_is_valid() -> None:
    words = [sys.executable, "-m", "langgraph_cli", "validate", "--config", str(ROOT / "langgraph.json")]
    told = subprocess.run(words, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert "2 graphs found" in told.stdout


def test_an_image_can_be_built_from_the_configuration(tmp_path: Path) -> None:
    """`langgraph build` makes this file and hands it to Docker."""
    words = [sys.executable, "-m", "langgraph_cli", "dockerfile", "--config", str(ROOT / "langgraph.json")]
    told = subprocess.run([*words, str(tmp_path / "Dockerfile")], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    made = (tmp_path / "Dockerfile").read_text()
    assert "fathom.integrations.chat:graph" in made
    assert "fathom.graph.research:graph" in made


def test_the_knobs_are_a_form_with_words_and_limits(client: SyncLangGraphClient) -> None:
    assistant = client.assistants.search(graph_id="research")[0]
    schemas = client.assistants.get_schemas(assistant["assistant_id"])
    form = schemas["context_schema"]
    assert form is not None
    assert all(field["description"] for field in form["properties"].values())
    assert form["properties"]["depth"]["enum"] == ["quick", "standard", "comprehensive"]
    # Empty is an answer too: then the depth and the question say how many.
    assert form["properties"]["sources"]["anyOf"][0] == {"type": "integer", "minimum": 1, "maximum": 100}
    # A name is in words, with its unit, and a value has its limits.
    assert form["properties"]["budget_usd"]["title"] == "Budget (USD)"
    assert form["properties"]["source_language"]["title"] == "Source language"
    assert (form["properties"]["threshold"]["minimum"], form["properties"]["threshold"]["maximum"]) == (0, 1)
    assert form["properties"]["review"]["enum"] == ["off", "plan", "rounds"]
    asked = schemas["input_schema"]
    assert asked is not None
    assert list(asked["properties"]) == ["question"]
    assert asked["required"] == ["question"]
    assert asked["properties"]["question"]["maxLength"] == 2000


@pytest.mark.parametrize("strategy", ["rollouts", "tree"])
def test_branches_run_on_the_server_too(client: SyncLangGraphClient, shelf: Path, strategy: str) -> None:
    context = {"docs": [str(shelf)], "strategy": strategy, "branches": 2, "levels": 1}
    state = answered(client, {"question": QUESTION}, context)
    assert Report.model_validate(state["report"]).citations
    assert {one["status"] for one in state["directions"]} <= {"explored", "empty", "open"}
    assert len(set(state["visited"])) == len(state["visited"]) == len(state["pages"])


def test_a_run_over_a_folder_ends_with_a_report(client: SyncLangGraphClient, shelf: Path) -> None:
    state = answered(client, {"question": QUESTION}, {"docs": [str(shelf)], "rounds": 1})
    report = Report.model_validate(state["report"])
    assert report.status == "extracts"
    assert report.citations
    claims = [Claim.model_validate(claim) for claim in state["claims"]]
    quoted = [quote.text for claim in claims for quote in claim.quotes]
    assert quoted
    assert all(any(text in document for document in DOCUMENTS.values()) for text in quoted)
    assert sum(cost["usd"] for cost in state["costs"]) == 0


def test_updates_are_streamed_while_the_run_works(client: SyncLangGraphClient, shelf: Path) -> None:
    context: Record = {"docs": [str(shelf)], "rounds": 1}
    parts = client.runs.stream(
        client.threads.create()["thread_id"],
        "research",
        input={"question": QUESTION},
        context=context,
        stream_mode="updates",
    )
    nodes = [node for part in parts if part.event == "updates" for node in part.data]
    assert nodes[:3] == ["intake", "planner", "review"]
    assert nodes[-2:] == ["judge", "writer"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "The question is empty."),
        ({"question": "   "}, "The question is empty."),
        ({"question": 5}, "The question is empty."),
        ({"question": "x" * 2001}, "The question is longer than 2000 characters."),
    ],
)
def test_a_run_without_a_question_is_refused(
    client: SyncLangGraphClient, shelf: Path, given: Record, sentence: str
) -> None:
    assert refusal(client, given, {"docs": [str(shelf)]}) == sentence


@pytest.mark.parametrize(
    ("run_config", "name", "words"),
    [
        ({"rounds": 0}, "rounds", "greater than or equal to 1"),
        ({"sources": -1}, "sources", "greater than or equal to 1"),
        ({"depth": "deep"}, "depth", "quick, standard or comprehensive"),
    ],
)
def test_a_bad_knob_is_refused_by_name(
    client: SyncLangGraphClient, run_config: Record, name: str, words: str
) -> None:
    told = refusal(client, {"question": QUESTION}, run_config)
    assert name in told
    assert words in told


def test_an_unknown_setting_is_taken_out_by_the_server(client: SyncLangGraphClient, shelf: Path) -> None:
    """Before anybody could refuse it."""
    context = {"rouns": 1, "docs": [str(shelf)], "rounds": 1}
    assert answered(client, {"question": QUESTION}, context)["report"]["status"] == "extracts"


def test_a_folder_outside_the_roots_is_refused(client: SyncLangGraphClient, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Not for you\n")
    told = refusal(client, {"question": QUESTION}, {"docs": [str(tmp_path)]})
    assert told == f"{tmp_path} is outside the folders that may be read (FATHOM_DOCS_ROOTS)."


def test_a_server_nobody_named_is_refused(client: SyncLangGraphClient, shelf: Path) -> None:
    context = {"base_url": "http://127.0.0.1:9/v1", "docs": [str(shelf)]}
    told = refusal(client, {"question": QUESTION}, context)
    assert told == "The model server http://127.0.0.1:9/v1 was not named by the operator (FATHOM_BASE_URL)."


def test_a_model_file_the_operator_did_not_name_is_refused(client: SyncLangGraphClient, shelf: Path) -> None:
    told = refusal(client, {"question": QUESTION}, {"docs": [str(shelf)], "model": "/etc/secret.gguf"})
    assert told == "The model file /etc/secret.gguf was not named by the operator (FATHOM_MODEL)."


def test_the_log_is_clean_after_a_run(client: SyncLangGraphClient, server: DevServer, shelf: Path) -> None:
    answered(client, {"question": QUESTION}, {"docs": [str(shelf)], "rounds": 2})
    time.sleep(0.2)
    assert "Blocking" not in server.log
    assert "API key" not in "\n".join(r["event"] for r in server.records() if r["level"] != "info")
    grave = [r for r in server.records() if r["level"] not in {"info", "debug"}]
    # Runs that were refused are told by the worker; nothing else has a reason to complain.
    told = [r["event"] for r in grave if r["logger"] != "langgraph_api.worker" and "404" not in r["event"]]
    # That the import was slow says how busy this machine was; that the stock saver lacks two optional methods
    # is known, and neither is used.
    known = ("exceeded the expected startup time", "Graph import exceeded", "adelete_for_runs", "aprune")
    assert [event for event in told if not any(words in event for words in known)] == []
