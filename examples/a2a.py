"""Ask a served Fathom by the Agent2Agent protocol, as any agent that speaks it does.

langgraph dev                              # in a clone of Fathom, in another terminal
python examples/a2a.py http://127.0.0.1:2024 "How does the cache expire entries?" "Who set that?"

What is searched, the operator says: `[run]` in the server's fathom.toml. The `contextId` of the first answer
names the conversation, in which the second question is a follow-up.
"""

import asyncio
import sys
from typing import Any
from uuid import uuid4

from httpx2 import AsyncClient
from langgraph_sdk import get_client


async def ask(client: AsyncClient, address: str, text: str, conversation: str = "") -> dict[str, Any]:
    """Send one message and return the task that answered it."""
    message: dict[str, Any] = {
        "role": "user",
        "messageId": str(uuid4()),
        "parts": [{"kind": "text", "text": text}],
        **({"contextId": conversation} if conversation else {}),
    }
    call = {"jsonrpc": "2.0", "id": str(uuid4()), "method": "message/send", "params": {"message": message}}
    reply = await client.post(address, json=call, headers={"Accept": "application/json"})
    answer: dict[str, Any] = reply.raise_for_status().json()
    if "error" in answer:
        raise SystemExit(answer["error"]["message"])
    task: dict[str, Any] = answer["result"]
    return task


async def main(url: str, question: str, follow_up: str) -> None:
    """Find the agent, ask it, and ask on in the same conversation."""
    async with get_client(url=url) as server:
        (agent,) = await server.assistants.search(graph_id="chat")
    address = f"{url}/a2a/{agent['assistant_id']}"
    async with AsyncClient(timeout=600) as client:
        first = await ask(client, address, question)
        second = await ask(client, address, follow_up, first["contextId"])
    for task in (first, second):
        print(task["status"]["state"], *(part["text"] for a in task["artifacts"] for part in a["parts"]))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:4]))
