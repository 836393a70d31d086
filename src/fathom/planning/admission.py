"""The question a run was given, refused in one sentence when it is none.

Does not know who asked: a server starts a run with whatever it was sent.
"""

from fathom.errors import BadInput
from fathom.state import MAX_QUESTION_CHARS


def admitted(question: object) -> str:
    """The question itself, if it is one."""
    if not isinstance(question, str) or not question.strip():
        raise BadInput("The question is empty.")
    if len(question) > MAX_QUESTION_CHARS:
        raise BadInput(f"The question is longer than {MAX_QUESTION_CHARS} characters.")
    return question
