"""The demo: one question over a few documents of our own, with replies written beforehand.

Does not know what answers it (`llm.recorded`). Everything else of such a run is real.
"""

import tomllib
from pathlib import Path

from fathom.errors import BadInput
from fathom.request import ResearchRequest
from fathom.settings.model_names import RECORDED

FOLDER = Path(__file__).resolve().parent
LANGUAGES = ("en", "ko")


def recording_file(language: str) -> Path:
    """Return the file with the replies in this language."""
    if language not in LANGUAGES:
        raise BadInput(f"There is no demo in {language!r}; there is one in {' and '.join(LANGUAGES)}.")
    return FOLDER / f"{language}.toml"


def demo_request(language: str) -> ResearchRequest:
    """Return the demo's question over its documents, answered by its recorded replies."""
    replies = tomllib.loads(recording_file(language).read_text("utf-8"))
    return ResearchRequest(
        query=replies["question"],
        docs=[str(FOLDER / language)],
        model=f"{RECORDED}{language}",
        rounds=2,
        sources=3,
        length="standard",
        review="off",
        reuse=False,
    )
