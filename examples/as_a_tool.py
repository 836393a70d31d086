"""Fathom as a tool of your own agent.

python examples/as_a_tool.py openai:gpt-4.1 "Is the cache safe to use across processes?" docs/ src/

The agent decides what to research; Fathom keeps the cap on money and rounds. The report is the tool's
content, and the whole result its artifact.
"""

import asyncio
import sys

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel

import fathom


async def main(model: str | BaseChatModel, question: str, docs: list[str]) -> None:
    """Let the agent answer, and print what it researched and said."""
    agent = create_agent(model, tools=[fathom.as_tool(docs=docs, rounds=1, budget_usd=0.5)])
    state = await agent.ainvoke({"messages": [{"role": "user", "content": question}]})
    for message in state["messages"]:
        if message.type == "tool":
            found = message.artifact
            print(f"researched: {found.question} ({found.status}, {len(found.citations)} citations)")
    print(state["messages"][-1].text)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
