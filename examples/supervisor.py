"""Fathom as one of several agents below a supervisor: what they share is the list of messages.

python examples/supervisor.py "How does the cache expire entries?" docs/ src/

Here plain code decides who is next; a model may do so as well. Any agent with `messages` in and out fits.
"""

import asyncio
import sys
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.graph import END, START, MessagesState, StateGraph

from fathom.integrations.chat import graph as researcher
from fathom.state import RunConfig


async def clerk(state: MessagesState) -> dict[str, Any]:
    """Another agent: it files what the researcher said."""
    report = state["messages"][-1]
    words = len(report.text.split())
    return {
        "messages": [AIMessage(f"filed: {words} words, {report.response_metadata['status']}", name="clerk")]
    }


def next_agent(state: MessagesState) -> str:
    """The supervisor: a person's message goes to the researcher, a report to the clerk."""
    last = state["messages"][-1]
    return "researcher" if last.type == "human" else "clerk" if last.name == "fathom" else END


def build() -> Any:
    """The team."""
    builder = StateGraph(MessagesState, context_schema=RunConfig)
    builder.add_node("researcher", researcher)
    builder.add_node("clerk", clerk)
    for place in (START, "researcher", "clerk"):
        builder.add_conditional_edges(place, next_agent, ["researcher", "clerk", END])
    return builder.compile()


async def main(question: str, docs: list[str]) -> None:
    """Have the team work, and print what each says."""
    given = {"messages": [{"role": "user", "content": question}]}
    state = await build().ainvoke(given, context=RunConfig(docs=docs, rounds=1))
    for message in state["messages"][1:]:
        print(f"{message.name}: {message.text}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
