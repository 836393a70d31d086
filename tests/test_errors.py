"""Every error has a code that programs can rely on, and the page about them lists it."""

from pathlib import Path

from fathom import errors

DOCS = Path(__file__).parents[1] / "docs" / "errors.md"


def kinds(of: type[errors.FathomError]) -> set[type[errors.FathomError]]:
    return {of}.union(*(kinds(kind) for kind in of.__subclasses__()))


def test_every_code_is_explained() -> None:
    told = DOCS.read_text("utf-8")
    codes = {kind.code for kind in kinds(errors.FathomError)}
    assert len(codes) > 8
    assert [code for code in codes if f"| `{code}` |" not in told] == []


def test_codes_stay_as_they_are() -> None:
    codes = [errors.BadInput.code, errors.RunStopped.code, errors.Unreachable.code]
    codes += [errors.OutOfBudget.code, errors.BadQuery.code]
    assert codes == ["bad_input", "run_stopped", "unavailable", "out_of_budget", "unreadable"]
