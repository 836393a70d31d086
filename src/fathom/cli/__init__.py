"""The command line: words in, an exit code out.

Does not know how anything is done; what a command needs is imported when the command runs, so help is quick.
"""

import json
import sqlite3
import sys
from collections.abc import Sequence
from difflib import get_close_matches

from fathom.cli.arguments import check_early, refuse
from fathom.cli.commands import COMMANDS, RESEARCH


def _nearest_command(words: Sequence[str]) -> str:
    """The command that one bare word nearly is: nobody asks that."""
    first = words[0]
    if first in COMMANDS or not first.isalpha():
        return ""
    # With options behind it, a word may well be a question: only what is nearly a command's name counts.
    is_bare = len(words) <= 2 and not any(w.startswith("-") for w in words)
    return next(iter(get_close_matches(first.lower(), COMMANDS, n=1, cutoff=0.7 if is_bare else 0.8)), "")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; bad input is one sentence on standard error and exit code 2."""
    words = list(sys.argv[1:] if argv is None else argv)
    command = COMMANDS.get(words[0], RESEARCH) if words else RESEARCH
    given = words[1:] if words and words[0] in COMMANDS else words
    parser = command.make_parser()
    if not words:
        parser.print_help()
        return 2
    if near := _nearest_command(words):
        return refuse(
            f"There is no command {words[0]!r}; did you mean {near}?"
            " To research that word, put it in a longer question."
        )
    arguments = parser.parse_args(given)
    from fathom.errors import BadInput

    try:
        check_early(arguments)
        return command(arguments)
    except (BadInput, sqlite3.Error) as error:
        why = str(error)
        if not isinstance(error, BadInput):
            from fathom import DeepResearcher

            why = DeepResearcher.describe_database_error(error)
        if not getattr(arguments, "json", False):
            return refuse(why)
        print(json.dumps({"error": why, "code": BadInput.code}), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("fathom: interrupted before a run began", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has left, as `head` does
        sys.stderr.close()
        return 0
