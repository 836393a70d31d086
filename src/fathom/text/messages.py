"""The report's own words by key, in the languages it speaks (locales/*.toml)."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from fathom.state import Failure, Judgement, Reason
from fathom.text.languages import wants_korean


def format_count(count: int, thing: str) -> str:
    """A number of things in English: 1 claim, 2 claims."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


class Messages:
    """The fixed phrases of one language; a key is the name of its table, a dot, and its own name."""

    def __init__(self, language: str, file: str = "") -> None:
        name = f"{file}.{language}" if file else language
        table = tomllib.loads(files("fathom.text").joinpath(f"locales/{name}.toml").read_text("utf-8"))
        self.language = language
        # Of reports of earlier versions.
        earlier = table.pop("earlier", {})
        self.earlier: list[str] = earlier.get("phrases", [])
        self.earlier_marks: list[str] = earlier.get("marks", [])
        self.phrases = dict(_flatten(table))

    def __call__(self, key: str, **values: object) -> str:
        """A phrase with its places filled; `count` chooses the form for one or for several."""
        if key not in self.phrases:
            one = f"{key}.one"
            key = one if values.get("count") == 1 and one in self.phrases else f"{key}.other"
        return self.phrases[key].format(**values)

    def name(self, kind: str, value: str | None) -> str:
        """What a tag, a status or a stop rule is called; a value without words is itself."""
        return self.phrases.get(f"{kind}.{value}", value or "")

    def reason(self, why: str) -> str:
        """Why claims were rejected, as far as there are words for it."""
        general, colon, kind = why.partition(": ")
        return f"{self.name('reason', general)}{colon}{self.name('reason', kind)}"

    def place(self, where: str) -> str:
        """Where something failed."""
        name, colon, rest = where.partition(":")
        return f"{self.name('place', name)}{colon}{rest}"

    def because(self, judgement: Judgement) -> str:
        """Why a run stopped; in the judgement's own English where another version wrote the ledger."""
        if judgement.reason is None:
            return judgement.because
        try:
            return self.phrases[f"because.{judgement.reason.phrase}"].format_map(judgement.reason.values)
        except KeyError:
            return judgement.because

    def tell(self, table: str, reason: Reason) -> str:
        """A phrase of a table with its values."""
        return self(f"{table}.{reason.phrase}", **reason.values)

    def effort_reasons(self, reasons: Sequence[Reason]) -> str:
        """Why a question was taken for a fact, a comparison or a survey."""
        return "; ".join(
            self(
                f"effort.{one.phrase}",
                **{name: self.name("kind", value) for name, value in one.values.items()},
            )
            for one in reasons
        )

    def failed(self, failure: Failure) -> str:
        """What failed: an address, a query, a title, or a step of the run."""
        if (told := failure.told) is None or f"failed.{told.phrase}" not in self.phrases:
            return failure.what
        values = {**told.values, "step": self.name("step", told.values.get("step"))}
        return " ".join(self(f"failed.{told.phrase}", **values).split())

    def why_failed(self, failure: Failure) -> str:
        """Why it failed: the kind of failure in this language, with the details as they were given."""
        return self.phrases.get(f"why.{failure.code}", "{why}").format(why=failure.why)


def _flatten(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


ENGLISH = Messages("en")
KOREAN = Messages("ko")


def messages_for(question: str, language: str | None) -> Messages:
    """Korean for a Korean question or when Korean is asked for, English otherwise."""
    return KOREAN if wants_korean(question, language) else ENGLISH
