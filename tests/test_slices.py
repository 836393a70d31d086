"""What is known of slices: for the same records the same bytes, and nothing of it beyond its serializer."""

import gc
from weakref import ref

from fathom import slices
from fathom.packing import ALLOWED, CompressedSerializer
from fathom.state import Query


def test_what_a_serializer_has_packed_goes_with_it() -> None:
    queries = [Query(id=f"q{n}", text="tides", question="Q1", round=1) for n in range(40)]
    serializer = CompressedSerializer(allowed_msgpack_modules=ALLOWED)
    marked, rows = slices.cut({"queries": queries}, serializer)
    assert slices.cut({"queries": queries}, serializer) == (marked, rows)
    assert slices.whole(marked, rows, serializer) == {"queries": queries}
    left = ref(serializer)
    del serializer
    gc.collect()
    assert left() is None
