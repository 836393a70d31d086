"""LangChain's retrievers and vector stores, from a module that only the test knows."""

import asyncio
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from search.failures import QUERY
from standins.retrievers import SHELF

from fathom.errors import BadInput, ProviderError, Refused, Unavailable, Unreadable
from fathom.reading.port import Reader
from fathom.search.port import Engine
from fathom.search.remembered import Remembered
from fathom.search.retriever import RetrieverReader, RetrieverSearch
from fathom.state import Hit


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
    return RetrieverSearch(f"shelf_of_a_test:{attribute}", **settings)  # type: ignore[arg-type]


def at(place: str) -> Hit:
    return Hit(query="q1", address=place, title="", snippet="", engine="retriever", rank=1)


async def test_documents_become_hits_one_a_page_where_they_may_be_read(shelf: Path) -> None:
    texts = Remembered()
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


async def test_texts_are_found_again_after_a_crash() -> None:
    shelf: dict[str, str] = {}

    async def keep(key: str, text: str) -> None:
        shelf[key] = text

    async def find(key: str) -> str | None:
        return shelf.get(key)

    (hit,) = await engine("Plain", texts=Remembered(keep, find))(QUERY, limit=1)
    assert (await RetrieverReader(Remembered(find=find))(hit)).text == "Plain words."
    with pytest.raises(Unreadable, match="no longer known"):
        await RetrieverReader(Remembered())(hit)


async def test_memory_is_bounded_and_the_latest_stay() -> None:
    texts = Remembered(max_chars=10)
    first, second = await texts.put("12345"), await texts.put("67890")
    await texts.put("12345")
    third = await texts.put("abcde")
    assert [await texts.get(key) for key in (first, second, third)] == ["12345", None, "abcde"]


async def test_the_reader_reads_nothing_else() -> None:
    with pytest.raises(Refused):
        await RetrieverReader(Remembered())(at("https://a.example/1"))


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
    port: Engine = engine("store")
    assert (port.name, port.capabilities) == ("retriever", frozenset({"content"}))
