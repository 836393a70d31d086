"""Every key of the state says who writes it, and the nodes say what they read and write."""

import re
from pathlib import Path

import pytest
from checks.state_reads import keys_read

from fathom.state import ResearchState

ROOT = Path(__file__).parents[2]
NODES = sorted(path.stem for path in (ROOT / "nodes").glob("*.py") if "Writes:" in path.read_text("utf-8"))
BY_ALL = {"failures", "costs"}


def said_by_the_state() -> dict[str, str]:
    """Each key with the comment above it."""
    source = (ROOT / "state" / "research.py").read_text("utf-8")
    body = source.split("class ResearchState", 1)[1].split("\nclass ", 1)[0]
    return {key: who for who, key in re.findall(r"^    # (.*)\n    (\w+): ", body, re.MULTILINE)}


def said_by(node: str) -> set[str]:
    """The keys that the docstring of a node says it writes."""
    source = (ROOT / "nodes" / f"{node}.py").read_text("utf-8")
    return set(re.findall(r"\w+", source.split("Writes:", 1)[1].split('"""', 1)[0]))


def test_every_key_has_a_comment() -> None:
    assert said_by_the_state().keys() == ResearchState.__annotations__.keys()


@pytest.mark.parametrize("node", NODES)
def test_the_state_names_every_node_that_writes_a_key(node: str) -> None:
    comments = said_by_the_state()
    written = said_by(node) & (comments.keys() - BY_ALL)
    assert [key for key in sorted(written) if not re.search(rf"\b{node}\b", comments[key])] == []


@pytest.mark.parametrize("node", NODES)
def test_a_node_writes_every_key_that_is_said_to_be_its_own(node: str) -> None:
    own = [key for key, comment in said_by_the_state().items() if re.search(rf"\b{node}\b", comment)]
    assert sorted(set(own) - said_by(node) - BY_ALL) == []


@pytest.mark.parametrize("node", NODES)
def test_a_node_says_every_key_it_reads(node: str) -> None:
    path = ROOT / "nodes" / f"{node}.py"
    words = path.read_text("utf-8").split("Reads:", 1)[1].split("Writes:", 1)[0]
    assert set(re.findall(r"\w+", words)) == keys_read(path, node)


def test_keys_read_in_a_function_that_gets_the_state_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "node.py"
    path.write_text(
        "def node(state):\n"
        "    state['a']\n"
        "    return helper(1, {**state, 'x': 1})\n"
        "def helper(number, words):\n"
        "    return words.get('b', number) if 'c' in words else {}.get('d')\n"
    )
    assert keys_read(path, "node") == {"a", "b", "c"}
