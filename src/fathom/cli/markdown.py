"""Markdown rendered for a terminal, and a pager where it is longer than the screen.

Does not know what the text is about. Text of pages and models is untrusted: what a terminal would act on is
removed before it is rendered.
"""

import re
import shlex
import signal
import subprocess
import sys
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from rich.console import Console, JustifyMethod
from rich.markdown import Heading, Markdown, MarkdownElement

from fathom.cli.terminal import is_in_front
from fathom.cli.text import safe
from fathom.report.formats.cjk_emphasis import add_cjk_emphasis
from fathom.settings import pager_command

_WIDEST = 100  # cells: longer lines are hard to read
_WORD = re.compile(r"[^\s<>()]*")
_IS_ADDRESS = re.compile(r"[\w:]/[\w/]|_\.\w")
_BELOW = 4  # rows that are left for what is said below a report, and for the prompt


def show_markdown(text: str) -> None:
    """Print the text, wrapped at words; through a pager if it is longer than the screen.

    After the pager the beginning is printed, so that the answer is what stays on the screen.
    """
    console = Console(file=sys.stdout, highlight=False)
    with console.capture() as captured:
        console.print(_Page(safe(text)), width=min(_WIDEST, console.width))
    encoding = sys.stdout.encoding
    lines = captured.get().encode(encoding, "replace").decode(encoding).rstrip("\n").split("\n")
    room = max(1, console.height - _BELOW)
    if len(lines) > room and not console.is_dumb_terminal and _show_in_pager("\n".join(lines)):
        lines = [*lines[: room - 1], "..." if console.options.ascii_only else "…"]
    print("\n".join(lines), flush=True)


class _LeftHeading(Heading):
    """A heading at the left edge, also the first one."""

    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {**Heading.LEVEL_ALIGN, "h1": "left"}


class _Page(Markdown):
    """Markdown in which addresses stay readable, tags are words, and Korean emphasis is seen."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {**Markdown.elements, "heading_open": _LeftHeading}

    def __init__(self, text: str) -> None:
        super().__init__("", hyperlinks=False)
        parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
        parser.inline.ruler.before("emphasis", "address", _keep_underscores)
        self.parsed = add_cjk_emphasis(parser.disable("autolink")).parse(text)


def _keep_underscores(state: StateInline, silent: bool) -> bool:
    """Underscores in an address or the name of a file mean nothing: `a/__init__.py` is not bold."""
    if state.src[state.pos] != "_":
        return False
    start = max(state.src.rfind(space, 0, state.pos) for space in " \n(<") + 1
    word = _WORD.match(state.src, start)
    if word is None or not _IS_ADDRESS.search(word.group()):
        return False
    end = state.pos
    while end < state.posMax and state.src[end] == "_":
        end += 1
    if not silent:
        state.pending += state.src[state.pos : end]
    state.pos = end
    return True


def _show_in_pager(text: str) -> bool:
    """Show the text in the person's pager; False if there is none, or nobody to turn its pages."""
    command = shlex.split(pager_command())
    if command in ([], ["cat"]) or not sys.stdin.isatty() or not is_in_front(sys.stdout.fileno()):
        return False
    if command[0].rpartition("/")[2] == "less":
        command.append("-R")  # colours as colours
    # Ctrl-C is the pager's own affair. A handler of ours, unlike SIG_IGN, is not inherited by it.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        done = subprocess.run(  # noqa: S603 - the person's own choice
            command, input=text, encoding=sys.stdout.encoding, check=False
        )
    except OSError:  # there is no such program
        return False
    finally:
        signal.signal(signal.SIGINT, before)
    return done.returncode == 0
