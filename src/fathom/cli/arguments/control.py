"""`fathom control`: an order for a run that works somewhere else."""

from argparse import Namespace
from difflib import get_close_matches

from fathom.cli.arguments.parsing import Parser

_ORDERS = ("pause", "go", "stop", "add")


def parser() -> Parser:
    """What the command takes."""
    made = Parser(
        prog="fathom control",
        usage='fathom control ID pause | go | stop | add "QUERY"',
        description="Steer a run that works in another terminal or another process.",
        epilog="orders:\n"
        "  pause  stand still after the step in hand\n"
        "  go     go on after a pause\n"
        "  stop   look no further and write the report from what is known\n"
        "  add    ask this query too, in the next round",
        settle=_settled,
    )
    made.add_argument("id", metavar="ID", help="a run's id or its first characters")
    made.add_argument("order", metavar="ORDER", help="pause, go, stop or add")
    made.add_argument("query", nargs="?", default="", metavar='"QUERY"', help="for add: the query")
    return made


def _settled(words: Namespace) -> str:
    if words.order not in _ORDERS:
        near = get_close_matches(words.order, _ORDERS, n=1)
        there = f"did you mean {near[0]}?" if near else f"there are {', '.join(_ORDERS)}."
        return f"There is no order {words.order!r}; {there}"
    return ""
