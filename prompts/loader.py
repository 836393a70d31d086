"""Load prompt files: a checked TOML header, a system part, a user part, `$name` places.

Untrusted text is fenced with a tag that it cannot forge.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files
from string import Template
from typing import Any

_HEADER = {"revision", "purpose", "inputs", "untrusted", "returns"}
_PARTS = re.compile(
    r"\A\+\+\+\n(?>(?P<header>.*?)\n\+\+\+\n+# system\n)(?P<system>.*?)\n# user\n(?P<user>.*)\Z", re.DOTALL
)


class PromptError(ValueError):
    """A prompt file and its use do not match."""


@dataclass(frozen=True)
class FilledPrompt:
    """A prompt with its places filled, ready to send."""

    id: str
    system: str
    user: str


@dataclass(frozen=True)
class Prompt:
    """A prompt file: its purpose, its inputs and its text."""

    name: str
    revision: int
    inputs: tuple[str, ...]
    untrusted: frozenset[str]
    system: str
    user: str

    def fill(self, **values: str) -> FilledPrompt:
        """Fill every place; raise for a missing or an extra value."""
        if set(values) != set(self.inputs):
            odd = sorted(set(values) ^ set(self.inputs))
            raise PromptError(f"prompt {self.name} takes {sorted(self.inputs)}; check {odd}")
        mark = _mark(self.name, [values[name] for name in sorted(self.untrusted)])
        fenced = {k: _fence(k, v, mark) if k in self.untrusted else v for k, v in values.items()}
        return FilledPrompt(
            f"{self.name}@{self.revision}",
            Template(self.system).substitute(fenced).strip(),
            Template(self.user).substitute(fenced).strip(),
        )


def _fence(name: str, text: str, mark: str) -> str:
    return f"<{name}-{mark}>\n{text}\n</{name}-{mark}>"


def _mark(name: str, texts: list[str]) -> str:
    """Return a mark for the fence tags that none of the texts contains, so that no text can forge a tag.

    It stays the same unless a text contains it, so that a provider can cache the prompt's beginning.
    """
    mark = _usual_mark(name)
    while any(mark in text for text in texts):
        words = "\n".join([mark, *texts]).encode("utf-8", "surrogatepass")
        mark = sha256(words).hexdigest()[:10]
    return mark


@lru_cache(maxsize=64)
def _usual_mark(name: str) -> str:
    return sha256(name.encode()).hexdigest()[:10]


@cache
def load_prompt(name: str) -> Prompt:
    """Load and check the prompt of that name."""
    return parse_prompt(name, files("fathom.prompts").joinpath(f"{name}.md").read_text("utf-8"))


def parse_prompt(name: str, text: str) -> Prompt:
    """Parse a prompt file; raise if its header does not match its text."""
    parts = _PARTS.match(text)
    if not parts:
        raise PromptError(f"prompt {name} needs a +++ header, then '# system' and '# user'")
    header: dict[str, Any] = tomllib.loads(parts["header"])
    if set(header) != _HEADER:
        raise PromptError(f"prompt {name}: the header must have exactly {sorted(_HEADER)}")
    inputs = tuple(header["inputs"])
    templates = [Template(parts["system"]), Template(parts["user"])]
    if not all(template.is_valid() for template in templates):
        raise PromptError(f"prompt {name} has a $ that names no input; write $$ for a dollar sign")
    used = {place for template in templates for place in template.get_identifiers()}
    if used != set(inputs):
        raise PromptError(f"prompt {name}: declared and used inputs differ: {sorted(used ^ set(inputs))}")
    if not set(header["untrusted"]) <= set(inputs):
        raise PromptError(f"prompt {name}: untrusted names must be inputs")
    return Prompt(
        name, header["revision"], inputs, frozenset(header["untrusted"]), parts["system"], parts["user"]
    )


def prompt_names() -> list[str]:
    """Return the names of all prompts."""
    found = (entry.name for entry in files("fathom.prompts").iterdir())
    return sorted(name.removesuffix(".md") for name in found if name.endswith(".md"))
