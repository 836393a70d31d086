"""LangChain's retrievers and vector stores, from a module that only the test knows."""

import asyncio
import importlib
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest
from search.failures import QUERY
from standins.documents import DOCUMENTS, QUESTION
from standins.retrievers import SHELF

from fathom.cli import main
from fathom.errors import BadInput, ProviderError, Refused, Unavailable, Unreadable
from fathom.reading import Reader
from fathom.result import ResearchResult
from fathom.search import SearchEngine
from fathom.search.engines.retriever import RetrieverReader, RetrieverSearch
from fathom.state import Hit
from fathom.storage import open_storage

BM25 = "langchain_community.retrievers.BM25Retriever.from_texts"

KEPT = open_storage(Path(mkdtemp()) / "fathom.sqlite").pages
TEXTS = ["Costs of tidal power fell.", "The harbour is old.", "Bread rises.", "Cats sleep."]


def bm25(place: str = BM25, **arguments: object) -> RetrieverSearch:
    return RetrieverSearch(place, {"texts": TEXTS, **arguments}, KEPT)


@pytest.mark.parametrize("place", [BM25, "langchain_community.retrievers:BM25Retriever.from_texts"])
async def test_a_class_of_the_package_is_made_with_the_arguments_given(place: str) -> None:
    (hit,) = await bm25(place, k=1)(QUERY.model_copy(update={"text": "tidal power"}), limit=5)
    assert hit.snippet == TEXTS[0]


async def test_a_class_without_its_arguments_is_refused_in_one_sentence() -> None:
    with pytest.raises(
        BadInput, match=r"^The retriever langchain_community\.retrievers\.BM25Retriever cannot"
    ):
        await RetrieverSearch("langchain_community.retrievers.BM25Retriever").prepare()


async def test_arguments_for_what_is_made_already_are_refused() -> None:
    with pytest.raises(BadInput, match="takes no retriever_arguments"):
        await RetrieverSearch("standins.bm25:made", {"k": 3}).prepare()


def test_the_warning_that_the_package_is_old_is_not_raised_and_other_warnings_are() -> None:
    script = (
        "import asyncio, warnings\n"
        "from fathom.search.engines.retriever import RetrieverSearch\n"
        f"asyncio.run(RetrieverSearch({BM25!r}, {{'texts': ['a']}}).prepare())\n"
        "filters = [f for f in warnings.filters if f[1] and 'sunset' in f[1].pattern]\n"
        "assert not filters, filters\n"
    )
    answer = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning", "-c", script], capture_output=True, text=True
    )
    assert (answer.returncode, answer.stderr) == (0, "")


def test_without_the_extra_the_way_to_install_it_is_told() -> None:
    script = (
        "import asyncio, sys; sys.modules['langchain_community'] = None\n"
        "from fathom.search.engines.retriever import RetrieverSearch\n"
        f"asyncio.run(RetrieverSearch({BM25!r}).prepare())\n"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "pip install 'fathom-research[community]'" in answer.stderr.splitlines()[-1]


@pytest.mark.whole
def test_a_whole_run_over_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [part for text in DOCUMENTS.values() for part in text.split("\n\n")]
    written = f'retriever = "{BM25}"\n[retriever_arguments]\nk = 4\ntexts = {json.dumps(texts)}\n'
    assert tomllib.loads(written)["retriever_arguments"]["k"] == 4
    (tmp_path / "fathom.toml").write_text(written, "utf-8")
    monkeypatch.chdir(tmp_path)
    code = main([QUESTION, "--search", "retriever", "--rounds", "1", "--format", "json", "--quiet"])
    result = ResearchResult.model_validate_json(capsys.readouterr().out)
    assert code == 0
    assert result.citations
    assert all(page.address.startswith("retriever://retriever/") for page in result.sources)
    assert "cheaper to build than a tidal barrage" in result.report


@pytest.fixture(autouse=True)
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "allowed").mkdir()
    (tmp_path / "allowed" / "note 1.md").write_text("In a file.")
    (tmp_path / "secret.md").write_text("Elsewhere.")
    (tmp_path / "shelf_of_a_test.py").write_text(SHELF, "utf-8")
    (tmp_path / "exits.py").write_text("import sys\nsys.exit(3)\n")
    (tmp_path / "halved.py").write_text("def (\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield tmp_path
    sys.modules.pop("shelf_of_a_test", None)


def engine(attribute: str, **settings: object) -> RetrieverSearch:
    return RetrieverSearch(f"shelf_of_a_test:{attribute}", **{"texts": KEPT, **settings})  # type: ignore[arg-type]


def at(place: str) -> Hit:
    return Hit(query="q1", address=place, title="", snippet="", engine="retriever", rank=1)


async def test_documents_become_hits_one_a_page_where_they_may_be_read(shelf: Path, tmp_path: Path) -> None:
    texts = open_storage(tmp_path / "fathom.sqlite").pages
    found = engine("Shelf", roots=(shelf / "allowed",), texts=texts)
    hits = await found(QUERY.model_copy(update={"text": "조력 발전"}), limit=9)
    assert [hit.rank for hit in hits] == [1, 2, 3, 4, 5]
    assert (hits[0].address, hits[0].title, hits[0].snippet) == ("https://a.example/1", "One & all", "One.")
    assert (hits[0].published, hits[0].engine, hits[0].query) == ("2024-05-06", "retriever", "q1")
    assert hits[1].address == (shelf / "allowed" / "note 1.md").as_uri()
    assert hits[2].address.startswith("retriever://retriever/")
    assert hits[3].address == "http://b.example/2"
    reader: Reader = RetrieverReader(texts)
    document = await reader(hits[4])
    assert (document.title, document.text, document.how) == ("조력", "조력에 대한 답: 조력 발전", "retriever")
    assert document.published == "2023-01-02"


async def test_no_file_is_pointed_at_unless_its_folder_is_allowed(shelf: Path) -> None:
    hits = await engine("Shelf")(QUERY, limit=9)
    assert not any(hit.address.startswith("file:") for hit in hits)


async def test_a_vector_store_finds_as_many_as_it_is_asked_for() -> None:
    hits = await engine("store")(QUERY.model_copy(update={"text": "Costs fell."}), limit=2)
    assert len(hits) == 2
    assert (hits[0].title, hits[0].snippet) == ("T0", "Costs fell.")


@pytest.mark.parametrize("attribute", ["Shelf", "later", "Plain", "room.plain"])
async def test_classes_factories_and_things_inside_things_will_do(attribute: str) -> None:
    assert await engine(attribute)(QUERY, limit=1)


async def test_the_limit_is_kept_and_it_is_made_once() -> None:
    found = engine("Shelf")
    await found.prepare()
    first = found._loaded().thing
    assert len(await found(QUERY, limit=2)) == 2
    assert await found(QUERY, limit=0) == []
    assert found._loaded().thing is first


def test_one_engine_serves_several_event_loops() -> None:
    found = engine("Shelf")
    for _ in range(2):
        assert asyncio.run(found(QUERY, limit=1))


async def test_texts_are_found_again_by_the_reader(tmp_path: Path) -> None:
    texts = open_storage(tmp_path / "fathom.sqlite").pages
    (hit,) = await engine("Plain", texts=texts)(QUERY, limit=1)
    assert (await RetrieverReader(texts)(hit)).text == "Plain words."
    with pytest.raises(Unreadable, match="no longer known"):
        await RetrieverReader(open_storage(tmp_path / "other.sqlite").pages)(hit)


async def test_the_reader_reads_nothing_else(tmp_path: Path) -> None:
    with pytest.raises(Refused):
        await RetrieverReader(open_storage(tmp_path / "fathom.sqlite").pages)(at("https://a.example/1"))


@pytest.mark.parametrize(
    ("attribute", "kind", "said"),
    [
        ("words", Unreadable, "retriever gave a str where documents were expected"),
        ("rows", Unreadable, "retriever gave something that is not a document"),
        ("wrong", Unreadable, "retriever failed: KeyError: 'id'"),
        ("away", Unavailable, "retriever failed: ConnectionRefusedError: db://***@host refused"),
        ("vendor", Unavailable, "retriever failed: VendorError"),
        ("hangs", Unavailable, "retriever did not answer within 0.2 s"),
    ],
)
async def test_whatever_it_raises_becomes_one_of_our_errors(
    attribute: str, kind: type[ProviderError], said: str
) -> None:
    found = engine(attribute, timeout_s=0.2 if attribute == "hangs" else 5.0)
    await found.prepare()
    with pytest.raises(ProviderError) as caught:
        await found(QUERY, limit=5)
    assert type(caught.value) is kind
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("shelf_of_a_test", "'shelf_of_a_test' should be written package.module:attribute"),
        ("shelf of:x", "should be written package.module:attribute"),
        ("no_such_module:x", "there is no module no_such_module"),
        ("shelf_of_a_test:none", "shelf_of_a_test has no none"),
        ("shelf_of_a_test:number", "is a int, which cannot be searched"),
        ("shelf_of_a_test:needy", "TypeError: needy()"),
        ("shelf_of_a_test:failing", "RuntimeError: no index at db://***@host/x"),
        ("exits:x", "its module ends the program"),
        ("halved:x", "SyntaxError"),
    ],
)
async def test_what_cannot_be_loaded_is_refused_in_one_sentence(place: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        await RetrieverSearch(place).prepare()
    assert said in str(caught.value)
    assert str(caught.value).startswith("The retriever ")
    assert str(caught.value).endswith(".")


def test_the_port_is_kept() -> None:
    port: SearchEngine = engine("store")
    assert (port.name, port.capabilities) == ("retriever", frozenset({"content"}))
