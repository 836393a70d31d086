"""Steer a run from your own program: look at each plan, add a query, end it when you like.

python examples/steer.py "How does the cache expire entries?" docs/ src/

The run can be left at any moment and gone on with by its id: here, with `fathom resume`, or over a server.
"""

import asyncio
import sys

from fathom import DeepResearcher, ResearchRequest, ReviewAnswer
from fathom.events import RoundCompleted, SearchCompleted


async def main(question: str, docs: list[str]) -> None:
    """Add a query to the first plan, approve the next ones, and tell what is found."""
    async with DeepResearcher() as researcher:
        session = await researcher.start(ResearchRequest(query=question, docs=docs, rounds=2))
        table = await session.checkpoint()
        while table is not None:
            print(f"round {table.shown['round']}:", "; ".join(table.shown["queries"]))
            if table.shown["round"] == 1:
                await session.add_query(f"limits of {question}")
            async for event in session.events(ReviewAnswer(action="approve")):
                if isinstance(event.payload, SearchCompleted):
                    print(f"  {event.payload.hits} hits for {event.payload.query}")
                if isinstance(event.payload, RoundCompleted):
                    print(f"  {event.payload.claims} claims; {event.payload.summary}")
            table = None if session.is_complete else await session.checkpoint()
        print((await session.result()).report)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
