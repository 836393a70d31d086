"""Fathom as a node of your own LangGraph graph: it researches, your nodes do the rest.

python examples/as_a_subgraph.py "How does the cache expire entries?" docs/ src/

Your state and Fathom's share the keys of the same name: `question` goes in, `report` comes out. The
configuration is the context. The saver of your graph also keeps Fathom's steps, so that its review interrupts
your graph, and a crash loses nothing.
"""

import asyncio
import sys
from typing import Any, TypedDict
from uuid import uuid4

from langgraph.graph import END, START, StateGraph
from langgraph.types import Checkpointer, Command

from fathom.graph import graph as fathom
from fathom.state import Report, RunConfig
from fathom.storage.checkpoints import checkpointer


class Desk(TypedDict, total=False):
    """What your graph knows."""

    topic: str
    question: str  # what Fathom is asked
    report: Report  # what it brings back
    memo: str


async def ask(state: Desk) -> Desk:
    """Your own node before the research."""
    return {"question": f"What is known about {state['topic']}?"}


async def summarise(state: Desk) -> Desk:
    """Your own node after it: here, the report's status and its first sentences."""
    report = state["report"]
    sentences = [sentence.text for section in report.sections for sentence in section.sentences]
    return {"memo": f"{report.status}, {len(report.citations)} citations: {' '.join(sentences[:2])}"}


def build(saver: Checkpointer = None) -> Any:
    """Your graph, with Fathom in the middle."""
    builder = StateGraph(Desk, context_schema=RunConfig)
    builder.add_node("ask", ask)
    builder.add_node("research", fathom)
    builder.add_node("summarise", summarise)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", "research")
    builder.add_edge("research", "summarise")
    builder.add_edge("summarise", END)
    return builder.compile(checkpointer=saver)


async def main(topic: str, docs: list[str]) -> None:
    """Stop at the plan, send a query of our own with it, and go on to the memo."""
    run_config = RunConfig(docs=docs, rounds=1, review="plan")
    config = {"configurable": {"thread_id": str(uuid4())}}
    async with checkpointer() as saver:  # Fathom's own: it knows the types in the state
        desk = build(saver)
        waiting = await desk.ainvoke({"topic": topic}, config, context=run_config)
        print("planned:", "; ".join(waiting["__interrupt__"][0].value["queries"]))
        answer = {"action": "add", "text": f"limits of {topic}"}
        state = await desk.ainvoke(Command(resume=answer), config, context=run_config)
    print(state["memo"])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
