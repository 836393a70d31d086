"""What the process knows: keys, addresses, models, where things are kept. The only reader of the environment.

Does not know any run. Order: what the caller says, environment, `.env`, `fathom.toml`, defaults.
"""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from fathom.errors import BadInput
from fathom.state import Knobs, Role

LARGE_ROLES: frozenset[Role] = frozenset({"plan", "outline", "write"})
DATABASE = "fathom.sqlite"
OPENAI = "https://api.openai.com/v1"


def _key(variable: str) -> Any:
    """A secret or an address under its service's own variable, or ours."""
    return Field(None, validation_alias=AliasChoices(variable.lower(), f"FATHOM_{variable}", variable))


class Settings(BaseSettings):
    """Read once for a process."""

    model_config = SettingsConfigDict(
        env_prefix="FATHOM_",
        env_file=".env",
        toml_file="fathom.toml",
        extra="ignore",
        frozen=True,
        populate_by_name=True,
    )

    home: Path = Field(Path("~/.fathom"), description="Where the database and the indexes are kept.")
    docs_roots: list[Path] = Field([Path()], description="Folders that runs may read documents from.")
    openai_api_key: SecretStr | None = _key("OPENAI_API_KEY")
    base_url: str | None = Field(
        None, validation_alias=AliasChoices("base_url", "FATHOM_BASE_URL", "OPENAI_BASE_URL")
    )
    model: str | None = Field(None, description="The model that plans and writes.")
    small_model: str | None = Field(None, description="The model that reads and checks; empty: the same.")
    models: dict[Role, str] = Field({}, description="One model for one role.")
    tavily_api_key: SecretStr | None = _key("TAVILY_API_KEY")
    tavily_url: str = "https://api.tavily.com"
    arxiv_url: str = "https://export.arxiv.org"
    arxiv_pages: str = "https://arxiv.org"
    serper_api_key: SecretStr | None = _key("SERPER_API_KEY")
    brave_api_key: SecretStr | None = _key("BRAVE_API_KEY")
    exa_api_key: SecretStr | None = _key("EXA_API_KEY")
    google_api_key: SecretStr | None = _key("GOOGLE_API_KEY")
    google_cse_id: str | None = _key("GOOGLE_CSE_ID")
    semantic_scholar_api_key: SecretStr | None = _key("SEMANTIC_SCHOLAR_API_KEY")
    openalex_api_key: SecretStr | None = _key("OPENALEX_API_KEY")
    ncbi_api_key: SecretStr | None = _key("NCBI_API_KEY")
    searxng_url: str | None = _key("SEARXNG_URL")
    contact: str | None = Field(None, description="A mail address that polite services are told.")
    engine_urls: dict[str, str] = Field({}, description="Another address for an engine, by its name.")
    mcp_file: Path | None = Field(None, description="A file of MCP servers, as other MCP clients have it.")
    retriever: str | None = Field(None, description="A LangChain retriever, as package.module:attribute.")
    respect_robots: bool = Field(True, description="Leave out pages whose robots.txt does not allow them.")
    allow_private: bool = Field(False, description="Let pages on private and loopback addresses be read.")
    call_timeout_s: float = Field(120.0, gt=0)
    call_retries: int = Field(3, ge=0, le=10)
    parallel_calls: int = Field(10, ge=1, le=100)
    max_answer_tokens: int = Field(4096, ge=64)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The order of the module's docstring."""
        toml = TomlConfigSettingsSource(settings_cls)
        return init_settings, env_settings, dotenv_settings, toml, file_secret_settings

    @field_validator("home", mode="after")
    @classmethod
    def _expanded(cls, home: Path) -> Path:
        return home.expanduser().absolute()

    @field_validator("*", mode="after")
    @classmethod
    def _empty_is_none(cls, key: Any) -> Any:
        if isinstance(key, SecretStr):
            return key if key.get_secret_value().strip() else None
        return key

    @field_validator("base_url", mode="after")
    @classmethod
    def _is_server(cls, address: str | None) -> str | None:
        if not address:
            return None
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
            raise ValueError("must look like http://HOST:PORT/v1, without a user or a password")
        return address.rstrip("/")

    @property
    def database(self) -> Path:
        """The one file: checkpoints, page texts, remembered calls."""
        return self.home / DATABASE

    @property
    def has_model(self) -> bool:
        """Whether a model can be asked at all."""
        return self.openai_api_key is not None or self.base_url is not None

    def model_for(self, role: Role, named: str | None = None) -> str:
        """Which model plays a role; a model named for the run plays every role."""
        if named:
            return named
        small = self.small_model or self.model or "gpt-4.1-mini"
        return self.models.get(role) or (self.model or "gpt-4.1" if role in LARGE_ROLES else small)

    def admitting(self, knobs: Knobs) -> "Settings":
        """The same settings for a caller whose word counts: what its knobs name is allowed."""
        roots = [*self.docs_roots, *(Path(place) for place in knobs.docs)]
        return self.model_copy(update={"docs_roots": roots, "base_url": knobs.base_url or self.base_url})


def load_settings(**words: object) -> Settings:
    """The settings of this process; one sentence when they do not make sense."""
    try:
        return Settings(**{name: word for name, word in words.items() if word is not None})  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"The setting {name} is not usable: {first['msg']}.") from None
    except ValueError as error:  # a file that is no TOML or no text, or a list that is no JSON
        raise BadInput(f"The settings cannot be read: {' '.join(str(error).split())}.") from None
