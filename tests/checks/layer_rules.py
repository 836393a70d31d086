"""The rules of the house that a machine can check, as functions from source text to complaints.

Does not know this repository: a rule gets a module's name and its text, and says what is wrong with it.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

PUBLIC = tuple(
    f"fathom.{name}"
    for name in ("researcher", "session", "request", "result", "events", "errors", "settings", "views")
)
COMMAND_LINE_ALSO = (
    "fathom.read_questions",  # public, though a function
    "fathom.state.short_id",  # how people name a run
    "fathom.text.messages",  # the words of a language
    "fathom.text.normalization",  # JSON that is safe to look at
    "fathom.runs.compare",  # types of a comparison
    "fathom.settings.sources",  # where a setting came from, for `fathom config`
    "fathom.concurrency",  # the event loop of a process of our own
    "fathom.llm.servers",  # models on this machine, offered before there is a run
    "fathom.settings.model_names.NO_MODEL",
    "fathom.report.formats",  # names and file endings, checked before a run begins
    "fathom.report.formats.cjk_emphasis",  # Markdown is read as reports are
    "fathom.web.app",  # the page, which `fathom serve` serves
    "fathom.runs.queue.queue_address",  # whether there is a queue for `fathom serve --workers`
    "fathom.integrations",  # which `fathom mcp` serves
    "fathom.evaluation.render_evaluation",  # an evaluation, as people read it
    "fathom.audit.render_html",  # an audit, as people read it
    "fathom.audit.render_markdown",
    "fathom.audit.summarize",
    "fathom.runs.round_summary",  # a round in a few lines, as in its page
)
FOLDERS = {
    "state": "fathom.state",
    "prompts": "fathom.prompts",
    "nodes": "fathom.nodes",
    "graph": "fathom.graph",
}


def modules(root: Path) -> Iterator[tuple[str, str]]:
    """Every module of the package: its dotted name and its text."""
    places = {**{root / folder: name for folder, name in FOLDERS.items()}, root / "src" / "fathom": "fathom"}
    for place, package in places.items():
        for path in sorted(place.rglob("*.py")):
            parts = [*path.relative_to(place).parent.parts, path.stem]
            yield (
                ".".join([package, *(part for part in parts if part != "__init__")]),
                path.read_text("utf-8"),
            )


def imported(text: str) -> list[str]:
    """Every module that is imported, wherever in the text; names imported from a package count as modules."""
    found: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [f"{node.module}.{alias.name}" if node.module else alias.name for alias in node.names]
    return found


def is_in(module: str, *packages: str) -> bool:
    """Whether a module is one of the packages or inside one."""
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def behind_the_facade(name: str, text: str) -> list[str]:
    """What the command line imports of ours that is neither the facade, nor a record, nor listed here."""
    if not is_in(name, "fathom.cli"):
        return []
    ours = [module for module in imported(text) if is_in(module, "fathom")]
    public = {"fathom.cli", "fathom.state", *PUBLIC, *COMMAND_LINE_ALSO}
    names = [m for m in ours if m.count(".") == 1 and m.rpartition(".")[2][0].isupper()]  # from fathom itself
    return [f"{name} imports {m}" for m in ours if m not in names and not is_in(m, *public)]


def vendors(name: str, text: str, standard: frozenset[str]) -> list[str]:
    """Modules of others in a node; LangGraph's types are the one exception."""
    if not is_in(name, "fathom.nodes"):
        return []
    foreign = [m for m in imported(text) if m.split(".")[0] not in standard | {"fathom"}]
    return [f"{name} imports {m}" for m in foreign if not is_in(m, "langgraph.types")]


def environment(name: str, text: str) -> list[str]:
    """Looks into the environment, which only the settings may."""
    if name == "fathom.settings":
        return []
    used = [ast.unparse(node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)]
    words = {"os.environ", "os.getenv", "os.environb", "os.putenv"}
    return [f"{name} uses {word}" for word in [*used, *imported(text)] if word in words]


def broad(name: str, text: str) -> list[str]:
    """Handlers that catch everything."""
    handlers = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ExceptHandler)]
    return [f"{name} catches everything in line {h.lineno}" for h in handlers if _is_broad(h.type)]


def _is_broad(caught: ast.expr | None) -> bool:
    if caught is None:
        return True
    names = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(isinstance(n, ast.Name) and n.id in {"Exception", "BaseException"} for n in names)


def one_verb(name: str, text: str) -> list[str]:
    """Node files that do not hold exactly one public function, named as the file."""
    stem = name.rpartition(".")[2]
    if not is_in(name, "fathom.nodes") or name == "fathom.nodes" or stem == "ports":
        return []
    body = ast.parse(text).body
    public = [
        node.name
        for node in body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
    ]
    return [] if public == [stem] else [f"{name} offers {public}"]


def block(text: str, mark: str) -> str:
    """What stands in a fenced block between `<!-- mark -->` and `<!-- end of mark -->`."""
    _, _, after = text.partition(f"<!-- {mark} -->")
    inside, _, _ = after.partition(f"<!-- end of {mark} -->")
    lines = inside.strip().splitlines()
    return "\n".join(lines[1:-1])
