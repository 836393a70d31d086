"""Nobody changes what models are told without saying so."""

import shutil
from pathlib import Path

import pytest

from fathom.prompts import PromptError, prompt_names
from fathom.prompts.lock import FOLDER, LOCK, changed_prompts, main, prompts_without_new_revision, read_lock


def test_every_prompt_is_as_locked() -> None:
    assert changed_prompts() == [], "raise the revision, then run: python -m fathom.prompts.lock"
    assert sorted(read_lock()) == prompt_names()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    copy = tmp_path / "prompts"
    copy.mkdir()
    for path in [*FOLDER.glob("*.md"), FOLDER / LOCK]:
        shutil.copy(path, copy)
    return copy


def edit(folder: Path, old: str, new: str) -> None:
    path = folder / "planner.md"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def test_changed_words_under_an_old_revision_are_refused(folder: Path) -> None:
    edit(folder, "You plan research.", "You plan much research.")
    assert changed_prompts(folder) == prompts_without_new_revision(folder) == ["planner"]
    before = (folder / LOCK).read_text("utf-8")
    with pytest.raises(PromptError, match="raise the revision of: planner"):
        main(folder)
    assert (folder / LOCK).read_text("utf-8") == before


def test_a_new_revision_is_locked(folder: Path) -> None:
    was = read_lock(folder)["planner"][0]
    assert isinstance(was, int)
    edit(folder, "You plan research.", "You plan much research.")
    edit(folder, f"revision = {was}", f"revision = {was + 1}")
    assert changed_prompts(folder) == ["planner"]
    assert prompts_without_new_revision(folder) == []
    assert main(folder) == 0
    assert changed_prompts(folder) == []


def test_a_prompt_that_came_or_went_is_noticed(folder: Path) -> None:
    (folder / "planner.md").rename(folder / "thinker.md")
    assert changed_prompts(folder) == ["planner", "thinker"]
    main(folder)
    assert "thinker" in read_lock(folder)
    assert "planner" not in read_lock(folder)
