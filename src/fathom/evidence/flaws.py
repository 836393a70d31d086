"""Why quotes do not carry a statement, as far as code can tell; no model is asked.

Does not know meaning: a statement without flaws may still be wrong, one with a flaw is not carried.
"""

from collections.abc import Sequence

from fathom.evidence.facts import is_negated, is_quotation, missing_facts


def flaws(statement: str, quotes: Sequence[str]) -> list[str]:
    """Short reasons why the quotes do not carry the statement; none when code finds nothing wrong."""
    if is_quotation(statement, quotes):
        return []
    found = [f"{fact} is not in its quotes" for fact in missing_facts(statement, quotes)]
    if quotes and is_negated(statement) != any(is_negated(quote) for quote in quotes):
        found.append("one of them says not, the other does not")
    return found
