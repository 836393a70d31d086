"""A database on its bad days: flipped bytes, a torn WAL, no room, another version, a wild clock.

Each day is a copy of one home with a finished run and one that waits. Every command ends by itself, with a
report or with one sentence; and what can be read is saved.
"""

import os
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from standins.documents import TIDES, written

from attacks.attempt import Attempt
from attacks.quick_commands import Command, QuickCommands

_QUESTION = "How much does tidal power cost?"
_SEED = 11
_HEADER_PLACES = (0, 16, 18, 24, 28, 44, 56, 60, 96, 100, 104, 110, 500)
_ROOMS = (1_000, 20_000, 100_000, 160_000, 200_000, 260_000)
Spoil = Callable[[Path], None]


def attack_the_database(folder: Path, flips: int = 3) -> Iterator[Attempt]:
    """Every day, and every command on it."""
    with QuickCommands() as commands, tempfile.TemporaryDirectory() as name:
        top = Path(name)
        top.chmod(0o755)
        base = top / "base"
        done, waiting = _make_home(commands, base)
        words = {
            "runs": ["runs"],
            "show": ["show", done],
            "resume": ["resume", waiting, "--approve"],
            "new run": [_QUESTION, "--docs", "docs"],
            "rescue": ["rescue", "--to", "saved"],
        }
        for day, spoil, about in _days(base / "fathom.sqlite", flips):
            for what, said in words.items():
                home = top / "day"
                shutil.rmtree(home, ignore_errors=True)
                shutil.copytree(base, home)
                spoil(home / "fathom.sqlite")
                code, told = commands.run(replace(about, words=said, home=str(home)))
                yield _judge(f"{day}: {what}", code, told)


def _judge(name: str, code: int, told: str) -> Attempt:
    last = (told.strip().splitlines() or [""])[-1]
    is_told = code in (0, 3, 4) or (code in (1, 2) and ("fathom: " in last or "lost" in last))
    return Attempt(name, is_told and "Traceback" not in told, f"{code} {last[:160]}")


def _make_home(commands: QuickCommands, base: Path) -> tuple[str, str]:
    base.mkdir()
    written(base / "docs", TIDES)
    for words in ([_QUESTION], ["What limits tidal power?", "--review", "plan"]):
        code, told = commands.run(Command([*words, "--docs", "docs"], str(base)))
        assert code in (0, 3), told
    shutil.rmtree(base / "runs")
    with closing(sqlite3.connect(base / "fathom.sqlite")) as connection:
        connection.execute("pragma wal_checkpoint(truncate)").fetchall()
        rows = connection.execute("select run from run_records order by started").fetchall()
    return rows[0][0][:8], rows[1][0][:8]


def _days(database: Path, flips: int) -> Iterator[tuple[str, Spoil, Command]]:
    usual = Command([], "")
    chance = random.Random(_SEED)
    size = database.stat().st_size
    places = [*_HEADER_PLACES, *(chance.randrange(size) for _ in range(flips))]
    for number, place in enumerate(places):
        count = 1 if number % 2 else 64
        yield f"{count} bytes flipped at {place}", _flip(place, count), usual
    for share in (0.1, 0.5, 0.9):
        yield f"file cut off at {share:.0%}", _cut(share), usual
    yield "torn WAL", _tear_wal, usual
    yield "WAL of another file", lambda path: _write_wal(path, b"\x37\x7f\x06\x82" + b"x" * 9_000), usual
    yield "empty file", lambda path: os.truncate(path, 0), usual
    yield "a folder in its place", _make_folder, usual
    yield "newer version", _set_version(99), usual
    yield "older version", _set_version(2), usual
    yield "may not be written", _lock_up, replace(usual, is_nobody=True)
    for room in _ROOMS:
        yield f"disk full at {room:,} bytes", lambda path: None, replace(usual, room_bytes=room)
    for years in (-20, 20):
        jump = replace(usual, clock_jump_s=years * 365.25 * 86_400)
        yield f"clock jumps {years:+} years", lambda path: None, jump


def _flip(place: int, count: int) -> Spoil:
    def flip(path: Path) -> None:
        body = bytearray(path.read_bytes())
        for at in range(place, min(place + count, len(body))):
            body[at] ^= 0xFF
        path.write_bytes(body)

    return flip


def _cut(share: float) -> Spoil:
    return lambda path: os.truncate(path, int(path.stat().st_size * share))


def _tear_wal(path: Path) -> None:
    """Leave a WAL whose last write was cut off in the middle."""
    connection = sqlite3.connect(path)
    connection.execute("update run_records set cost_usd = cost_usd + 0")
    connection.commit()
    wal = Path(f"{path}-wal").read_bytes()
    connection.close()
    _write_wal(path, wal[: len(wal) - 2_000])


def _write_wal(path: Path, body: bytes) -> None:
    Path(f"{path}-wal").write_bytes(body)


def _make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _set_version(version: int) -> Spoil:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"pragma user_version={version}")

    return change


def _lock_up(path: Path) -> None:
    path.chmod(0o444)
    path.parent.chmod(0o555)
