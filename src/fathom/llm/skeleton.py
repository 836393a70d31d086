"""A form in few words, for models that are shown it: names, kinds, and what its docstrings say.

Does not know models. A JSON schema of the same form is three times as long.
"""

import json
from typing import Any, get_args, get_origin

from pydantic import BaseModel

_KINDS: dict[Any, object] = {str: "…", int: 1, float: 0.5, bool: True}


def described(form: type[BaseModel]) -> str:
    """An example without content, and one line for each kind of entry."""
    notes = [" ".join((kind.__doc__ or "").split()) for kind in _kinds(form)]
    return "\n".join([json.dumps(_example(form), ensure_ascii=False), *filter(None, notes)])


def _example(kind: Any) -> object:
    if get_origin(kind) is list:
        return [_example(get_args(kind)[0])]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {name: _example(field.annotation) for name, field in kind.model_fields.items()}
    return _KINDS.get(kind, "…")


def _kinds(form: type[BaseModel]) -> list[type[BaseModel]]:
    """The form and the forms in it, each once."""
    inner = [get_args(f.annotation)[0] for f in form.model_fields.values() if get_args(f.annotation)]
    nested = [kind for entry in inner if _is_form(entry) for kind in _kinds(entry)]
    return list(dict.fromkeys([form, *nested]))


def _is_form(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
