"""The request of a caller, validated."""

import os
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path, PurePath
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from fathom.errors import BadInput
from fathom.report.formats import FormatName
from fathom.state import MAX_QUESTION_CHARS, RunConfig
from fathom.state.run_config import ALIASES, flags_of

_ALSO = {"question": "query", "format": "output_format"}
_SENTENCES = {
    ("query", "missing"): "The question is missing.",
    ("query", "string_type"): "The question should be text.",
    ("query", "string_too_short"): "The question is empty.",
    ("query", "string_pattern_mismatch"): "The question has no words.",
    ("query", "string_too_long"): f"The question is longer than {MAX_QUESTION_CHARS} characters.",
}
# By pydantic's kind of error, which has no words for a user.
_SHAPES = {
    "missing": "{name} is missing.",
    "extra_forbidden": "There is no {name}.",
    "model_type": "{name} should be an object with fields.",
    "list_type": "{name} should be a list.",
    "dict_type": "{name} should be an object with fields.",
}
# What follows from a depth, and is taken back when another depth is asked for.
_OF_DEPTH = frozenset({"rounds", "sources", "levels"})


class ResearchRequest(BaseModel):
    """A question, and the configuration of the run that answers it.

    Fields of `RunConfig` may be given directly: `ResearchRequest(query="…", docs=["notes"], rounds=2)`. What
    makes no sense raises `BadInput`, in one sentence.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    query: str = Field(
        min_length=1, max_length=MAX_QUESTION_CHARS, pattern=r"\w", description="What you want to know."
    )
    config: RunConfig = Field(RunConfig(), description="How it is researched.")
    output_format: FormatName = Field(
        "markdown",
        description="How the report is given out: markdown, html, pdf, docx, json, bibtex, csl-json or ris.",
    )
    _words: dict[str, Any] = PrivateAttr(default_factory=dict)

    def __init__(self, /, **given: Any) -> None:
        named = {field_name_of(word): value for word, value in _refuse_repeated(given).items()}
        own = {name: named.pop(name) for name in ("query", "output_format") if name in named}
        words = {**_given_fields(named.pop("config", {})), **named}
        words = {name: value for name, value in words.items() if value is not None or _may_be_empty(name)}
        try:
            super().__init__(**own, config=words)
            self.config.refuse_odd()
        except ValidationError as error:
            raise BadInput(describe_validation_error(error)) from None
        except ValueError as error:
            raise BadInput(f"{error}.") from None
        self._words = words

    @property
    def said(self) -> Mapping[str, Any]:
        """The fields of the configuration that the caller set, as they were given."""
        return self._words

    def with_config(self, **changes: Any) -> Self:
        """The same request with other settings, checked again."""
        return self.model_copy(update=changes)

    def with_full_paths(self) -> Self:
        """The same request with documents named in full, so that it means the same anywhere."""
        places = [_full_path(place) for place in self.config.docs]
        return self.with_config(docs=places) if places != self.config.docs else self

    def refuse_unknown_places(self) -> None:
        """Raise BadInput for an engine or a folder that does not exist, without a large import."""
        from fathom.search.routing import resolve_engine_name

        for name in self.config.engines:
            resolve_engine_name(name)
        for place in self.config.docs:
            if not Path(_full_path(place)).exists():
                raise BadInput(f"There is no folder or file {place}.")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:  # noqa: ARG002
        """The same request with other values, of its own fields or of its configuration, checked again."""
        changes = {field_name_of(word): value for word, value in (update or {}).items()}
        words = self._words if "config" not in changes else {}
        return type(self)(**{"query": self.query, "output_format": self.output_format, **words, **changes})

    def run_config(self, usual: RunConfig | None = None) -> RunConfig:
        """The configuration of the run: what was said, over what is `usual`.

        Places of documents are in full, so that the run can be resumed from anywhere.
        """
        config = self._over(usual) if usual and usual.model_fields_set else self.config
        places = [_full_path(place) for place in config.docs]
        return config.model_copy(update={"docs": places}) if places != config.docs else config

    def _over(self, usual: RunConfig) -> RunConfig:
        taken = usual.model_fields_set - (_OF_DEPTH if "depth" in self._words else frozenset())
        words = {**{name: getattr(usual, name) for name in taken}, **self._words}
        return type(self)(query=self.query, **words).config


def _full_path(place: str) -> str:
    """The whole path of a place; only a relative one asks the file system where we are."""
    if PurePath(place).is_absolute():
        return os.path.normpath(place)
    return os.path.abspath(os.path.expanduser(place))  # noqa: PTH100, PTH111


def _given_fields(config: Any) -> dict[str, Any]:
    """What a configuration says, and no defaults."""
    if isinstance(config, RunConfig):
        return {name: getattr(config, name) for name in config.model_fields_set}
    if not isinstance(config, Mapping):
        raise BadInput("The config of a request is a RunConfig.")
    return {field_name_of(name): value for name, value in _refuse_repeated(config).items()}


def _refuse_repeated(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuse what is said twice, under two names."""
    seen: dict[str, str] = {}
    for word in given:
        other = seen.setdefault(field_name_of(word), word)
        if other != word:
            raise BadInput(f"{other} and {word} are the same setting; say one of them.")
    return given


def _may_be_empty(name: str) -> bool:
    field = RunConfig.model_fields.get(name)
    return field is not None and field.default is None


def field_name_of(word: str) -> str:
    """The name of the field that is meant by its own name, an option or an older name."""
    name = word.strip().lower().removeprefix("--").replace("-", "_")
    known = {**ALIASES, **_ALSO}
    fields = [*ResearchRequest.model_fields, *RunConfig.model_fields]
    if name in fields or name in known:
        return known.get(name, name)
    near = get_close_matches(name, [*fields, *known], n=1)
    raise BadInput(f"There is no setting {word!r}{f'; did you mean {near[0]}?' if near else '.'}")


def option_name(name: str) -> str:
    """What the command line calls a field."""
    if name in RunConfig.model_fields:
        return flags_of(name)[0]
    return {"output_format": "--format"}.get(name, f"--{name}")


def describe_validation_error(error: ValidationError, name_of: Callable[[str], str] = option_name) -> str:
    """One sentence about the first thing that is wrong."""
    first = error.errors(include_url=False, include_input=False)[0]
    names = [str(part) for part in first["loc"] if part not in ("config", "run")]
    name = names[0] if names else ""
    if told := _SENTENCES.get((name, first["type"])):
        return told
    if first["type"] in _SHAPES:
        return _SHAPES[first["type"]].format(name=name_of(name) if name else "It")
    said = first["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return f"{name_of(name)} {said}." if name else f"{said}."
