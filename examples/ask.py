"""Ask a question about your own documents, and print the report.

python examples/ask.py "How does the cache expire entries?" docs/ src/

No key is needed. With OPENAI_API_KEY, or FATHOM_BASE_URL for a server of your own, a model thinks and writes;
without a folder, the web is searched.
"""

import asyncio
import sys

from fathom import DeepResearcher, ResearchRequest


async def main(question: str, docs: list[str]) -> None:
    """Research, then print the report and what it stands on."""
    result = await DeepResearcher().research(ResearchRequest(query=question, docs=docs, rounds=2))
    print(result.report)
    print(f"{result.status}: {len(result.claims)} claims from {result.metadata.sources} pages,"
          f" ${result.metadata.cost_usd:.4f}, run {result.run_id}")  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
