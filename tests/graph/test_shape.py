"""The graph's shape, its drawing in the README, and the README's tree."""

import re
from pathlib import Path
from typing import Any

import pytest
from checks.layer_rules import block

from fathom.graph import build_graph, graph

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
EDGES = {
    ("__start__", "intake"),
    ("intake", "planner"),
    ("intake", "searcher"),
    ("intake", "selector"),
    ("planner", "review"),
    ("planner", "selector"),
    ("review", "planner"),
    ("review", "searcher"),
    ("review", "branches"),
    ("review", "judge"),
    ("searcher", "selector"),
    ("selector", "reading"),
    ("selector", "judge"),
    ("reading", "judge"),
    ("branches", "judge"),
    ("judge", "planner"),
    ("judge", "branches"),
    ("judge", "writer"),
    ("judge", "__end__"),
    ("writer", "planner"),
    ("writer", "__end__"),
}
READING = {
    ("__start__", "page"),
    ("page", "verifier"),
    ("verifier", "retry"),
    ("verifier", "compare"),
    ("verifier", "__end__"),
    ("retry", "verifier"),
    ("retry", "compare"),
    ("retry", "__end__"),
    ("compare", "__end__"),
}
PAGE = {
    ("__start__", "extractor"),
    ("__start__", "analyzer"),
    ("extractor", "analyzer"),
    ("extractor", "__end__"),
    ("analyzer", "__end__"),
}
BRANCHES = {("__start__", "coordinator"), ("coordinator", "branch"), ("coordinator", "__end__")} | {
    ("branch", "coordinator")
}
BRANCH = {
    ("__start__", "planner"),
    ("planner", "searcher"),
    ("planner", "selector"),
    ("planner", "judge"),
    ("searcher", "selector"),
    ("selector", "reading"),
    ("selector", "judge"),
    ("reading", "judge"),
    ("judge", "planner"),
    ("judge", "finish_branch"),
    ("finish_branch", "__end__"),
}
WRITER = {
    ("__start__", "outline"),
    ("outline", "chapter"),
    ("outline", "edit"),
    ("outline", "publish"),
    ("chapter", "edit"),
    ("edit", "confirm"),
    ("confirm", "publish"),
    ("publish", "__end__"),
}
CHAPTER = {
    ("__start__", "draft"),
    ("draft", "check"),
    ("check", "rewrite"),
    ("check", "settle"),
    ("rewrite", "check"),
    ("rewrite", "settle"),
    ("settle", "__end__"),
}
ROLES = {"planner", "searcher", "extractor", "analyzer", "judge", "writer"}


def subgraphs() -> dict[str, Any]:
    """Every compiled graph inside the top one, by its place."""
    return {place.replace("|", "/"): found for place, found in graph.get_subgraphs(recurse=True)}


def edges(compiled: Any) -> set[tuple[str, str]]:
    return {(edge.source, edge.target) for edge in compiled.get_graph().edges}


def drawing() -> str:
    """The graph as Mermaid with `reading` and `page` opened, in ids that Mermaid can have."""
    inside = subgraphs()["reading"].get_graph()
    open_node(inside, "page", subgraphs()["reading/page"].get_graph())
    drawn = graph.get_graph()
    open_node(drawn, "reading", inside)
    return str(drawn.draw_mermaid(with_styles=False)).replace("\\3a", "_").expandtabs(2).strip()


def open_node(drawn: Any, name: str, inside: Any) -> None:
    """Draw what is inside a node in its place."""
    first, last = drawn.extend(inside, prefix=name)
    drawn.nodes.pop(name)
    moved = {"source": last.id, "target": first.id}
    for place, edge in enumerate(drawn.edges):
        ends = {end: new for end, new in moved.items() if getattr(edge, end) == name}
        drawn.edges[place] = edge.copy(**ends)


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


def absent(tree: str, root: Path) -> list[str]:
    """The files and folders that the tree names and the repository does not have."""
    missing = []
    for folder in re.findall(r"^([\w/]+)/ ", tree, re.MULTILINE):
        words = part(tree, folder).removeprefix(f"{folder}/")
        names = ["", *re.findall(r"[\w-]+(?:\.(?:py|md|ipynb)|/)(?!\w)", words)]
        missing += [f"{folder}/{name}" for name in names if not (root / folder / name).exists()]
    return missing


def part(tree: str, folder: str) -> str:
    """What the tree says about a folder: its line, and the lines under it that are set in."""
    found = re.search(rf"^{re.escape(folder)}/.*(?:\n[ \t]+.*)*", tree, re.MULTILINE)
    return found.group() if found else ""


def test_the_edges_are_the_designs() -> None:
    drawn = build_graph().get_graph()
    assert edges(build_graph()) == EDGES
    assert set(drawn.nodes) == {name for edge in EDGES for name in edge}


def test_there_are_at_most_nine_nodes_on_the_top_level() -> None:
    assert len(set(graph.nodes) - {"__start__"}) <= 9


@pytest.mark.parametrize(
    ("place", "inner"),
    [
        ("reading", READING),
        ("reading/page", PAGE),
        ("branches", BRANCHES),
        ("branches/branch", BRANCH),
        ("branches/branch/reading", READING),
        ("writer", WRITER),
        ("writer/chapter", CHAPTER),
    ],
)
def test_the_edges_inside_a_subgraph_are_the_designs_and_it_is_named(
    place: str, inner: set[tuple[str, str]]
) -> None:
    assert edges(subgraphs()[place]) == inner
    assert subgraphs()[place].name == place.rpartition("/")[2]
    assert graph.name == "research"


def test_the_six_roles_show_in_the_drawing() -> None:
    words = set(re.findall(r"\w+", drawing().replace("reading_", "").replace("page_", "")))
    assert words >= ROLES


def test_a_form_asks_for_the_question_alone_and_every_shown_key_is_described() -> None:
    assert list(graph.get_input_jsonschema()["properties"]) == ["question"]
    shown = graph.get_output_jsonschema()["properties"]
    assert [name for name, schema in shown.items() if not schema.get("description")] == []
    assert {"run", "direction", "visited", "known", "is_finishing"}.isdisjoint(shown)
    assert {"questions", "claims", "judgements", "report"} <= shown.keys()


def test_every_setting_in_studios_form_is_described() -> None:
    form = graph.get_context_jsonschema()
    assert form is not None
    assert [name for name, schema in form["properties"].items() if not schema.get("description")] == []


def test_the_drawing_in_the_readme_is_the_graph() -> None:
    assert block(README, "drawing") == drawing(), f"paste this into README.md:\n\n{drawing()}\n"


def test_the_tree_in_the_readme_names_every_folder_and_every_part_of_the_machine() -> None:
    assert unnamed(block(README, "tree"), ROOT) == []


def test_every_name_in_the_readmes_tree_exists() -> None:
    assert absent(block(README, "tree"), ROOT) == []


def test_every_folder_in_the_readmes_tree_has_a_folder_of_tests() -> None:
    inside = part(block(README, "tree"), "src/fathom").removeprefix("src/fathom/")
    packages = ["graph", "nodes", "prompts", "state", *re.findall(r"(\w+)/ ", inside)]
    assert len(packages) > 15
    assert [name for name in packages if not (ROOT / "tests" / name).is_dir()] == []


def test_a_name_in_a_tree_that_does_not_exist_is_seen(tmp_path: Path) -> None:
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes" / "judge.py").touch()
    assert absent("nodes/ verbs\n  judge.py", tmp_path) == []
    assert absent("nodes/ verbs: gone.py\n  judge.py old/", tmp_path) == ["nodes/gone.py", "nodes/old/"]
    assert absent("docs/ words", tmp_path) == ["docs/"]


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
