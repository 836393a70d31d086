"""The page about settings names every one, with its variable, its default and what it is for."""

import json
import re
from pathlib import Path

import pytest
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from fathom.settings import load_settings, setting_names
from fathom.settings.sources import VARIABLE_PREFIX, SharedVariable
from fathom.state.run_config import OPTIONS, flags_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/settings.md").read_text("utf-8")
EXAMPLE = (ROOT / ".env.example").read_text("utf-8")


def table(fields: dict[str, FieldInfo], *, has_options: bool) -> str:
    """The table as it should be."""
    option = " option |" if has_options else ""
    rows = [
        f"| name |{option} variable | default | what it is |",
        f"|---|{'---|' if has_options else ''}---|---|---|",
    ]
    for name, field in fields.items():
        common = [known.variable for known in field.metadata if isinstance(known, SharedVariable)]
        variable = common[0] if common else f"{VARIABLE_PREFIX}{name.upper()}"
        default = to_jsonable_python(field.default)
        shown = (
            "–"
            if default is None
            else f"`{json.dumps(default) if not isinstance(default, str) else default}`"
        )
        option = f" `{flags_of(name)[0]}` |" if has_options else ""
        rows.append(f"| `{name}` |{option} `{variable}` | {shown} | {field.description} |")
    return "\n".join(rows)


@pytest.mark.parametrize("mark", ["process", "run"])
def test_the_tables_are_those_of_the_code(mark: str) -> None:
    fields = dict(setting_names().settings if mark == "process" else setting_names().run_config)
    there = PAGE.partition(f"<!-- {mark} -->\n")[2].partition(f"\n<!-- end of {mark} -->")[0]
    wanted = table(fields, has_options=mark == "run")
    assert there == wanted, f"paste this into docs/settings.md:\n\n{wanted}\n"


def test_the_file_on_the_page_is_one_that_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fathom.toml").write_text(PAGE.partition("```toml\n")[2].partition("```")[0], "utf-8")
    settings = load_settings()
    assert (settings.parallel_searches, settings.run.engines) == (3, ["tavily", "arxiv"])


def test_the_example_of_an_env_names_every_setting_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = set(re.findall(r"^(?:# )?([A-Z_]+)=", EXAMPLE, re.MULTILINE))
    known = setting_names().variables()
    assert named <= set(known)
    told = {known[variable][0] for variable in named}
    assert set(setting_names().settings) - told == {"tavily_url", "arxiv_url", "arxiv_pages"}
    monkeypatch.chdir(tmp_path)
    # As it comes, and with every line in use that has a value.
    for text in (EXAMPLE, re.sub(r"^# ([A-Z_]+=.)", r"\1", EXAMPLE, flags=re.MULTILINE)):
        (tmp_path / ".env").write_text(text, "utf-8")
        load_settings()


def test_the_page_names_every_older_name() -> None:
    older = PAGE.partition("<!-- older names -->\n")[2].partition("\n<!-- end of older names -->")[0]
    wanted = "\n".join(
        f"- `{name}`: {', '.join(f'`{alias}`' for alias in aliases)}"
        for name, option in OPTIONS.items()
        if (aliases := [alias for alias in (option.flag, *option.aliases) if alias])
    )
    assert older == wanted, f"paste this into docs/settings.md:\n\n{wanted}\n"
