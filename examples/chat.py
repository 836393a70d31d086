"""Talk with a served Fathom in messages: a question, a follow-up, and the report brought up to date.

langgraph dev                              # in a clone of Fathom, in another terminal
python examples/chat.py http://127.0.0.1:2024 "How does the cache expire entries?" "Who set that?" docs/

What chat front ends do: text comes through `messages-tuple`, each section as soon as it is checked, and
Fathom's own events through `custom`. The documents are the server's, below its FATHOM_DOCS_ROOTS.
"""

import asyncio
import sys
from typing import Any

from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient


async def say(client: LangGraphClient, thread: str, text: str, docs: list[str]) -> None:
    """Send one message, tell what happens, and print the answer as it comes."""
    print(f"you: {text}")
    given: dict[str, Any] = {"messages": [{"role": "user", "content": text}]}
    settings: dict[str, Any] = {"docs": docs, "rounds": 1}
    async for part in client.runs.stream(
        thread,
        "chat",
        input=given,
        context=settings,
        stream_mode=["messages-tuple", "custom"],
    ):
        if part.event == "custom":
            print("  ", part.data["kind"])
        if part.event == "messages":
            print(part.data[0]["content"])


async def main(url: str, question: str, follow_up: str, docs: list[str]) -> None:
    """Ask, ask on, have it brought up to date, and print the last report as it stands."""
    async with get_client(url=url) as client:
        thread = (await client.threads.create())["thread_id"]
        for text in (question, follow_up, "/update"):
            await say(client, thread, text, docs)
        state = await client.threads.get_state(thread)
        print(state["values"]["messages"][-1]["content"])  # type: ignore[call-overload]


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
