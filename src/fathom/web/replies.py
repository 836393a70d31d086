"""What the page answers with: JSON, and a refusal as one sentence and a code: `{"detail": "…", "code": "…"}`.

Does not know routes.
"""

import json
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_jsonable_python
from starlette.requests import Request
from starlette.responses import JSONResponse

from fathom.errors import BadInput, FathomError, RunStopped
from fathom.request import describe_validation_error
from fathom.web.protection import refusal_code

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SAFE = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
}
_MAX_BODY_BYTES = 1_000_000


def refuse(why: str, status: int = 400, code: str = "") -> JSONResponse:
    """Say no in one sentence."""
    return JSONResponse({"detail": why, "code": code or refusal_code(status)}, status, SAFE)


def refuse_error(error: FathomError | ValidationError) -> JSONResponse:
    """Say what went wrong in one sentence."""
    if isinstance(error, ValidationError):
        return refuse(describe_validation_error(error))
    if isinstance(error, BadInput):
        is_missing = str(error).startswith(("There is no run", "There is no batch", "There is no audit"))
        return refuse(str(error), 404 if is_missing else 400, error.code)
    return refuse(str(error), 409 if isinstance(error, RunStopped) else 502, error.code)


def json_reply(content: object) -> JSONResponse:
    """Answer with records, dataclasses and plain values."""
    return JSONResponse(to_jsonable_python(content), headers={**SAFE, "cache-control": "no-store"})


async def read_bytes(request: Request, most: int) -> bytes:
    """Return the body; BadInput if it is longer."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise BadInput(f"That is larger than {most:,} bytes.")
    return bytes(body)


async def read_body(request: Request) -> dict[str, Any]:
    """Return the body, which is an object or nothing."""
    body = await read_bytes(request, _MAX_BODY_BYTES)
    try:
        given = json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError):
        raise BadInput("The body is not JSON.") from None
    if not isinstance(given, dict):
        raise BadInput("The body is not an object.")
    return given
