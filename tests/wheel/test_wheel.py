"""The wheel as a stranger gets it: built, installed into a new environment, and used beside their own files.

Nothing is fetched: the wheel is installed without its dependencies, which are then found where the tests' own
interpreter has them, behind everything that is installed in the new environment.
"""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from standins.devserver import clean
from standins.documents import QUESTION, stocked

pytestmark = pytest.mark.wheel
ROOT = Path(__file__).parents[2]
# Where each part of the package comes from.
SOURCES = {
    "fathom": ROOT / "src/fathom",
    "fathom/graph": ROOT / "graph",
    "fathom/nodes": ROOT / "nodes",
    "fathom/prompts": ROOT / "prompts",
    "fathom/state": ROOT / "state",
}


def ran(words: Sequence[str | Path], cwd: Path, **settings: str) -> str:
    """What a command printed; it must succeed."""
    environment = {**clean(os.environ), **settings}
    done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this repository, built from a copy so that nothing is left behind in it."""
    place = tmp_path_factory.mktemp("wheel")
    copy = place / "copy"
    copy.mkdir()
    for name in ("src", "graph", "nodes", "prompts", "state"):
        _copied(ROOT / name, copy / name)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (copy / name).write_bytes((ROOT / name).read_bytes())
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    ran([*pip, "--no-deps", "--no-build-isolation", "--no-index", "-w", place, copy], place)
    return next(place.glob("*.whl"))


def _copied(source: Path, target: Path) -> None:
    for path in source.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            (target / path.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
            (target / path.relative_to(source)).write_bytes(path.read_bytes())


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that has the wheel."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, with_pip=False, symlinks=True)
    python = place / "bin/python"
    ours = Path(sysconfig.get_path("purelib"))
    site = Path(ran([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], place).strip())
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--quiet", "--disable-pip-version-check"]
    ran([*pip, "install", "--no-deps", "--no-index", wheel], place)
    # Only the path itself: the .pth files in it would bring in the source of this repository.
    (site / "zz_dependencies.pth").write_text(f"{ours}\n")
    return place / "bin"


def test_every_module_and_every_file_of_the_sources_is_in_the_wheel(wheel: Path) -> None:
    expected = {
        f"{package}/{path.relative_to(folder).as_posix()}"
        for package, folder in SOURCES.items()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == expected
    assert "fathom/py.typed" in held
    assert "fathom/prompts/planner.md" in held


def test_the_wheel_claims_one_name_only(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"fathom"}


def test_the_package_comes_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    told = ran([installed / "python", "-c", "import fathom.graph as g; print(g.__file__)"], tmp_path)
    assert Path(told.strip()).is_relative_to(installed.parent)


def test_the_program_helps_and_runs(installed: Path, tmp_path: Path) -> None:
    assert ran([installed / "fathom", "--help"], tmp_path).startswith("usage: fathom")
    shelf = stocked(tmp_path / "shelf")
    words: list[str | Path] = [
        installed / "fathom",
        QUESTION,
        "--docs",
        shelf,
        "--rounds",
        "1",
        "--format",
        "json",
        "--quiet",
    ]
    result = json.loads(ran(words, tmp_path, FATHOM_HOME=str(tmp_path / "home")))
    assert result["status"] == "extracts"
    assert result["citations"]


def test_files_of_the_same_names_beside_a_script_do_not_disturb_it(installed: Path, tmp_path: Path) -> None:
    for name in ("graph", "nodes", "prompts", "state"):
        (tmp_path / f"{name}.py").write_text(f"MINE = {name!r}\n")
    (tmp_path / "script.py").write_text(
        "import asyncio, json, sys\n"
        "import graph, nodes, prompts, state\n"
        "import fathom.graph\n"
        "from fathom import DeepResearcher, ResearchRequest\n"
        "from fathom.graph import build_graph\n"
        "request = ResearchRequest(query=sys.argv[1], docs=[sys.argv[2]], max_rounds=1)\n"
        "result = asyncio.run(DeepResearcher().research(request))\n"
        "names = [graph.MINE, nodes.MINE, prompts.MINE, state.MINE]\n"
        "nodes_of_ours = sorted(build_graph().get_graph().nodes)\n"
        "print(json.dumps([names, fathom.graph.__file__, nodes_of_ours, result.status]))\n"
    )
    shelf = stocked(tmp_path / "shelf")
    words: list[str | Path] = [installed / "python", "script.py", QUESTION, shelf]
    names, where, nodes, status = json.loads(ran(words, tmp_path, FATHOM_HOME=str(tmp_path / "home")))
    assert names == ["graph", "nodes", "prompts", "state"]
    assert Path(where).is_relative_to(installed.parent)
    assert {"planner", "judge", "writer"} <= set(nodes)
    assert status == "extracts"
