"""The command that starts a new database in the place of an earlier version's.

Does not know how: it says what was kept, and where.
"""

import argparse
from pathlib import Path

from fathom.cli.options import settings_of
from fathom.ids import short_id
from fathom.upgrade import upgrade


def upgrade_database(arguments: argparse.Namespace) -> int:
    """Keep the reports, move the old file aside, begin a new one."""
    settings = settings_of(arguments)
    done = upgrade(settings.database, Path(arguments.to))
    print(f"A new database is at {settings.database}; the old one was kept as {done.old}.")
    if done.in_folders:
        print(f"Reports of {len(done.in_folders)} runs are in their folders, as before.")
    for run, folder in done.exported.items():
        print(f"The report of run {short_id(run)} was written to {folder}.")
    for run in done.unreadable:
        print(f"Run {short_id(run)} could not be read; it is still in {done.old}.")
    return 0
