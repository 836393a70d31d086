"""Who may import whom, who may read the environment, what may be caught; and that each guard bites."""

import sys
from pathlib import Path

import pytest
from checks.layer_rules import behind_the_facade, broad, environment, modules, one_verb, vendors
from importlinter.cli import EXIT_STATUS_ERROR, EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).parents[2]
MODULES = list(modules(ROOT))
NAMES = [name for name, _ in MODULES]


def test_every_part_of_the_package_is_looked_at() -> None:
    for name in ("fathom", "fathom.state.records", "fathom.nodes.judge", "fathom.graph.research"):
        assert name in NAMES
    assert "fathom.prompts.loader" in NAMES
    assert "fathom.cli" in NAMES


@pytest.mark.parametrize(("name", "text"), MODULES, ids=NAMES)
def test_a_module_keeps_the_rules(name: str, text: str) -> None:
    assert vendors(name, text, sys.stdlib_module_names) == []
    assert environment(name, text) == []
    assert broad(name, text) == []
    assert one_verb(name, text) == []
    assert behind_the_facade(name, text) == []


def test_every_package_imports_only_packages_below_it() -> None:
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == EXIT_STATUS_SUCCESS


def test_an_import_that_goes_up_is_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contracts = (ROOT / "pyproject.toml").read_text("utf-8")
    assert '  "errors",\n  "state",\n' in contracts
    turned = contracts.replace('  "errors",\n  "state",\n', '  "state",\n  "errors",\n')
    (tmp_path / "pyproject.toml").write_text(turned, "utf-8")
    assert lint_imports(config_filename=str(tmp_path / "pyproject.toml"), no_cache=True) == EXIT_STATUS_ERROR
    assert "fathom.errors is not allowed to import" in " ".join(capsys.readouterr().out.split())


def test_a_package_that_no_contract_names_is_seen(tmp_path: Path) -> None:
    contracts = (ROOT / "pyproject.toml").read_text("utf-8").replace('  "planning",\n', "")
    (tmp_path / "pyproject.toml").write_text(contracts, "utf-8")
    assert lint_imports(config_filename=str(tmp_path / "pyproject.toml"), no_cache=True) == EXIT_STATUS_ERROR


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
    assert not environment("fathom.settings", text)
    assert not environment("fathom.cli.admin", "import os\nos.access('/', os.W_OK)")


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
