"""Whether a key can be one.

Does not know where keys come from, or whether a service takes them.
"""

from fathom.errors import BadInput


def check_key(name: str, variable: str, key: str) -> None:
    """Refuse an empty key, and one with characters that cannot be sent; the message never shows it."""
    if not key.strip():
        raise BadInput(f"{name} needs {variable}.")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise BadInput(f"{variable} has characters that no key has, perhaps from copying it.")
