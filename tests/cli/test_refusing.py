"""Bad input: one sentence on standard error, exit code 2, no traceback, nothing written."""

import os
import sqlite3
from pathlib import Path

import pytest
from standins.library import QUESTION
from standins.model import Model
from standins.replies import Reply
from cli.conftest import Fathom, Told


def is_one_sentence(told: Told) -> bool:
    """Whether it was refused as it should be."""
    lines = told.err.splitlines()
    is_sentence = len(lines) == 1 and lines[0].startswith("fathom: ") and lines[0].endswith(".")
    return told.code == 2 and told.out == "" and is_sentence
