"""The address of a PostgreSQL database; printing it never shows the password."""

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

_SCHEMES = ("postgresql://", "postgres://")


@dataclass(frozen=True)
class DatabaseAddress:
    """The address of a PostgreSQL database, as `postgresql://USER:PASSWORD@HOST:PORT/NAME`."""

    url: SecretStr

    @staticmethod
    def is_one(words: str) -> bool:
        """Whether words name a server and not a file."""
        return words.startswith(_SCHEMES)

    def __str__(self) -> str:
        parts = urlsplit(self.url.get_secret_value())
        return f"postgresql://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def hide(self, text: str) -> str:
        """Return a text without the password, however it is written there."""
        url = self.url.get_secret_value()
        text = text.replace(url, str(self))
        password = urlsplit(url).password or ""
        for word in {password, unquote(password)} - {""}:
            text = text.replace(word, "***")
        return text
