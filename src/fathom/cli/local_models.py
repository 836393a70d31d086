"""Offer the models on this machine if none is configured. No model is used without being chosen."""

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING

from fathom.cli.arguments import read_settings
from fathom.cli.text import safe
from fathom.settings.model_names import NO_MODEL
from fathom.settings.settings import Settings

if TYPE_CHECKING:
    from fathom.llm.providers.local_servers import ChosenModel, LocalModel

_MAX_SHOWN = 20


def choose_local_model(arguments: argparse.Namespace) -> None:
    """Put the local model that a person chooses, or has chosen before, into the arguments of a command.

    At a terminal one question is asked, and its answer is remembered; elsewhere one line says how to choose.
    """
    settings = read_settings(arguments)
    if _is_configured(arguments, settings) or not settings.local_servers:
        return
    from fathom.llm.providers.local_servers import find_local_models, load_choice

    before = load_choice(settings.home)
    if before and before.model == NO_MODEL:
        return
    found = asyncio.run(find_local_models(settings.local_servers))
    chosen = before if any(model.choice == before for model in found) else None
    if not chosen and not (arguments.quiet or arguments.json):
        if before:
            _say(f"The model {before.model}, chosen before, is not there now.")
        chosen = _offer(found, settings)
    if chosen and chosen.model != NO_MODEL:
        arguments.model, arguments.base_url = chosen.model, chosen.base_url


def _is_configured(arguments: argparse.Namespace, settings: Settings) -> bool:
    """Whether a model is named, a server or a key is there, or nothing is to be asked at all."""
    named = (
        arguments.model,
        arguments.models,
        arguments.base_url,
        settings.model,
        settings.run.model,
        settings.run.base_url,
    )
    keys = (settings.anthropic_api_key, settings.gemini_api_key)
    return arguments.dry_run or any(named) or any(keys) or settings.has_model


def _offer(found: "list[LocalModel]", settings: Settings) -> "ChosenModel | None":
    if not found:
        return None
    if sys.stdin.isatty() and sys.stderr.isatty():
        return _ask(found[:_MAX_SHOWN], settings)
    servers = " and ".join(dict.fromkeys(model.server for model in found))
    _say(f"No model is used. There is one on this machine ({servers}); to use it: {found[0].choice.options}")
    return None


def _ask(found: "list[LocalModel]", settings: Settings) -> "ChosenModel | None":
    """Return and remember what the person chooses; an empty answer is None and not remembered."""
    from fathom.llm.providers.local_servers import CHOICE_FILE, ChosenModel, save_choice

    choices = [ChosenModel(model=NO_MODEL), *(model.choice for model in found)]
    _say("No model is configured, but there are models on this machine:")
    for number, model in enumerate(found, start=1):
        print(safe(f"  {number}  {model.choice.model}  ({model.server})"), file=sys.stderr)
    print("  0  none: passages are quoted, nothing is written", file=sys.stderr)
    while True:
        print("Use which one from now on? (number, or Enter to skip) ", end="", file=sys.stderr, flush=True)
        try:
            typed = input().strip()
        except EOFError:
            return None
        if not typed:
            return None
        if typed.isdecimal() and int(typed) < len(choices):
            break
        _say(f"Please type a number from 0 to {len(found)}.")
    chosen = choices[int(typed)]
    save_choice(settings.home, chosen)
    _say(f"Remembered. To be asked again, delete {settings.home / CHOICE_FILE}.")
    return chosen


def _say(words: str) -> None:
    print(f"fathom: {words}", file=sys.stderr, flush=True)
