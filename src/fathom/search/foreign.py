"""Code that is not ours, named as `package.module:attribute`: loaded, run, and its errors made ours.

A class may also be named as `package.module.Class`, and what makes one as `package.module.Class.method`.

Does not know what it is for. It may raise anything, and a run must not end for it: this is the one place
where all of it is caught.
"""

import asyncio
import importlib
import inspect
import re
import threading
import warnings
from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar

from fathom.errors import BadInput, ProviderError, Unavailable, Unreadable

T = TypeVar("T")
_NAME = r"[^\W\d]\w*"
_PLACE = re.compile(rf"{_NAME}(?:\.{_NAME})*(?:\.{_NAME}|:{_NAME}(?:\.{_NAME})*)")
# The package says on import that nobody maintains it any more; our documentation says it instead.
_SUNSET = r"`langchain-community` is being sunset"
_COMMUNITY = "langchain_community"
_PASSWORD = re.compile(r"(?<=://)[^/\s@]+@")
_SAID_CHARS = 200
_import_lock = threading.Lock()  # filters of warnings are the process's
_WAYS = ("ainvoke", "invoke", "as_retriever")
# Mistakes in the code itself: asking again would not help, as it may with a vendor's own errors.
_MISTAKES = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, TypeError, ValueError)


def checked_place(place: str) -> tuple[str, str]:
    """Return the module and the attribute of a place; without a colon, the attribute begins at the class."""
    if not _PLACE.fullmatch(place):
        raise BadInput(f"The retriever {place!r} should be written package.module:attribute.")
    if ":" in place:
        module, _, attribute = place.partition(":")
        return module, attribute
    parts = place.split(".")
    start = next((n for n, part in enumerate(parts) if n and part[0].isupper()), len(parts) - 1)
    return ".".join(parts[:start]), ".".join(parts[start:])


async def loaded(place: str, timeout_s: float, arguments: Mapping[str, Any] | None = None) -> Any:
    """Return what is at a place, or what a class or factory there makes of the arguments; it can be asked."""
    thing = await outcome(asyncio.to_thread(_imported, place), timeout_s)
    if isinstance(thing, BadInput):
        raise thing
    if arguments and not isinstance(thing, Exception) and not _is_factory(thing):
        raise BadInput(f"The retriever {place} is made already and takes no retriever_arguments.")
    if not isinstance(thing, Exception) and _is_factory(thing):
        thing = await outcome(_made(thing, arguments or {}), timeout_s)
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
    with _import_lock, warnings.catch_warnings():
        warnings.filterwarnings("ignore", _SUNSET, DeprecationWarning)
        try:
            thing: Any = importlib.import_module(module)
            for part in attribute.split("."):
                thing = getattr(thing, part)  # some packages import what they offer only here
        except SystemExit:
            raise BadInput(f"The retriever {place} cannot be loaded: its module ends the program.") from None
        except ModuleNotFoundError as error:
            raise BadInput(f"The retriever {place} cannot be loaded: {_missing(error.name or '')}.") from None
        except AttributeError as error:
            if error.name not in attribute.split("."):
                raise
            raise BadInput(f"The retriever {place} cannot be loaded: {module} has no {attribute}.") from None
    return thing


def _missing(module: str) -> str:
    hint = "; pip install 'fathom-research[community]'" if module.partition(".")[0] == _COMMUNITY else ""
    return f"there is no module {module}{hint}"


def _is_factory(thing: object) -> bool:
    return isinstance(thing, type) or (callable(thing) and not any(hasattr(thing, way) for way in _WAYS))


async def _made(factory: Any, arguments: Mapping[str, Any]) -> Any:
    """What a factory makes, in a thread: it may open files and connections."""
    thing = await asyncio.to_thread(factory, **arguments)
    return await thing if inspect.isawaitable(thing) else thing


def _words(error: Exception) -> str:
    said = " ".join(_PASSWORD.sub("***@", str(error)).split()).rstrip(".")[:_SAID_CHARS]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
