"""Lock file of the prompts: the revision and hash of each.

After changing a prompt, raise its revision and run `python -m fathom.prompts.lock`.
"""

import json
import sys
from hashlib import sha256
from pathlib import Path

from fathom.prompts.loader import PromptError, parse_prompt

FOLDER = Path(__file__).resolve().parent
LOCK = "prompts.lock"


def read_lock(folder: Path = FOLDER) -> dict[str, list[int | str]]:
    """Read the lock file: revision and hash by name."""
    found: dict[str, list[int | str]] = json.loads((folder / LOCK).read_text("utf-8"))
    return found


def hash_prompts(folder: Path = FOLDER) -> dict[str, list[int | str]]:
    """Return revision and hash of every prompt file by name."""
    texts = {path.stem: path.read_text("utf-8") for path in sorted(folder.glob("*.md"))}
    return {
        name: [parse_prompt(name, text).revision, sha256(text.encode()).hexdigest()]
        for name, text in texts.items()
    }


def changed_prompts(folder: Path = FOLDER) -> list[str]:
    """Return the prompts that differ from the lock file."""
    old, new = read_lock(folder), hash_prompts(folder)
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def prompts_without_new_revision(folder: Path = FOLDER) -> list[str]:
    """Return the prompts whose text changed without a higher revision."""
    old, new = read_lock(folder), hash_prompts(folder)
    return [
        name
        for name in changed_prompts(folder)
        if name in old and name in new and new[name][0] <= old[name][0]  # type: ignore[operator]
    ]


def main(folder: Path = FOLDER) -> int:
    """Lock the prompts as they are; fail if a text changed without a new revision."""
    if names := prompts_without_new_revision(folder):
        raise PromptError(f"raise the revision of: {', '.join(names)}")
    words = json.dumps(hash_prompts(folder), indent=2)
    (folder / LOCK).write_text(f"{words}\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
