"""JSON with control and invisible characters escaped, so that terminals and editors do not act on them.

A reader of JSON gets the very same text.
"""

import json
import re
from typing import Any

# Control characters of the second kind, line separators, and what turns or hides text around it. JSON itself
# escapes the controls of the first kind; nothing of this stands outside of a string.
_ACTIVE = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def escape_json(text: str) -> str:
    """Return JSON with every active character as an escape."""
    return _ACTIVE.sub(lambda found: json.dumps(found.group())[1:-1], text)


def dump_json(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON that people can read in any script, with active characters escaped."""
    return escape_json(json.dumps(value, ensure_ascii=False, indent=indent))
