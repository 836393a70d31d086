"""The model's own web search: OpenAI's Responses API with its `web_search` tool.

Does not know retries. What the model writes is never evidence: only the addresses it points to are taken, and
their pages are read like any others.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import httpx2
from pydantic import BaseModel, Field, ValidationError, ValidatorFunctionWrapHandler, field_validator

from fathom.budget import reserve_request, use_meter, was_surely_refused
from fathom.budget.prices import Prices
from fathom.errors import BadInput, BadQuery, ProviderError, Refused, Unavailable, Unreadable
from fathom.http.urls import canonical_address
from fathom.search import Capability, ResultRow, Scope, to_hits
from fathom.search.api_client import ApiClient
from fathom.state import Hit, Query
from fathom.text.sentences import split_sentences
from fathom.text.token_count import count_tokens_at_worst

_MAX_DOMAINS = 100
# Tokens. With web search no model is given more than this to read, whatever it holds; that is documented.
_CONTEXT_TOKENS = 128_000
_OVERHEAD_TOKENS = 4_000  # what the service puts around our words: its rules, and how the tool is used
_SEARCHES = 1
_USUAL_IN, _USUAL_OUT = 12_000, 600
# For these, what was found is charged as so many tokens a search, and is not among those that are reported.
_BLOCK, _BLOCK_MODELS = 8_000, ("gpt-4o-mini", "gpt-4.1-mini")
_INSTRUCTIONS = (
    "Search the web for what the user asks and name the best pages, the most useful one first: one short "
    "sentence a page, with its link. Answer from the search alone."
)
_LINK = re.compile(r"\(?\[([^\[\]]*)\]\([^)\s]{0,2000}\)\)?")
_TRANSIENT = {"server_error", "rate_limit_exceeded", "vector_store_timeout"}


class _WebCitation(BaseModel):
    type: str | None = None
    url: str | None = None
    title: str | None = None
    start_index: int | None = None
    end_index: int | None = None


class _OutputPart(BaseModel):
    type: str | None = None
    text: str | None = None
    annotations: list[_WebCitation] | None = None


class _SearchAction(BaseModel):
    type: str | None = None
    sources: list[_WebCitation] | None = None


class _OutputItem(BaseModel):
    type: str
    status: str | None = None
    action: _SearchAction | None = None
    content: list[_OutputPart] | None = None


class _OpenAiError(BaseModel):
    code: str | None = None
    message: str | None = None
    param: str | None = None


_Tokens = Annotated[int, Field(strict=True, ge=0, le=100_000_000)]


class _TokenUsage(BaseModel):
    input_tokens: _Tokens
    output_tokens: _Tokens


class _OpenAiAnswer(BaseModel):
    output: list[_OutputItem]
    usage: _TokenUsage | None = None
    status: str | None = None
    error: _OpenAiError | None = None

    @field_validator("usage", mode="wrap")
    @classmethod
    def _counted(cls, value: Any, read: ValidatorFunctionWrapHandler) -> _TokenUsage | None:
        """What is no count of tokens says nothing."""
        try:
            found: _TokenUsage | None = read(value)
        except ValidationError:
            return None
        return found


class _OpenAiFailure(BaseModel):
    error: _OpenAiError


@dataclass(frozen=True)
class ModelSearch:
    """https://developers.openai.com/api/docs/guides/tools-web-search

    Key: `OPENAI_API_KEY`. Quirks: a search is paid by the call and by the tokens that the model reads of it,
    so one search is all a query gets; an answer is as long as `most_out` allows, thinking included; one may
    cite nothing although it searched, and then lists what it looked at; some of that has no address; a
    citation marks the link, not the sentence before it; 429 also means that the account is empty; hosts to
    avoid are not always kept away, and a list of hosts to stay in replaces them.
    """

    api_key: str = field(repr=False)
    model: str
    base_url: str = "https://api.openai.com/v1"
    scope: Scope = field(default_factory=Scope)
    timeout_s: float = 120.0
    with_sources: bool = True
    usd_per_call: float = 0.01  # and the tokens
    most_out: int = 4_096
    prices: Prices = field(default_factory=Prices)
    name: str = field(default="model", init=False)
    capabilities: frozenset[Capability] = field(default=frozenset({"web"}), init=False)

    def __post_init__(self) -> None:
        if not self.api_key.strip():
            raise BadInput("model needs OPENAI_API_KEY.")

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """The pages the model cites, in its order, then those it looked at."""
        headers = {"Authorization": f"Bearer {self.api_key}"}
        wire = _OpenAiClient(
            self.name, self.base_url, headers=headers, secret=self.api_key, timeout_s=self.timeout_s
        )
        answer = await self._paid(wire, query)
        rows: dict[str, ResultRow] = {}
        for row in _rows(answer):
            rows.setdefault(canonical_address(row.address or ""), row)
        found = to_hits(self.name, query, rows.values(), limit=limit)
        if not rows:
            _raise_if_failed(answer)
        return found

    @property
    def usual_usd(self) -> float:
        """What a search usually costs, its tokens included."""
        return self._usd(_SEARCHES, _USUAL_IN, _USUAL_OUT)

    async def _paid(self, wire: ApiClient, query: Query) -> _OpenAiAnswer:
        """The answer, paid for by the search and by its tokens; before it is there, by the most there can be.

        Left unsettled, it stays at that: of an answer that does not say its tokens nobody knows more.
        """
        body = self._body(query)
        async with reserve_request(self._worst_usd(body)) as hold:
            try:
                with use_meter(None):
                    answer = await wire.post("/responses", body, _OpenAiAnswer)
            except ProviderError as error:
                if was_surely_refused(error):
                    await hold.release()
                raise
            if answer.usage:
                usage, searches = answer.usage, _count_searches(answer)
                await hold.settle(
                    self._usd(searches, usage.input_tokens, usage.output_tokens),
                    usage.input_tokens,
                    usage.output_tokens,
                )
        return answer

    def _worst_usd(self, body: Mapping[str, Any]) -> float:
        """The query is read before the search, and again after it, with as much as there is room for."""
        first = count_tokens_at_worst(json.dumps(body, ensure_ascii=False)) + _OVERHEAD_TOKENS
        return self._usd(_SEARCHES, first + _SEARCHES * _CONTEXT_TOKENS, self.most_out)

    def _usd(self, searches: int, tokens_in: int, tokens_out: int) -> float:
        besides = searches * _BLOCK if self.model.startswith(_BLOCK_MODELS) else 0
        tokens_usd = self.prices.usd(self.model, self.base_url, tokens_in + besides, tokens_out) or 0.0
        return searches * self.usd_per_call + tokens_usd

    def _body(self, query: Query) -> dict[str, Any]:
        tool = {"type": "web_search", "user_location": {"type": "approximate"}, **self._filters()}
        return {
            "model": self.model,
            "instructions": " ".join([_INSTRUCTIONS, *self._wishes()]),
            "input": query.text,
            "tools": [tool],
            "tool_choice": "required",
            "max_tool_calls": _SEARCHES,
            "max_output_tokens": self.most_out,
            "include": ["web_search_call.action.sources"] if self.with_sources else None,
            "store": False,
        }

    def _filters(self) -> dict[str, Any]:
        inside, outside = self.scope.include_domains, self.scope.exclude_domains
        name, domains = ("allowed_domains", inside) if inside else ("blocked_domains", outside)
        return {"filters": {name: list(domains[:_MAX_DOMAINS])}} if domains else {}

    def _wishes(self) -> Iterator[str]:
        """What the tool has no switch for."""
        if self.scope.since:
            yield f"Only pages published on or after {self.scope.since.isoformat()}."
        if self.scope.until:
            yield f"Only pages published on or before {self.scope.until.isoformat()}."
        if self.scope.language:
            yield f"Prefer pages in the language {self.scope.language}."


class _OpenAiClient(ApiClient):
    """Tells an empty account from a rate limit, and a wrong question from a wrong setting."""

    def failed(self, response: httpx2.Response) -> ProviderError:
        """The error of an answer that is not a good one."""
        try:
            error = _OpenAiFailure.model_validate_json(response.content).error
        except ValidationError:
            error = _OpenAiError()
        if response.status_code == httpx2.codes.UNAUTHORIZED:  # its message shows parts of the key
            return Refused(f"{self.who} answered HTTP 401: OPENAI_API_KEY is not accepted")
        usual = super().failed(response)
        if error.code == "insufficient_quota" or response.status_code == httpx2.codes.NOT_FOUND:
            return Refused(str(usual))
        if response.status_code == httpx2.codes.BAD_REQUEST:
            if error.param == "input" or error.code == "context_length_exceeded":
                return BadQuery(str(usual))
            return Refused(str(usual)) if error.param else usual
        return usual


def _count_searches(answer: _OpenAiAnswer) -> int:
    """How many searches are charged: a page that was opened, or searched through, is none."""
    actions = [item.action for item in answer.output if item.type == "web_search_call"]
    return sum(action is None or action.type in (None, "search") for action in actions)


def _rows(answer: _OpenAiAnswer) -> Iterator[ResultRow]:
    for item in answer.output:
        for part in item.content or []:
            for mark in part.annotations or []:
                if mark.type == "url_citation":
                    yield ResultRow(mark.url, mark.title, _cited_sentence(part.text or "", mark))
    for item in answer.output:
        for source in (item.action.sources if item.action else None) or []:
            yield ResultRow(source.url)


def _cited_sentence(text: str, mark: _WebCitation) -> str:
    """The sentence that a link closes, or the one it opens."""
    start = min(max(mark.start_index or 0, 0), len(text))
    end = min(max(mark.end_index or 0, start), len(text))
    before = split_sentences(_LINK.sub("", text[text.rfind("\n", 0, start) + 1 : start]).strip())
    if before:
        return before[-1].text
    after = split_sentences(_LINK.sub("", text[end:].partition("\n")[0]).strip())
    return after[0].text if after else ""


def _raise_if_failed(answer: _OpenAiAnswer) -> None:
    """Why there is no page at all; silence means that nothing was found."""
    error = answer.error
    if error is not None and error.code in _TRANSIENT:
        raise Unavailable(f"model failed: {error.code}")
    if error is not None and error.code == "invalid_prompt":
        raise BadQuery("model did not take the query: invalid_prompt")
    if error is not None or answer.status in ("failed", "cancelled", "incomplete"):
        raise Unreadable(f"model did not finish: {(error and error.code) or answer.status}")
    if any(part.type == "refusal" for item in answer.output for part in item.content or []):
        raise BadQuery("model refused to search for this")
    searches = [item.status for item in answer.output if item.type == "web_search_call"]
    if not searches:
        raise Unreadable("model answered without searching the web")
    if all(status == "failed" for status in searches):
        raise Unavailable("model could not search: its web search failed")
