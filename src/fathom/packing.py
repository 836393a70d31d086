"""How the state is put into bytes and taken out again.

Does not know where the bytes are kept.
"""

import zlib
from collections.abc import Sequence
from typing import Any

import ormsgpack
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Send

from fathom import state
from fathom.identity import ByIdentity

_SHORT = 512  # bytes
_LEVEL = 3  # a third faster than 6, and hardly longer
_MOST_KNOWN = 4096
_KNOWN_BYTES = 16_384  # what is longer stands in few checkpoints
_PLAIN = frozenset({str, int, float, bool, type(None)})
# Every type that may stand in a checkpoint: the records that `fathom.state` exports, and the knobs. Anything
# else comes back as plain data, and a test fails.
_RECORDS = [
    kind
    for kind in (getattr(state, name) for name in state.__all__)
    if isinstance(kind, type)
    and issubclass(kind, (state.Record, state.RunConfig))
    and kind is not state.Record
]
ALLOWED = [(kind.__module__, kind.__name__) for kind in _RECORDS]
_LASTING: frozenset[type] = frozenset({*_RECORDS, Send})


class CompressedSerializer(JsonPlusSerializer):
    """The strict serializer with its bytes deflated: checkpoints repeat themselves a lot.

    What is short stays as it is: to deflate a word takes longer than to write down all of a step. Nobody
    changes a record, or what is sent: it is packed once for all the checkpoints and writes that it stands in.
    """

    def __init__(self, *, allowed_msgpack_modules: Sequence[tuple[str, str]]) -> None:
        super().__init__(allowed_msgpack_modules=allowed_msgpack_modules)
        self._packed: ByIdentity[ormsgpack.Fragment] = ByIdentity(_MOST_KNOWN)

    def dumps_typed(self, obj: object) -> tuple[str, bytes]:
        """A type word that says whether it is deflated, and the bytes."""
        kind, body = super().dumps_typed(self._with_packed(obj))
        return (f"{kind}+z", zlib.compress(body, _LEVEL)) if len(body) > _SHORT else (kind, body)

    def loads_typed(self, data: tuple[str, bytes]) -> object:
        """What was dumped, deflated or not."""
        kind, body = data
        if kind.endswith("+z"):
            return super().loads_typed((kind.removesuffix("+z"), zlib.decompress(body)))
        return super().loads_typed(data)

    def _with_packed(self, value: Any) -> Any:
        """The value with bytes in the place of what is packed already; all of it packed gives the same."""
        kind = type(value)
        if kind in _LASTING:
            return self._packed.get(value) or self._newly_packed(value)
        if kind is list:
            return [item if type(item) in _PLAIN else self._with_packed(item) for item in value]
        if kind is dict:
            items = value.items()
            return {name: item if type(item) in _PLAIN else self._with_packed(item) for name, item in items}
        return value

    def _newly_packed(self, value: Any) -> ormsgpack.Fragment:
        is_sent = type(value) is Send
        inner = Send(value.node, self._with_packed(value.arg), timeout=value.timeout) if is_sent else value
        body = super().dumps_typed(inner)[1]
        packed = ormsgpack.Fragment(body)
        if len(body) <= _KNOWN_BYTES:
            self._packed.put(packed, value)
        return packed
