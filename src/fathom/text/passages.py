"""A document cut into passages of about a screen, on the borders of its blocks.

Does not know what a passage is used for.
"""

from collections.abc import Iterator

MAX_CHARS = 1200
_ENOUGH_CHARS = 700


def passages(text: str, *, max_chars: int = MAX_CHARS) -> Iterator[str]:
    """Neighbouring blocks together, up to the limit; a heading goes with what follows it."""
    open_blocks: list[str] = []
    size = 0
    for block in _small_blocks(text, max_chars):
        starts_section = block.startswith("#") and size >= _ENOUGH_CHARS
        if open_blocks and (size + len(block) > max_chars or starts_section):
            yield "\n\n".join(open_blocks)
            open_blocks, size = [], 0
        open_blocks.append(block)
        size += len(block) + 2
    if open_blocks:
        yield "\n\n".join(open_blocks)


def _small_blocks(text: str, max_chars: int) -> Iterator[str]:
    for block in text.split("\n\n"):
        while len(block) > max_chars:
            cut = _cut(block, max_chars)
            yield block[:cut].strip()
            block = block[cut:].lstrip()
        if block.strip():
            yield block


def _cut(block: str, max_chars: int) -> int:
    """Where to cut a block that is too long: after a line, a sentence or a word, in this order."""
    for mark in ("\n", ". ", " "):
        at = block.rfind(mark, max_chars // 2, max_chars)
        if at > 0:
            return at + len(mark)
    return max_chars
