"""Tests of the local engine, on small folders of our own."""

import asyncio
import shutil
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from fathom.errors import Refused, Unavailable
from fathom.reading import Document, parsers
from fathom.search.engines.local import LocalEngine
from fathom.search.local_index import list_documents
from fathom.state import Query

TIDES = "# Tides\n\nThe moon pulls the oceans, and so the water rises twice a day.\n"
BREAD = "# Bread\n\nFlour, water and salt are kneaded; the dough rests overnight before baking.\n"
BATTERY = (
    "# 배터리 재활용\n\n폐배터리에서 리튬과 니켈을 회수하는 공정은 습식 제련이 중심이다. 회수율은 95%다.\n"
)


class Counting:
    """The real parser, with a list of what it was given."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, body: bytes, *, content_type: str | None, name: str) -> Document:
        self.names.append(Path(name).name)
        return parsers.parse_document(body, content_type=content_type, name=name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    (made / "deep").mkdir(parents=True)
    (made / "tides.md").write_text(TIDES)
    (made / "bread.md").write_text(BREAD)
    (made / "deep" / "battery.md").write_text(BATTERY)
    return made


def engine_for(folder: Path, parse: Counting | None = None, lock_wait_s: float = 20) -> LocalEngine:
    home = folder.parent / "index"
    return LocalEngine((folder,), home, parse=parse or Counting(), lock_wait_s=lock_wait_s)


async def search(engine: LocalEngine, text: str, limit: int = 5) -> list[str]:
    hits = await engine(Query(id="q1", text=text, question="s1", round=1), limit=limit)
    return [Path(hit.address).name for hit in hits]


async def test_a_hit_says_where_and_what(folder: Path) -> None:
    engine = engine_for(folder)
    (hit, *_) = await engine(Query(id="q1", text="why do oceans rise", question="s1", round=1), limit=3)
    assert hit.address == (folder / "tides.md").resolve().as_uri()
    assert (hit.title, hit.engine, hit.rank, hit.query) == ("Tides", "local", 1, "q1")
    assert "The moon pulls the oceans" in hit.snippet
    assert engine.name == "local"
    assert engine.capabilities == frozenset({"local", "content"})


async def test_english_is_found_in_any_form_of_the_word(folder: Path) -> None:
    engine = engine_for(folder)
    assert (await search(engine, "kneading"))[0] == "bread.md"
    assert (await search(engine, "OCEAN"))[0] == "tides.md"


@pytest.mark.parametrize("text", ["배터리", "배터리를 재활용하는 공정은?", "리튬 회수율", "니켈이"])
async def test_korean_is_found_whatever_particle_follows(folder: Path, text: str) -> None:
    assert await search(engine_for(folder), text) == ["battery.md"]


async def test_the_name_of_a_file_counts_too(folder: Path) -> None:
    (folder / "zanzibar-trip.txt").write_text("We packed our bags and left in the morning.")
    assert await search(engine_for(folder), "zanzibar") == ["zanzibar-trip.txt"]


async def test_a_file_is_one_hit_however_many_passages_match(folder: Path) -> None:
    (folder / "long.md").write_text(
        "\n\n".join(f"Lighthouse {n} " + "stands by the sea " * 30 for n in range(20))
    )
    hits = await engine_for(folder)(Query(id="q", text="lighthouse", question="s", round=1), limit=5)
    assert [Path(hit.address).name for hit in hits] == ["long.md"]
    assert len(hits[0].snippet) <= 300


async def test_the_limit_is_kept(folder: Path) -> None:
    assert len(await search(engine_for(folder), "water", limit=1)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "xyzzyplugh",
        "",
        "   ",
        "🙂🚀",
        '"',
        "AND OR NOT",
        "title:water^2",
        "(((",
        "water~",
        "[a TO b]",
        "the of",
        "\0\n",
        "*",
    ],
)
async def test_no_query_text_ever_raises(folder: Path, text: str) -> None:
    await search(engine_for(folder), text)


async def test_nonsense_finds_nothing(folder: Path) -> None:
    assert await search(engine_for(folder), "xyzzyplugh") == []


async def test_a_second_run_reads_nothing_again(folder: Path) -> None:
    first, second = Counting(), Counting()
    assert await engine_for(folder, first).prepare() == 3
    assert await engine_for(folder, second).prepare() == 3
    assert (len(first.names), second.names) == (3, [])


async def test_only_the_changed_file_is_read_again_and_replaced(folder: Path) -> None:
    await engine_for(folder).prepare()
    (folder / "tides.md").write_text("# Volcanoes\n\nLava flows down the mountain.\n")
    parse = Counting()
    engine = engine_for(folder, parse)
    assert await search(engine, "lava") == ["tides.md"]
    assert await search(engine, "moon") == []
    assert parse.names == ["tides.md"]


async def test_a_deleted_file_is_forgotten(folder: Path) -> None:
    await engine_for(folder).prepare()
    (folder / "tides.md").unlink()
    engine = engine_for(folder)
    assert await search(engine, "moon oceans") == []
    assert await engine.prepare() == 2


async def test_a_file_whose_writing_was_cut_off_between_index_and_manifest_is_not_doubled(
    folder: Path,
) -> None:
    await engine_for(folder).prepare()
    for manifest in (folder.parent / "index").rglob("manifest.sqlite"):
        manifest.unlink()
    hits = await engine_for(folder)(Query(id="q", text="moon", question="s", round=1), limit=5)
    assert len(hits) == 1


@pytest.mark.parametrize("damage", ["meta.json", "manifest.sqlite", "*.idx", "*.store", "*.term", "all"])
async def test_a_damaged_index_is_built_anew(folder: Path, damage: str) -> None:
    await engine_for(folder).prepare()
    home = folder.parent / "index"
    damaged = [path for path in home.rglob("*" if damage == "all" else damage) if path.is_file()]
    assert damaged
    for path in damaged:
        path.write_bytes(b"\x07garbage" * 20)
    assert (await search(engine_for(folder), "moon"))[0] == "tides.md"


async def test_a_lost_index_with_a_surviving_manifest_is_built_anew(folder: Path) -> None:
    await engine_for(folder).prepare()
    for passages in (folder.parent / "index").rglob("passages"):
        shutil.rmtree(passages)
    assert (await search(engine_for(folder), "moon"))[0] == "tides.md"


async def test_two_engines_may_index_one_folder_at_once(folder: Path) -> None:
    one, two = engine_for(folder), engine_for(folder)
    found = await asyncio.gather(search(one, "moon"), search(two, "moon"), search(one, "dough"))
    assert list(found) == [["tides.md"], ["tides.md"], ["bread.md"]]


async def test_two_processes_may_index_one_folder_at_once(folder: Path) -> None:
    script = (
        "import asyncio, sys; from pathlib import Path; from fathom.search.engines.local import LocalEngine;"
        "print(asyncio.run(LocalEngine((Path(sys.argv[1]),), Path(sys.argv[2])).prepare()))"
    )
    home = str(folder.parent / "index")
    runs = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", script, str(folder), home, stdout=asyncio.subprocess.PIPE
        )
        for _ in range(2)
    ]
    outputs = [await run.communicate() for run in runs]
    assert [output.strip() for output, _ in outputs] == [b"3", b"3"]


async def test_who_waits_too_long_searches_what_is_there(folder: Path) -> None:
    await engine_for(folder).prepare()
    (lock,) = (folder.parent / "index").glob("*.lock")
    with FileLock(lock):
        assert await search(engine_for(folder, lock_wait_s=0.1), "moon") == ["tides.md"]


async def test_who_waits_too_long_for_a_first_index_is_told(folder: Path) -> None:
    await engine_for(folder).prepare()
    (lock,) = (folder.parent / "index").glob("*.lock")
    shutil.rmtree(lock.with_suffix(""))
    with FileLock(lock), pytest.raises(Unavailable, match="another process is still indexing"):
        await search(engine_for(folder, lock_wait_s=0.1), "moon")


async def test_many_queries_at_once_sync_once(folder: Path) -> None:
    parse = Counting()
    engine = engine_for(folder, parse)
    await asyncio.gather(*(search(engine, "moon") for _ in range(20)))
    assert len(parse.names) == 3


def test_one_engine_serves_several_event_loops(folder: Path) -> None:
    engine = engine_for(folder)
    for _ in range(2):
        assert asyncio.run(search(engine, "moon")) == ["tides.md"]


async def test_what_cannot_be_read_is_a_loss_and_what_is_empty_is_not(folder: Path) -> None:
    (folder / "empty.md").write_bytes(b"")
    (folder / "__init__.py").write_text("")
    (folder / "code.py").write_text("x = 1\n")
    (folder / "binary.txt").write_bytes(bytes(range(256)))
    (folder / "bad.py").write_text("def (:\n")
    (folder / "broken.md").symlink_to(folder / "nowhere")
    engine = engine_for(folder)
    failures = {Path(failure.what).name: failure for failure in await engine.failures()}
    assert set(failures) == {"binary.txt", "bad.py", "broken.md"}
    assert {failure.where for failure in failures.values()} == {"local"}
    assert "is not text" in failures["binary.txt"].why
    assert len(engine.unread) == 3
    assert await engine.prepare() == 3


async def test_losses_are_remembered_without_reading_again(folder: Path) -> None:
    (folder / "binary.txt").write_bytes(bytes(range(256)))
    await engine_for(folder).prepare()
    parse = Counting()
    assert len(await engine_for(folder, parse).failures()) == 1
    assert parse.names == []


async def test_hidden_and_foreign_folders_are_passed_over(folder: Path) -> None:
    for name in (".git", "__pycache__", "node_modules", ".hidden"):
        (folder / name).mkdir()
        (folder / name / "x.md").write_text("zanzibar")
    (folder / ".secret.md").write_text("zanzibar")
    (folder / "picture.png").write_bytes(b"zanzibar")
    assert await search(engine_for(folder), "zanzibar") == []


async def test_links_never_lead_out_of_the_folder_or_in_circles(folder: Path) -> None:
    outside = folder.parent / "outside.md"
    outside.write_text("zanzibar")
    (folder / "link.md").symlink_to(outside)
    (folder / "deep" / "circle").symlink_to(folder)
    (folder / "same.md").symlink_to(folder / "tides.md")
    engine = engine_for(folder)
    assert await search(engine, "zanzibar") == []
    assert await search(engine, "moon") == ["tides.md"]
    assert [why for _, why in engine.unread] == ["a link in the folder points to it, but it is outside"]


async def test_a_root_may_be_a_file_or_missing(folder: Path) -> None:
    engine = LocalEngine((folder / "tides.md", folder / "missing"), folder.parent / "index")
    assert await engine.prepare() == 1
    assert engine.unread == [(str(folder / "missing"), "it does not exist")]


async def test_an_empty_folder_has_no_documents(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    engine = engine_for(tmp_path / "none")
    assert await engine.prepare() == 0
    assert await search(engine, "anything") == []


async def test_a_place_where_no_index_can_be_kept_is_refused(folder: Path) -> None:
    blocked = folder.parent / "blocked"
    blocked.write_text("a file where a folder should be")
    with pytest.raises(Refused, match="cannot be kept in"):
        await LocalEngine((folder,), blocked).prepare()


def test_nothing_is_written_into_the_folder(folder: Path) -> None:
    before = sorted(folder.iterdir())
    asyncio.run(engine_for(folder).prepare())
    assert sorted(folder.iterdir()) == before


async def test_indexing_tells_how_far_it_is(folder: Path) -> None:
    told: list[tuple[int, int]] = []
    engine = LocalEngine((folder,), folder.parent / "index", progress=lambda *far: told.append(far))
    number = len(list_documents((folder,)).files)
    await engine.prepare()
    assert told == [(done, number) for done in range(1, number + 1)]
