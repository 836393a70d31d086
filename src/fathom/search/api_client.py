"""One request to a search service over HTTP, and its answer in the shape we need.

Does not know any service, retries or limits. What goes wrong becomes one of our errors; none shows a key.
"""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx2
from lxml import etree  # type: ignore[import-untyped]
from pydantic import BaseModel, ValidationError

from fathom.budget import NO_ANSWER_IN_TIME, Reservation, reserve_request
from fathom.errors import BadInput, BadQuery, ProviderError, Refused, Unavailable, Unreachable, Unreadable
from fathom.http import client, error_for_status
from fathom.http.client import USER_AGENT, BodyTooLarge

W = TypeVar("W", bound=BaseModel)
_MAX_BYTES = 20_000_000
_SAID_CHARS = 200
_CONNECT_S = 10.0
# There was no connection to send it on: nobody can have worked for it, and nobody is paid.
_UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


@dataclass(frozen=True)
class ApiClient:
    """A service: its name for people, its address, and what every request to it carries.

    `malformed` are the statuses by which it documents that it did not understand a query.
    """

    who: str
    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secret: str = field(default="", repr=False)
    timeout_s: float = 30.0
    malformed: Collection[int] = ()
    last_headers: dict[str, str] = field(default_factory=dict, repr=False)  # of the last good answer

    async def get(self, path: str, params: Mapping[str, Any], form: type[W]) -> W:
        """The answer to a GET, as the form; parameters that are None are left out."""
        kept = {name: value for name, value in params.items() if value is not None}
        return parse_answer(self.who, await self.send("GET", path, params=kept), form)

    async def post(self, path: str, body: Mapping[str, Any], form: type[W]) -> W:
        """The answer to a POST of JSON, as the form; fields that are None are left out."""
        kept = {name: value for name, value in body.items() if value is not None}
        return parse_answer(self.who, await self.send("POST", path, json=kept), form)

    async def form(self, path: str, fields: Mapping[str, Any], form: type[W]) -> W:
        """The answer to a POST of form fields: where a key must not stand in an address, and so in logs."""
        kept = {name: value for name, value in fields.items() if value is not None}
        return parse_answer(self.who, await self.send("POST", path, data=kept), form)

    async def send(self, method: str, path: str, **words: Any) -> bytes:
        """Return the body of a good answer; a bad one becomes an error, and costs nothing."""
        async with reserve_request() as hold:
            response = await self._answer(hold, method, path, words)
            if response.status_code != httpx2.codes.OK:
                if response.status_code not in NO_ANSWER_IN_TIME:
                    await hold.release()
                raise self.failed(response)
            await hold.settle(hold.usd)
        self.last_headers.update(response.headers)
        return response.content

    async def _answer(
        self, hold: Reservation, method: str, path: str, words: dict[str, Any]
    ) -> httpx2.Response:
        try:
            async with asyncio.timeout(self.timeout_s):
                return await client.send_request(
                    method,
                    f"{self.base_url.rstrip('/')}/{path.lstrip('/')}",
                    max_bytes=_MAX_BYTES,
                    headers={"User-Agent": USER_AGENT, "Accept": "application/json", **self.headers},
                    timeout=httpx2.Timeout(self.timeout_s, connect=min(_CONNECT_S, self.timeout_s / 2)),
                    **words,
                )
        except _UNSENT as error:
            await hold.release()
            raise Unreachable(f"{self.who} cannot be reached ({type(error).__name__})") from None
        except (TimeoutError, httpx2.TimeoutException):
            raise Unavailable(f"{self.who} did not answer within {self.timeout_s:g} s") from None
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, httpx2.LocalProtocolError):
            await hold.release()
            raise Refused(f"{self.who} cannot be asked: the key or the address is malformed") from None
        except BodyTooLarge:
            raise Unreadable(f"{self.who} answered more than {_MAX_BYTES:,} bytes") from None
        except httpx2.TransportError as error:
            raise Unavailable(f"{self.who} cannot be reached ({type(error).__name__})") from None
        except httpx2.DecodingError:
            raise Unreadable(f"{self.who} answered something that cannot be decoded") from None

    def failed(self, response: httpx2.Response) -> ProviderError:
        """The error of an answer that is not a good one."""
        said = self._hide_secret(error_text(response.content))
        status, retry_after = response.status_code, response.headers.get("retry-after")
        error = error_for_status(self.who, status, retry_after=retry_after, said=said)
        return BadQuery(str(error)) if status in self.malformed else error

    def _hide_secret(self, words: str) -> str:
        return (words.replace(self.secret, "***") if self.secret else words)[:_SAID_CHARS]


def parse_answer(who: str, body: bytes, form: type[W]) -> W:
    """The answer as the form; Unreadable if it has another."""
    try:
        return form.model_validate_json(body)
    except ValidationError as error:
        wrong = ", ".join(sorted({".".join(map(str, e["loc"])) or e["type"] for e in error.errors()})[:3])
        raise Unreadable(f"{who} answered in another form than documented ({wrong})") from None


def parse_xml(who: str, body: bytes, root: str) -> etree._Element:
    """The answer as XML; Unreadable if it is none, or has another root. Entities are not looked up."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        tree = etree.fromstring(body, parser)
    except etree.XMLSyntaxError:
        raise Unreadable(f"{who} answered something that is not XML") from None
    if tree.tag != root:
        raise Unreadable(f"{who} answered in another form than documented ({tree.tag})")
    return tree


def user_agent(contact: str) -> str:
    """Return our name and where to complain, without what cannot stand in a header."""
    said = "".join(c for c in contact if c.isascii() and c.isprintable() and c not in "()").strip()
    return f"{USER_AGENT} ({said})" if said else USER_AGENT


def check_key(name: str, variable: str, key: str) -> None:
    """Refuse an empty key, and one with characters that cannot be sent; the message never shows it."""
    if not key.strip():
        raise BadInput(f"{name} needs {variable}.")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise BadInput(f"{variable} has characters that no key has, perhaps from copying it.")


class _ErrorBody(BaseModel):
    """The places where services put their complaint."""

    message: Any = None
    error: Any = None
    detail: Any = None
    errMsg: Any = None  # noqa: N815 - Europe PMC's name


def error_text(body: bytes) -> str:
    """What a failure says for itself, if it does."""
    try:
        said = _ErrorBody.model_validate_json(body)
    except ValidationError:
        return ""
    for words in (said.message, said.error, said.detail, said.errMsg):
        found = _first_text(words)
        if found:
            return found
    return ""


def _first_text(words: object) -> str:
    if isinstance(words, dict):
        return next(
            (_first_text(words[k]) for k in ("message", "detail", "error", "code") if words.get(k)), ""
        )
    if isinstance(words, list):
        return _first_text(words[0]) if words else ""
    if not isinstance(words, str):
        return ""
    return " ".join("".join(c if c.isprintable() else " " for c in words).split())  # a terminal may show it
