"""The graph's shape, its drawing in the README, and the README's tree."""

import re
from pathlib import Path

import pytest
from layers import block

from fathom.graph import build, graph

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
EDGES = {
    ("__start__", "lead"),
    ("lead", "planner"),
    ("lead", "review"),
    ("__start__", "recheck"),
    ("recheck", "searcher"),
    ("recheck", "selector"),
    ("planner", "review"),
    ("planner", "recall"),
    ("recall", "reading"),
    ("recall", "judge"),
    ("review", "planner"),
    ("review", "searcher"),
    ("review", "judge"),
    ("review", "lead"),
    ("review", "branch"),
    ("branch", "gather"),
    ("gather", "branch"),
    ("gather", "judge"),
    ("searcher", "selector"),
    ("selector", "reading"),
    ("selector", "judge"),
    ("reading", "judge"),
    ("judge", "planner"),
    ("judge", "writer"),
    ("judge", "branch"),
    ("judge", "__end__"),
    ("writer", "__end__"),
    ("writer", "planner"),
}
INNER_EDGES = {
    ("branch:__start__", "branch:planner"),
    ("branch:planner", "branch:searcher"),
    ("branch:planner", "branch:judge"),
    ("branch:searcher", "branch:selector"),
    ("branch:selector", "branch:study:__start__"),
    ("branch:study:__start__", "branch:study:extractor"),
    ("branch:study:__start__", "branch:study:analyzer"),
    ("branch:selector", "branch:judge"),
    ("branch:study:extractor", "branch:study:analyzer"),
    ("branch:study:extractor", "branch:study:__end__"),
    ("branch:study:extractor", "branch:study:compare"),
    ("branch:study:analyzer", "branch:study:__end__"),
    ("branch:study:analyzer", "branch:study:compare"),
    ("branch:study:compare", "branch:study:__end__"),
    ("branch:study:__end__", "branch:judge"),
    ("branch:judge", "branch:planner"),
    ("branch:judge", "branch:deliver"),
    ("reading:__start__", "reading:extractor"),
    ("reading:__start__", "reading:analyzer"),
    ("reading:extractor", "reading:analyzer"),
    ("reading:extractor", "reading:__end__"),
    ("reading:extractor", "reading:compare"),
    ("reading:analyzer", "reading:__end__"),
    ("reading:analyzer", "reading:compare"),
    ("reading:compare", "reading:__end__"),
    ("writer:outline", "writer:chapter:section"),
    ("writer:outline", "writer:publish"),
    ("writer:chapter:section", "writer:chapter:check"),
    ("writer:chapter:check", "writer:chapter:rewrite"),
    ("writer:chapter:check", "writer:chapter:settle"),
    ("writer:chapter:rewrite", "writer:chapter:check"),
    ("writer:chapter:rewrite", "writer:chapter:settle"),
    ("writer:chapter:settle", "writer:publish"),
}


def drawing() -> str:
    """The graph as Mermaid, subgraphs opened; ids without the colon that Mermaid cannot have in them."""
    drawn = graph.get_graph(xray=True).draw_mermaid(with_styles=False)
    return str(drawn).replace("\\3a", "_").expandtabs(2).strip()


def unnamed(tree: str, root: Path) -> list[str]:
    """What stands in the repository and not in the tree: top-level folders, and the machine's own files."""
    hidden = {"build", "dist", "runs", "__pycache__"}
    folders = {p.name for p in root.iterdir() if p.is_dir() and not p.name.startswith(".")} - hidden
    missing = [
        f"{name}/" for name in sorted(folders) if not name.endswith(".egg-info") and not part(tree, name)
    ]
    for folder in ("graph", "nodes", "prompts", "state"):
        words = set(part(tree, folder).replace(",", " ").split())
        files = [path for path in sorted((root / folder).iterdir()) if path.suffix in {".py", ".md"}]
        missing += [
            f"{folder}/{path.name}"
            for path in files
            if path.stem != "__init__" and not words & {path.name, path.stem}
        ]
    return missing


def part(tree: str, folder: str) -> str:
    """What the tree says about a folder: its line, and the lines under it that are set in."""
    found = re.search(rf"^{re.escape(folder)}/.*(?:\n[ \t]+.*)*", tree, re.MULTILINE)
    return found.group() if found else ""


def test_the_edges_are_the_designs() -> None:
    drawn = build().get_graph()
    assert {(edge.source, edge.target) for edge in drawn.edges} == EDGES
    assert set(drawn.nodes) == {name for edge in EDGES for name in edge}


def test_the_edges_inside_reading_writing_and_branches_are_the_designs() -> None:
    drawn = build().get_graph(xray=True)
    inner = {(edge.source, edge.target) for edge in drawn.edges if ":" in edge.source and ":" in edge.target}
    assert inner == INNER_EDGES


def test_the_drawing_in_the_readme_is_the_graph() -> None:
    assert block(README, "drawing") == drawing(), f"paste this into README.md:\n\n{drawing()}\n"


def test_the_tree_in_the_readme_names_every_folder_and_every_part_of_the_machine() -> None:
    assert unnamed(block(README, "tree"), ROOT) == []


def test_what_a_tree_leaves_out_is_seen(tmp_path: Path) -> None:
    for name in ("graph", "nodes", "state", "prompts", "docs", ".git"):
        (tmp_path / name).mkdir()
    (tmp_path / "nodes" / "judge.py").touch()
    (tmp_path / "prompts" / "judge.md").touch()
    whole = "docs/ words\ngraph/ the shape\nnodes/ verbs:\n  judge\nprompts/ judge.md\nstate/ nouns"
    assert unnamed(whole, tmp_path) == []
    assert unnamed(whole.replace("docs/", "doc/"), tmp_path) == ["docs/"]
    assert unnamed(whole.replace("  judge", "  judges"), tmp_path) == ["nodes/judge.py"]
    assert unnamed(whole.replace("judge.md", "-"), tmp_path) == ["prompts/judge.md"]


@pytest.mark.parametrize("text", ["", "<!-- drawing -->\n```mermaid\nother\n```\n<!-- end of drawing -->"])
def test_a_drawing_that_is_not_the_graph_is_seen(text: str) -> None:
    assert block(text, "drawing") != drawing()
    pasted = f"<!-- drawing -->\n```mermaid\n{drawing()}\n```\n<!-- end of drawing -->"
    assert block(pasted, "drawing") == drawing()
