"""Who may import whom, who may read the environment, what may be caught; and that each guard bites."""

import sys
from pathlib import Path

import pytest
from checks.layer_rules import behind_the_facade, broad, environment, modules, one_verb, upward, vendors

ROOT = Path(__file__).parents[2]
MODULES = list(modules(ROOT))
NAMES = [name for name, _ in MODULES]


def test_every_part_of_the_package_is_looked_at() -> None:
    for name in ("fathom", "fathom.state.records", "fathom.nodes.judge", "fathom.graph.research"):
        assert name in NAMES
    assert "fathom.prompts.loader" in NAMES
    assert "fathom.cli.main" in NAMES


@pytest.mark.parametrize(("name", "text"), MODULES, ids=NAMES)
def test_a_module_keeps_the_rules(name: str, text: str) -> None:
    assert upward(name, text) == []
    assert vendors(name, text, sys.stdlib_module_names) == []
    assert environment(name, text) == []
    assert broad(name, text) == []
    assert one_verb(name, text) == []
    assert behind_the_facade(name, text) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("fathom.state.records", "from fathom.errors import BadInput"),
        ("fathom.state.records", "import fathom.settings.settings"),
        ("fathom.prompts.loader", "from fathom.state import Claim"),
        ("fathom.llm.chat", "from fathom.nodes.ports import Pages"),
        ("fathom.evidence.claims", "from fathom import graph"),
        ("fathom.storage.content", "def f():\n    from fathom.runs.executor import Runs"),
        ("fathom.nodes.judge", "from fathom.nodes.planner import planner"),
        ("fathom.nodes.judge", "from fathom.nodes import planner"),
        ("fathom.nodes.judge", "from fathom.graph.dependencies import Kit"),
        ("fathom.graph.dependencies", "from fathom.cli.main import main"),
        ("fathom.graph.dependencies", "from fathom.researcher import DeepResearcher"),
    ],
)
def test_an_import_that_goes_up_is_seen(name: str, text: str) -> None:
    assert len(upward(name, text)) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("fathom.nodes.judge", "from fathom.nodes.ports import Clock"),
        ("fathom.graph.dependencies", "from fathom.nodes.judge import judge"),
        ("fathom.runs.executor", "from fathom.graph import build_graph"),
        ("fathom.cli.run", "from fathom.runs.executor import Runs"),
        ("fathom.llm.chat", "from fathom.state import Charge"),
    ],
)
def test_an_import_that_goes_down_is_not_minded(name: str, text: str) -> None:
    assert upward(name, text) == []


def test_a_command_that_goes_behind_the_facade_is_seen() -> None:
    assert behind_the_facade("fathom.cli.run", "from fathom.runs.executor import open_runs")
    assert behind_the_facade("fathom.cli.run", "from fathom import runs")
    assert behind_the_facade("fathom.cli.run", "def f():\n    from fathom.storage import open_storage")
    assert not behind_the_facade("fathom.cli.run", "from fathom import DeepResearcher")
    assert not behind_the_facade(
        "fathom.cli.run", "from fathom.state import RunConfig\nimport fathom.session"
    )
    assert not behind_the_facade("fathom.session", "from fathom.runs.executor import open_runs")


def test_a_vendor_in_a_node_is_seen() -> None:
    standard = sys.stdlib_module_names
    assert vendors("fathom.nodes.judge", "import httpx", standard)
    assert vendors("fathom.nodes.judge", "from langgraph.graph import END", standard)
    assert not vendors("fathom.nodes.judge", "from langgraph.types import Overwrite\nimport re", standard)
    assert not vendors("fathom.llm.chat", "import openai", standard)


@pytest.mark.parametrize(
    "text", ["import os\nos.environ['HOME']", "import os\nos.getenv('HOME')", "from os import environ"]
)
def test_a_look_into_the_environment_is_seen(text: str) -> None:
    assert environment("fathom.storage.content", text)
    assert not environment("fathom.settings.settings", text)
    assert not environment("fathom.cli.config", "import os\nos.access('/', os.W_OK)")


@pytest.mark.parametrize(
    "caught", ["except:", "except Exception:", "except BaseException as e:", "except (OSError, Exception):"]
)
def test_catching_everything_is_seen(caught: str) -> None:
    assert broad("fathom.storage.content", f"try:\n    pass\n{caught}\n    pass")
    assert not broad("fathom.storage.content", "try:\n    pass\nexcept OSError:\n    pass")


@pytest.mark.parametrize(
    "text",
    [
        "def judge(): ...\ndef another(): ...",
        "def another(): ...",
        "class Judge: ...\ndef judge(): ...",
        "",
    ],
)
def test_a_node_file_with_another_offer_is_seen(text: str) -> None:
    assert one_verb("fathom.nodes.judge", text)
    assert not one_verb("fathom.nodes.judge", "async def judge(): ...\ndef _marked(): ...")
    assert not one_verb("fathom.nodes.ports", text)
