"""Searches under SIGKILL: what a node has seen is never sent again, whenever the process dies."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from standins.server import Answer, Seen, StandIn, json_answer

pytestmark = pytest.mark.kill
KILLS, QUERIES = 40, 400
CHILD = """
import asyncio, sys
from pathlib import Path
from fathom.budget import Budget
from fathom.search.engines import engines_for
from fathom.settings import load_settings
from fathom.state import Query, RunConfig
from fathom.storage import open_storage
home, url, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
settings = load_settings(home=home, brave_api_key="key", engine_urls={"brave": url})
budget = Budget(open_storage(home / "fathom.sqlite").costs, "run", 100.0, 0.0)
engines = engines_for(settings, RunConfig(engines=["brave"])).within(budget)
async def main():
    with (home / "seen").open("a", buffering=1) as seen:
        async def ask(number):
            query = Query(id=f"q{number}", text=f"tides {number}", question="Q1", round=1)
            await engines.search(query, limit=2)
            seen.write(f"tides {number}\\n")
        for start in range(0, count, 4):
            await asyncio.gather(*(ask(number) for number in range(start, start + 4)))
asyncio.run(main())
"""


class Brave(StandIn):
    """Finds one page for every query, and counts."""

    def answer_to(self, seen: Seen) -> Answer:
        row = {"url": "https://a.example/", "title": "T", "description": "D"}
        return json_answer({"query": {"more_results_available": False}, "web": {"results": [row]}})


def test_no_search_that_a_node_has_seen_is_sent_again(tmp_path: Path) -> None:
    chance = random.Random(7)
    journal = tmp_path / "seen"
    journal.touch()
    with Brave() as brave:
        words = [sys.executable, "-c", CHILD, str(tmp_path), brave.url, str(QUERIES)]
        for _ in range(KILLS):
            lines = len(journal.read_text().splitlines())
            known, before = set(journal.read_text().split("\n")), len(brave.records)
            child = subprocess.Popen(words)
            if lines < QUERIES:  # once it works, kill it at any moment
                while len(brave.records) == before and child.poll() is None:
                    time.sleep(0.001)
                time.sleep(chance.random() * 0.1)
                os.kill(child.pid, signal.SIGKILL)
            child.wait()
            asked = [seen.params["q"] for seen in brave.records[before:]]
            assert not known & set(asked)
        sent = Counter(seen.params["q"] for seen in brave.records)
    # A request that was under way when the process died may be sent again; four are at once.
    assert sum(sent.values()) - len(sent) <= 4 * KILLS
