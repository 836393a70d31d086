"""Who may use a served Fathom, and whose threads are whose (LangGraph's `auth` hook).

Without FATHOM_API_KEYS everybody who reaches the server may use it, as one user. With keys every request
needs one, in `X-Api-Key` or as a bearer token, and a caller sees only the threads and runs of that key.
"""

import hmac
from hashlib import sha256
from typing import Any

from langgraph_sdk import Auth

from fathom.settings import load_settings

auth = Auth()
EVERYBODY = "everybody"
_KEYS = [key.get_secret_value() for key in load_settings().api_keys]


def identity_of(headers: dict[bytes, bytes], keys: list[str]) -> str | None:
    """Return who sent a request: a short name of the key, never the key; None when no key fits."""
    if not keys:
        return EVERYBODY
    words = headers.get(b"authorization", b"").split(b" ", 1)
    bearer = words[1].strip() if len(words) == 2 and words[0].lower() == b"bearer" else b""
    given = headers.get(b"x-api-key", b"") or bearer
    found = [key for key in keys if hmac.compare_digest(key.encode(), given)]
    return f"key-{sha256(found[0].encode()).hexdigest()[:12]}" if found else None


@auth.authenticate
async def authenticate(headers: dict[bytes, bytes]) -> Auth.types.MinimalUserDict:
    """Let in who has a key, or everybody where there are none."""
    identity = identity_of(headers, _KEYS)
    if identity is None:
        raise Auth.exceptions.HTTPException(status_code=401, detail="An API key is needed (FATHOM_API_KEYS).")
    return {"identity": identity}


@auth.on
async def restrict_to_owner(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> Any:
    """Mark what is made with its owner, and show only what the caller owns."""
    if ctx.user.identity == EVERYBODY:
        return None
    if ctx.resource == "assistants":
        return ctx.action in ("read", "search")
    if ctx.resource == "store":
        return False
    owner = {"owner": ctx.user.identity}
    if isinstance(value.get("metadata"), dict):
        value["metadata"].update(owner)
    elif ctx.action in ("create", "create_run", "update"):
        value["metadata"] = owner
    return owner
