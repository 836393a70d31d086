"""Code that is not ours, named as `package.module:attribute`: loaded, run, and its errors made ours.

Does not know what it is for. It may raise anything, and a run must not end for it: this is the one place
where all of it is caught.
"""

import asyncio
import importlib
import inspect
import re
from collections.abc import Awaitable
from typing import Any, TypeVar

from fathom.errors import BadInput, ProviderError, Unavailable, Unreadable

T = TypeVar("T")
_PLACE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_PASSWORD = re.compile(r"(?<=://)[^/\s@]+@")
_SAID_CHARS = 200
_WAYS = ("ainvoke", "invoke", "as_retriever")
# Mistakes in the code itself: asking again would not help, as it may with a vendor's own errors.
_MISTAKES = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, TypeError, ValueError)


def checked_place(place: str) -> tuple[str, str]:
    """The module and the attribute of a place."""
    if not _PLACE.fullmatch(place):
        raise BadInput(f"The retriever {place!r} should be written package.module:attribute.")
    module, _, attribute = place.partition(":")
    return module, attribute


async def loaded(place: str, timeout_s: float) -> Any:
    """What is at a place, or what a factory there makes; it can be asked."""
    thing = await outcome(asyncio.to_thread(_imported, place), timeout_s)
    if isinstance(thing, BadInput):
        raise thing
    if not isinstance(thing, Exception) and _is_factory(thing):
        thing = await outcome(_made(thing), timeout_s)
    if isinstance(thing, Exception):
        raise BadInput(f"The retriever {place} cannot be loaded: {_words(thing)}.") from None
    if isinstance(thing, type) or not any(hasattr(thing, way) for way in _WAYS):
        raise BadInput(f"The retriever {place} is a {type(thing).__name__}, which cannot be searched.")
    return thing


async def outcome(work: Awaitable[T], timeout_s: float) -> T | Exception:
    """What the work returns, or what it raises, within its time."""
    (result,) = await asyncio.gather(asyncio.wait_for(work, timeout_s), return_exceptions=True)
    if isinstance(result, BaseException) and not isinstance(result, Exception):
        raise result
    return result


def described(who: str, error: Exception, timeout_s: float) -> ProviderError:
    """Our error for one of theirs."""
    if isinstance(error, ProviderError):
        return error
    if isinstance(error, TimeoutError):
        return Unavailable(f"{who} did not answer within {timeout_s:g} s")
    kind = Unreadable if isinstance(error, _MISTAKES) else Unavailable
    return kind(f"{who} failed: {_words(error)}")


def _imported(place: str) -> Any:
    module, attribute = checked_place(place)
    try:
        thing: Any = importlib.import_module(module)
    except SystemExit:
        raise BadInput(f"The retriever {place} cannot be loaded: its module ends the program.") from None
    except ModuleNotFoundError as error:
        raise BadInput(f"The retriever {place} cannot be loaded: there is no module {error.name}.") from None
    for part in attribute.split("."):
        if not hasattr(thing, part):
            raise BadInput(f"The retriever {place} cannot be loaded: {module} has no {attribute}.")
        thing = getattr(thing, part)
    return thing


def _is_factory(thing: object) -> bool:
    return isinstance(thing, type) or (callable(thing) and not any(hasattr(thing, way) for way in _WAYS))


async def _made(factory: Any) -> Any:
    """What a factory makes, in a thread: it may open files and connections."""
    thing = await asyncio.to_thread(factory)
    return await thing if inspect.isawaitable(thing) else thing


def _words(error: Exception) -> str:
    said = " ".join(_PASSWORD.sub("***@", str(error)).split()).rstrip(".")[:_SAID_CHARS]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
