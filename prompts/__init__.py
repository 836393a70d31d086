"""What models are told: Markdown files with a checked header, and their loader."""

from fathom.prompts.loader import Filled, Prompt, PromptError, load, names

__all__ = ["Filled", "Prompt", "PromptError", "load", "names"]
