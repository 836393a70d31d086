"""Small pages of our own, what a report may honestly say of them, and faults to plant in it.

A line of `planted.jsonl` has a sentence of a page, an honest restatement, a faulty one and the fault.
`planted_second.jsonl` is like it, about other subjects, with more on each page; nothing is tuned on it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

NUMBER, NAMES, HEDGE, CAUSE = "wrong number", "swapped names", "dropped hedge", "overstated cause"
NOTHING, DEAD, INVENTED, UNCITED = "nothing of it", "dead address", "invented address", "uncited"
KINDS = (NUMBER, NAMES, HEDGE, CAUSE, NOTHING, DEAD, INVENTED, UNCITED)


@dataclass(frozen=True)
class Fact:
    """A sentence of a page, what may be said of it, and what may not."""

    page: str
    honest: str
    fault: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Topic:
    """One page and the facts on it."""

    language: str
    name: str
    title: str
    facts: tuple[Fact, ...]


def topics(name: str = "planted") -> list[Topic]:
    """All topics of a list."""
    made: dict[tuple[str, str, str], list[Fact]] = {}
    for line in Path(__file__).with_name(f"{name}.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        fact = Fact(row["page"], row["honest"], row["fault"], row["kind"])
        made.setdefault((row["language"], row["topic"], row["title"]), []).append(fact)
    return [Topic(*about, tuple(facts)) for about, facts in made.items()]


@dataclass(frozen=True)
class Said:
    """A sentence of a report, the address it cites, and the planted fault; "" if it is honest."""

    text: str
    address: str
    fault: str = ""


def report_sentences(topic: Topic, other: Topic, url: str) -> list[Said]:
    """What a report about a topic says: honest sentences and faults, each with its address."""
    page, facts = f"{url}/{topic.name}", topic.facts
    said = [Said(fact.honest, page) for fact in facts]
    said += [Said(fact.fault, page, fact.kind) for fact in facts if fact.kind]
    said += [Said(fact.honest, f"{url}/{other.name}", NOTHING) for fact in facts[:2]]
    said += [Said(facts[8].honest, f"{url}/gone/{topic.name}", DEAD)]
    said += [Said(facts[9].honest, f"{url}/busy/{topic.name}", DEAD)]
    said += [Said(facts[2].honest, f"{url}/never/{topic.name}", INVENTED)]
    said += [Said(facts[3].honest, f"http://{topic.name}-archive.invalid/history", INVENTED)]
    said += [Said(fact.honest, "", UNCITED) for fact in facts[8:10]]
    return said


def split_sentences(topic: Topic, other: Topic, url: str, number: int) -> list[Said]:
    """What the first or second report about a topic says, shuffled: never a fact and its faulty twin."""
    page, facts = f"{url}/{topic.name}", [fact for fact in topic.facts if fact.honest]
    mine, others = facts[number::2], facts[1 - number :: 2]
    said = [Said(fact.honest, page) for fact in mine]
    said += [Said(fact.fault, page, fact.kind) for fact in others if fact.kind]
    said += [Said(others[0].honest, f"{url}/{other.name}", NOTHING), Said(others[-1].honest, "", UNCITED)]
    gone = "gone" if number else "busy"
    said += [Said(others[1].honest, f"{url}/{gone}/{topic.name}", DEAD)]
    invented = f"{url}/never/{topic.name}" if number else f"http://{topic.name}-archive.invalid/history"
    said += [Said(others[2].honest, invented, INVENTED)]
    return sorted(said, key=lambda one: sha256(one.text.encode()).hexdigest())


def write_report(topic: Topic, said: Sequence[Said], style: int) -> str:
    """The report in one of five citation styles."""
    cited = dict.fromkeys(one.address for one in said if one.address)
    keys = {address: number for number, address in enumerate(cited, 1)}
    lines = [f"# {topic.title}", ""]
    for one in said:
        bare, stop = one.text.rstrip("."), "."
        mark = _mark(keys.get(one.address, 0), one.address, style) if one.address else ""
        lines += [f"{bare}{mark}{stop}" if style != 3 else f"{one.text}{mark}", ""]
    title = "출처" if topic.language == "ko" else "Sources"
    if style in (0, 2):
        lines += [f"## {title}", "", *(f"[{n}] {address}" for address, n in keys.items())]
    if style == 3:
        lines += [f"[^{n}]: {address}" for address, n in keys.items()]
    return "\n".join(lines) + "\n"


def _mark(number: int, address: str, style: int) -> str:
    marks = (
        f" [{number}]",
        f" ([{number}]({address}))",
        f"【{number}†source】",
        f"[^{number}]",
        f" ({address})",
    )
    return marks[style]
