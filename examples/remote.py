"""Call a Fathom that is served elsewhere, as if it were a graph of your own.

langgraph dev                              # in a clone of Fathom, in another terminal
python examples/remote.py http://127.0.0.1:2024 "How does the cache expire entries?" docs/

The documents are the server's: it reads below the folders that its FATHOM_DOCS_ROOTS names.
"""

import asyncio
import sys
from typing import Any
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command
from langgraph_sdk import get_client


async def main(url: str, question: str, docs: list[str]) -> None:
    """Have the plan shown, send other queries instead, and print the report."""
    config: RunnableConfig = {"configurable": {"thread_id": str(uuid4())}}
    context: dict[str, Any] = {"docs": docs, "rounds": 1, "review": "plan"}
    async with get_client(url=url) as client:
        remote = RemoteGraph("research", client=client)
        waiting = await remote.ainvoke({"question": question}, config, context=context)
        shown = waiting["__interrupt__"][0]["value"]
        print("planned:", "; ".join(shown["queries"]))
        answer = {"action": "edit", "queries": [*shown["queries"], f"{question} limits"]}
        async for part in remote.astream(Command(resume=answer), config, stream_mode="updates"):
            print("done:", *part)
        print((await remote.aget_state(config)).values["report"]["markdown"])


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
