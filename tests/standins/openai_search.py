"""OpenAI's `POST /v1/responses` with its web search: https://developers.openai.com/api/docs/guides/tools-web-search.

Does not search or think: it cites the pages it was made with, in their order.
"""

from collections.abc import Iterable
from typing import Any

from standins.server import Answer, Seen, StandIn, json_answer

KEY = "sk-test-0123456789"


def cited(*pages: tuple[str, str, str], listed: Iterable[dict[str, Any]] = ()) -> dict[str, Any]:
    """An answer that says a sentence about each page (address, title, sentence) and links it."""
    text, marks = "", []
    for url, title, sentence in pages:
        text += f"{sentence} "
        link = f"([{url.split('/')[2]}]({url}))"
        marks.append({"type": "url_citation", "start_index": len(text), "end_index": len(text + link)})
        marks[-1] |= {"title": title, "url": url}
        text += f"{link} "
    part = {"type": "output_text", "text": text.strip(), "logprobs": [], "annotations": marks}
    action: dict[str, Any] = {"type": "search", "query": "tides", "sources": list(listed)}
    return answered(
        {"id": "rs_1", "type": "reasoning", "summary": []},
        {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": action},
        {"id": "ws_2", "type": "web_search_call", "status": "completed", "action": {"type": "open_page"}},
        {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]},
    )


def answered(*items: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A response around some output items."""
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "output": list(items),
        "usage": {"input_tokens": 9299, "output_tokens": 577, "total_tokens": 9876},
        **more,
    }


def failure(status: int, message: str, *, code: str | None = None, param: str | None = None) -> Answer:
    """An error as the API writes it."""
    kind = "invalid_request_error"
    return json_answer({"error": {"message": message, "type": kind, "param": param, "code": code}}, status)


class OpenAiSearchServer(StandIn):
    """Gives one and the same answer to whoever has the key."""

    def __init__(self, answer: dict[str, Any], *, key: str = KEY) -> None:
        super().__init__()
        self.answer = answer
        self.key = key

    def answer_to(self, seen: Seen) -> Answer:
        """What the API would say to this key and this body."""
        if seen.method != "POST" or seen.route != "/v1/responses":
            return failure(404, "Not found")
        if seen.headers.get("authorization") != f"Bearer {self.key}":
            return failure(401, f"Incorrect API key provided: {self.key[:6]}***.", code="invalid_api_key")
        if seen.json["tools"][0]["type"] != "web_search":
            return failure(400, "Unknown tool.", param="tools")
        return json_answer(self.answer)
