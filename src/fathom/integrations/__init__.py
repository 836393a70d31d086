"""Fathom inside other tools: an MCP server, a graph of messages, and here a tool of somebody's own agent.

Does not know which agent.
"""

from typing import Annotated, Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, Field

from fathom.concurrency import run_blocking
from fathom.errors import BadInput, FathomError
from fathom.request import ResearchRequest
from fathom.researcher import DeepResearcher
from fathom.result import ResearchResult
from fathom.runs.follow_up import BRANCH_FIELDS

_DESCRIPTION = (
    "Research a question in depth and return a report in which every sentence leads back to a quotation in a"
    " source that was read. Takes minutes. The last line gives the status and the run's id; pass the id as"
    " `follow_up_of` to ask on, which uses what is known before it searches."
)


class _Arguments(BaseModel):
    question: Annotated[str, Field(min_length=1, description="What to find out, as a whole question.")]
    follow_up_of: Annotated[
        str, Field(description="The id of an earlier run that the question builds on; empty: a new subject.")
    ] = ""


def as_tool(
    researcher: DeepResearcher | None = None,
    *,
    name: str = "deep_research",
    description: str = _DESCRIPTION,
    **config: Any,
) -> BaseTool:
    """A LangChain tool that researches a question; `config` holds for every call: `budget_usd=0.5, rounds=2`.

    The report is the tool's content, and the whole `ResearchResult` its artifact. What goes wrong is told to
    the agent in one sentence.

    >>> import fathom
    >>> tool = fathom.as_tool(docs=["papers"], rounds=1)
    >>> tool.name, "48 metres" in tool.invoke({"question": "How high is the tower?"})
    ('deep_research', True)
    """
    asking = researcher or DeepResearcher()
    if (
        ResearchRequest(query="any", **config).config.review != "off"
    ):  # a setting that makes no sense raises too
        raise BadInput("A tool cannot wait for a review; leave `review` out.")

    async def deep_research(question: str, follow_up_of: str = "") -> tuple[str, ResearchResult]:
        try:
            if follow_up_of:
                own = {word: value for word, value in config.items() if word not in BRANCH_FIELDS}
                asked = ResearchRequest(query=question, **own)
                result = await asking.follow_up(follow_up_of, asked)
            else:
                result = await asking.research(ResearchRequest(query=question, **config))
        except FathomError as error:
            raise ToolException(str(error)) from error
        return f"{result.report}\n\n(status: {result.status}; run {result.run_id})", result

    def deep_research_sync(question: str, follow_up_of: str = "") -> tuple[str, ResearchResult]:
        return run_blocking(lambda: deep_research(question, follow_up_of))

    return StructuredTool.from_function(
        deep_research_sync,
        coroutine=deep_research,
        name=name,
        description=description,
        args_schema=_Arguments,
        response_format="content_and_artifact",
        handle_tool_error=True,
    )
