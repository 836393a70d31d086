"""Prompts as Markdown files with a checked header, and their loader."""

from fathom.prompts.loader import FilledPrompt, Prompt, PromptError, load_prompt, prompt_names

__all__ = [
    "FilledPrompt",
    "Prompt",
    "PromptError",
    "load_prompt",
    "prompt_names",
]
