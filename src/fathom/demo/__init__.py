"""The demo: one question over a few documents of our own, with the recorded answers of a strong model.

Does not know what plays them (`llm.recorded`) or what recorded them (`bench/record_demo.py`). Everything else
of such a run is real.
"""

from pathlib import Path

from fathom.errors import BadInput
from fathom.request import ResearchRequest
from fathom.settings.model_names import RECORDED

FOLDER = Path(__file__).resolve().parent
QUESTIONS = {
    "en": "Did Alderby's four-day week work, and should other cities follow?",
    "ko": "솔내시의 주 4일제는 성공했나, 그리고 다른 도시도 따라 해야 하나?",
}
LANGUAGES = tuple(QUESTIONS)


def recording_file(language: str) -> Path:
    """Return the file with the answers in this language."""
    if language not in LANGUAGES:
        raise BadInput(f"There is no demo in {language!r}; there is one in {' and '.join(LANGUAGES)}.")
    return FOLDER / f"{language}.toml"


def demo_request(language: str) -> ResearchRequest:
    """Return the demo's question over its documents, answered by its recording."""
    recording_file(language)
    return ResearchRequest(
        query=QUESTIONS[language],
        docs=[str(FOLDER / language)],
        model=f"{RECORDED}{language}",
        rounds=2,
        sources=3,
        length="standard",
        review="off",
        reuse=False,
    )
