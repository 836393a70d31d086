"""A model that makes up three in ten of its quotes and sentences: none reaches the report, all are told."""

from pathlib import Path

import pytest
from standins.fabricator import Fabricator
from standins.model import Model
from standins.prose import folder

from fathom import DeepResearcher, ResearchRequest, ResearchResult
from fathom.settings import load_settings

pytestmark = pytest.mark.whole


async def researched(tmp_path: Path, answer: Fabricator) -> ResearchResult:
    docs = folder(tmp_path / "docs", count=6, size=1600)
    with Model(answer) as model:
        settings = load_settings(home=tmp_path, base_url=model.base_url)
        request = ResearchRequest(
            query="How much does tidal power cost?", docs=[str(docs)], model="stand-in", max_rounds=1
        )
        return await DeepResearcher(settings).research(request)


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_nothing_made_up_reaches_the_report_and_all_of_it_is_counted(tmp_path: Path, seed: int) -> None:
    model = Fabricator(seed)
    result = await researched(tmp_path, model)
    made_up = [*model.quotes, *model.sentences]
    sentences = [s for section in result.sections for s in section.sentences]
    assert len(model.quotes) >= 10
    written = [s for section in result.sections if section.kind != "summary" for s in section.sentences]
    assert len(model.sentences) == pytest.approx(0.3 * (len(written) + len(model.sentences)), abs=1)
    assert {s.status for s in sentences} == {"supported"}
    assert not {s.text for s in sentences} & set(made_up)
    assert not any(words in result.report for words in (*made_up, "Zanzibar", "forged", "foreseen", "E999"))
    assert not {claim.statement for claim in result.claims} & set(made_up)
    told = {"claims": 0, "sentences": 0}
    for entry in result.rejected:
        kind = "sentences" if entry.section else "claims"
        told[kind] += entry.count
    assert told == {"claims": len(model.quotes), "sentences": len(model.sentences)}
    assert sum(r.count for r in result.rejected if not r.section) == len(model.quotes)
    assert sum(r.count for r in result.rejected if r.section) == len(model.sentences)
