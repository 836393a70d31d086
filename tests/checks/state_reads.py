"""Find the state keys that a node reads, also in the functions it hands the state to."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def keys_read(path: Path, function: str, states: frozenset[str] = frozenset({"state"})) -> set[str]:
    """Return the keys that a function reads from its arguments of these names."""
    return _keys_read(path, function, states, set())


def _keys_read(path: Path, function: str, states: frozenset[str], seen: set[object]) -> set[str]:
    functions, _ = _module(path)
    if (path, function, states) in seen or function not in functions:
        return set()
    seen.add((path, function, states))
    keys: set[str] = set()
    for node in ast.walk(functions[function]):
        keys |= _own_keys(node, states)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            keys |= _keys_of_call(node, path, node.func.id, states, seen)
    return keys


def _keys_of_call(
    call: ast.Call, path: Path, name: str, states: frozenset[str], seen: set[object]
) -> set[str]:
    home = _home(path, name)
    places = [place for place, given in enumerate(call.args) if _is_state(given, states)]
    if home is None or not places:
        return set()
    path, name = home
    arguments = [argument.arg for argument in _module(path)[0][name].args.args]
    return _keys_read(path, name, frozenset(arguments[place] for place in places), seen)


def _own_keys(node: ast.AST, states: frozenset[str]) -> set[str]:
    """Return what `state["key"]`, `state.get("key")` and `"key" in state` read."""
    match node:
        case ast.Subscript(value=state, slice=ast.Constant(value=str(key))) if _is_state(state, states):
            return {key}
        case ast.Call(
            func=ast.Attribute(value=state, attr="get"), args=[ast.Constant(value=str(key)), *_]
        ) if _is_state(state, states):
            return {key}
        case ast.Compare(left=ast.Constant(value=str(key)), comparators=[state]) if _is_state(state, states):
            return {key}
        case _:
            return set()


def _is_state(node: ast.AST, states: frozenset[str]) -> bool:
    """Tell whether an expression is the state, or `{**state, …}`."""
    if isinstance(node, ast.Dict):
        return any(
            key is None and _is_state(value, states)
            for key, value in zip(node.keys, node.values, strict=True)
        )
    return isinstance(node, ast.Name) and node.id in states


@cache
def _module(path: Path) -> tuple[dict[str, ast.FunctionDef | ast.AsyncFunctionDef], dict[str, str]]:
    """Return a module's functions, and the modules it imports names from."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    functions = {node.name: node for node in nodes if isinstance(node, _FUNCTION)}
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return functions, {alias.name: node.module or "" for node in imports for alias in node.names}


def _home(path: Path, name: str) -> tuple[Path, str] | None:
    """Return where a function of Fathom that this module calls is defined."""
    functions, imports = _module(path)
    if name in functions:
        return path, name
    package, *parts = imports.get(name, "").split(".")
    for base in (ROOT / "src" / "fathom", ROOT):
        found = base.joinpath(*parts).with_suffix(".py")
        if package == "fathom" and parts and found.is_file() and name in _module(found)[0]:
            return found, name
    return None
