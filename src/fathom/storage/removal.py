"""Runs taken out of a database, and what only they needed; the same words for both dialects.

Does not know files or servers. Whatever in a row that stays looks like the name of a page keeps that page: no
schema has to be understood.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from fathom.storage.compression import inflate
from fathom.storage.records import RemovedRows
from fathom.storage.sql import Connection
from fathom.storage.tables import TABLES_BY_RUN

_HEX = re.compile(rb"[0-9a-f]{32,}")

_PAGE, _RUN = 64, 32  # characters of a page's name, and of the name that branches share

_GRACE_S = 3600.0  # a text put by who is at work may wait so long until a checkpoint names it

_USUAL_AGE_S = 30 * 24 * 3600.0


def remove_runs(
    connection: Connection,
    bodies: Mapping[str, str],
    gone: Sequence[str],
    *,
    is_idle: bool,
    now: float,
    older_s: float | None,
) -> RemovedRows:
    """Take out the threads that are gone and what nobody needs any more, within one transaction.

    `bodies` are LangGraph's tables, each with the words for what a row holds.
    """
    age_s = _USUAL_AGE_S if older_s is None else older_s
    for table in ("gone", "needed"):
        connection.execute(f"create temporary table {table} (name text primary key)")
    add_gone = "insert into gone values (?) on conflict do nothing"
    connection.executemany(add_gone, [(run,) for run in gone])
    staying = _names_in_rows(connection, bodies, "not in")
    leaving = {name for name in _names_in_rows(connection, bodies, "in") - staying if len(name) == _RUN}
    connection.executemany("insert into needed values (?)", [(name,) for name in staying])
    connection.executemany(add_gone, [(name,) for name in leaving])
    counts = [
        *(_delete_rows(connection, table, body, _IS_GONE) for table, body in bodies.items()),
        *(_delete_rows(connection, table, body, _IS_OF_GONE) for table, body in TABLES_BY_RUN.items()),
    ]
    replies = _delete_rows(connection, "replies", "reply", _IS_ORPHANED, now - age_s)
    unneeded = "sha not in (select name from needed) and used_at < ?"
    pages = _delete_rows(connection, "pages", "body", unneeded, now - (0.0 if is_idle else _GRACE_S))
    connection.execute("delete from web_pages where checked < ?", (now - age_s,))
    for table in ("gone", "needed"):
        connection.execute(f"drop table {table}")
    every = [*counts, replies, pages]
    return RemovedRows(sum(n for n, _ in every), sum(size for _, size in every), pages[0], replies[0])


_IS_GONE = "thread_id in (select name from gone)"
_IS_OF_GONE = "owner(run) in (select name from gone)"
_IS_ORPHANED = (  # replies that belong to no run that is there, old ones
    "at < ? and owner(run) not in (select thread_id from checkpoints)"
    " and owner(run) not in (select name from needed)"
)


def _names_in_rows(connection: Connection, bodies: Mapping[str, str], which: str) -> set[str]:
    """Everything in the rows of threads that are, or are not, gone that may name a page or a run."""
    names: set[str] = set()
    for table, body in bodies.items():
        words = f"select type, {body} from {table} where thread_id {which} (select name from gone)"  # noqa: S608
        for kind, held in connection.execute(words):
            names.update(_names_in_body(kind or "", held or b""))
    return names


def _names_in_body(kind: str, body: bytes | str) -> Iterator[str]:
    plain = body.encode() if isinstance(body, str) else inflate(kind, body)[1]
    for found in _HEX.findall(plain):
        # What stands beside a name may look like more of it.
        size = _PAGE if len(found) >= _PAGE else _RUN
        for start in range(len(found) - size + 1):
            yield found[start : start + size].decode()


def _delete_rows(
    connection: Connection, table: str, body: str, condition: str, *given: float
) -> tuple[int, int]:
    """Rows that went and the bytes they held. All words are our own: none comes from outside."""
    words = f"select count(*), coalesce(sum(length({body})), 0) from {table} where {condition}"  # noqa: S608
    count, size = connection.execute(words, given).fetchone()
    connection.execute(f"delete from {table} where {condition}", given)  # noqa: S608
    return int(count), int(size)
