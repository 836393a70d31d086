"""Reports of whole runs hold when they are checked again, whatever the model did on the way."""

from pathlib import Path
from typing import Literal

import pytest
from standins.library import HANOK, TIDES, written
from standins.model import Model, ModelRequest
from standins.replies import Reply
from standins.scripted import scripted, value

from fathom import DeepResearcher, ResearchRequest
from fathom.evidence.standing import stored_fate
from fathom.report.verifying import verified
from fathom.settings import load_settings
from fathom.storage import open_storage
from fathom.store import pages

QUESTION = "How much does tidal power cost, and what limits it?"


def embellishing(request: ModelRequest) -> Reply:
    """True sentences, and one with a number that no quote has."""
    sentences = value(request)["sentences"]
    false = {"text": "The price fell to 3 euros in 2031.", "claims": sentences[0]["claims"]}
    return Reply.give({"sentences": [*sentences, false]})


@pytest.mark.parametrize(("unsupported", "marked"), [("drop", 0), ("mark", 2)])
async def test_what_a_writer_made_up_is_not_in_the_ledger_as_supported(
    tmp_path: Path, unsupported: Literal["drop", "mark"], marked: int
) -> None:
    docs = written(tmp_path / "docs", {**TIDES, **HANOK})
    with Model(scripted(write=embellishing)) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        request = ResearchRequest(
            query=QUESTION, docs=[docs], model="stand-in", max_rounds=1, unsupported=unsupported
        )
        result = await DeepResearcher(settings).research(request)
    kept = pages(open_storage(settings.database))
    texts = {page.sha: await kept.get(page.sha) for page in result.sources}
    found = verified(result, lambda quote: stored_fate(quote, texts[quote.page]), result.report)
    assert (found.is_sound, found.marked) == (True, marked)
    assert not any("2031" in checked.text for checked in found.sentences)
