"""The lock of the prompts: which revision has which words.

Does not know what prompts say. Whoever changes words raises the revision in the same file, and then runs
`python -m fathom.prompts.lock`.
"""

import json
import sys
from hashlib import sha256
from pathlib import Path

from fathom.prompts.loader import PromptError, parse_prompt

FOLDER = Path(__file__).resolve().parent
LOCK = "prompts.lock"


def read_lock(folder: Path = FOLDER) -> dict[str, list[int | str]]:
    """What the lock file says: a revision and a hash for each name."""
    found: dict[str, list[int | str]] = json.loads((folder / LOCK).read_text("utf-8"))
    return found


def hash_prompts(folder: Path = FOLDER) -> dict[str, list[int | str]]:
    """What the prompt files say."""
    texts = {path.stem: path.read_text("utf-8") for path in sorted(folder.glob("*.md"))}
    return {
        name: [parse_prompt(name, text).revision, sha256(text.encode()).hexdigest()]
        for name, text in texts.items()
    }


def changed_prompts(folder: Path = FOLDER) -> list[str]:
    """The prompts that are not as locked."""
    old, new = read_lock(folder), hash_prompts(folder)
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def prompts_without_new_revision(folder: Path = FOLDER) -> list[str]:
    """The prompts whose words changed while their revision did not go up."""
    old, new = read_lock(folder), hash_prompts(folder)
    return [
        name
        for name in changed_prompts(folder)
        if name in old and name in new and new[name][0] <= old[name][0]  # type: ignore[operator]
    ]


def main(folder: Path = FOLDER) -> int:
    """Lock the prompts as they are; refused when words changed under an old revision."""
    if names := prompts_without_new_revision(folder):
        raise PromptError(f"raise the revision of: {', '.join(names)}")
    words = json.dumps(hash_prompts(folder), indent=2)
    (folder / LOCK).write_text(f"{words}\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
