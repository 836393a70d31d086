"""The commands: a name, what it takes, who carries it out, and one line for the help.

Does not know what any of them does. A command is an entry here, a parser of the same name in `parsers`, and
one function, which is imported only when the command runs, so help is quick.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """One command of the command line."""

    name: str
    usage: str  # as the help shows it, after `fathom`
    summary: str
    module: str
    function: str


RESEARCH = Command("research", '"QUESTION"', "research a question", "fathom.cli.working", "research")
COMMANDS = {
    command.name: command
    for command in (
        Command(
            "resume",
            "resume [ID]",
            "go on with the last run, or a given one, after any stop",
            "fathom.cli.working",
            "resume",
        ),
        Command(
            "ask",
            'ask ID "QUESTION"',
            "ask on: what a finished run knows is used first, and only the rest searched",
            "fathom.cli.conversing",
            "ask",
        ),
        Command(
            "control",
            "control ID ORDER",
            "steer a run from another terminal: pause, go, stop, add",
            "fathom.cli.controlling",
            "control",
        ),
        Command("runs", "runs", "list runs: status, age, cost, question", "fathom.cli.listing", "runs"),
        Command(
            "show",
            "show ID",
            "print a report again, one round, or what was found or read",
            "fathom.cli.looking",
            "show",
        ),
        Command(
            "fork",
            'fork ID "DIRECTION"',
            "go another way from the end of a round; what is known is not paid again",
            "fathom.cli.working",
            "fork",
        ),
        Command("diff", "diff A B", "two runs side by side", "fathom.cli.comparing", "diff"),
        Command(
            "export",
            "export ID --to PLACE",
            "hand a run on: Markdown, JSON, BibTeX, HTML, a zip or a folder",
            "fathom.cli.exporting",
            "export",
        ),
        Command(
            "clean",
            "clean",
            "remove old runs and give the room back to the disk",
            "fathom.cli.cleaning",
            "clean",
        ),
        Command(
            "update",
            "update ID",
            "bring a finished report up to date; what changed stands at its top",
            "fathom.cli.working",
            "update",
        ),
        Command(
            "verify",
            "verify FILE",
            "check a report.json again, sentence by sentence; --online against the live pages",
            "fathom.cli.verifying",
            "verify",
        ),
        Command(
            "batch",
            "batch FILE",
            "research many questions, a few at a time; again to go on",
            "fathom.cli.batching",
            "batch",
        ),
        Command(
            "upgrade",
            "upgrade",
            "start a new database in the place of an earlier version's; reports are kept",
            "fathom.cli.upgrading",
            "upgrade_database",
        ),
        Command(
            "config",
            "config",
            "every setting, its value and where it came from",
            "fathom.cli.configuring",
            "config",
        ),
        Command(
            "doctor",
            "doctor",
            "what is configured, what is missing, what would be used",
            "fathom.cli.doctor",
            "doctor",
        ),
    )
}
_GROUPS = {
    "ask and go on": ("ask", "resume", "update", "fork", "batch", "control"),
    "look at what was found": ("runs", "show", "diff", "export", "verify", "clean"),
    "set up": ("doctor", "config", "upgrade"),
}
_END = """\
exit codes:
  0    a report was written
  1    stopped by an error; nothing is lost, fathom resume goes on
  2    bad input, said in one sentence
  3    waiting for your review
  4    finished, and nothing was found
  5    verify: not all of it holds
  130  interrupted; nothing is lost, fathom resume goes on

keys while it runs at a terminal:
  p pause or go on   s stop and write   a add a query   q or Ctrl-C leave

examples:
  fathom "How does the cache expire entries?" --docs ./docs ./src
  fathom "What limits perovskite solar cells?" --engines arxiv --review plan
  fathom "…" --docs notes/ --model ollama:llama3.1
"""


def description() -> str:
    """What stands above the options: what it is, and the other commands by what they are for."""
    known = [name for names in _GROUPS.values() for name in names]
    groups = {**_GROUPS, "more": tuple(name for name in COMMANDS if name not in known)}
    width = max(len(command.usage) for command in COMMANDS.values())
    lines = ["Research a question; every sentence of the report leads back to a quotation."]
    for title, names in groups.items():
        here = [COMMANDS[name] for name in names if name in COMMANDS]
        if here:
            lines += ["", f"{title}:", *(f"  fathom {c.usage:<{width}}  {c.summary}" for c in here)]
    return "\n".join(lines)


def epilog() -> str:
    """What stands below the options: exit codes, keys, examples."""
    return _END
