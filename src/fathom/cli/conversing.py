"""`fathom ask`: ask on in a thread, look at it, or close it.

Does not know how a question is answered.
"""

import argparse
import asyncio

from fathom.cli.cells import plain
from fathom.cli.options import settings_of
from fathom.cli.working import follow_up
from fathom.ids import short_id
from fathom.report.messages import format_count
from fathom.runs import view_builder
from fathom.runs.executor import open_runs


def ask(arguments: argparse.Namespace) -> int:
    """Ask a later question; without one, show the thread or close it."""
    if arguments.question is not None:
        return follow_up(arguments)
    return asyncio.run(_looked_at(arguments))


async def _looked_at(arguments: argparse.Namespace) -> int:
    async with open_runs(settings_of(arguments)) as runs:
        run_id = await runs.find(arguments.id)
        thread = await (view_builder.close_thread if arguments.close else view_builder.load_thread)(
            runs, run_id
        )
    print(f"Thread {short_id(thread.id)}, {thread.status}, {format_count(len(thread.queries), 'question')}")
    answers = {answer.query_id: answer for answer in thread.answers}
    for query in thread.queries:
        print(f"\n{short_id(query.id)}  {query.status}  {plain(query.content)}")
        if query.id in answers:
            print(f"  {plain(answers[query.id].opening)}")
    return 0
