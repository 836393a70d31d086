"""Settings of the process: keys, addresses, models, places. The only module that reads the environment.

Order: arguments of the caller, environment, `.env`, `fathom.toml`, defaults.
"""

import os
from collections.abc import Mapping
from contextvars import ContextVar
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

from pydantic import Field, PrivateAttr, SecretStr, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from fathom.errors import BadInput
from fathom.settings.database_address import DatabaseAddress
from fathom.settings.model_names import (
    NO_MODEL,
    RECORDED,
    chat_model_name,
    is_full_name,
    provider_facts,
    split_name,
)
from fathom.settings.sources import (
    CONFIG_VARIABLE,
    SettingNames,
    SetValue,
    SharedVariable,
    collect_values,
    nest_values,
    run_setting_names,
)
from fathom.state import Role, RunConfig
from fathom.state.run_config import ALIASES

LARGE_ROLES: frozenset[Role] = frozenset({"plan", "outline", "write"})
DATABASE_FILE = "fathom.sqlite"
LocalServer = Literal["ollama", "lmstudio", "llamacpp", "vllm"]
LOCAL_SERVERS: dict[LocalServer, str] = {
    "ollama": "http://127.0.0.1:11434",
    "lmstudio": "http://127.0.0.1:1234",
    "llamacpp": "http://127.0.0.1:8080",
    "vllm": "http://127.0.0.1:8000",
}
_config_file: ContextVar[str | Path | None] = ContextVar("config_file", default=None)
Key = SecretStr | None
ReasoningEffort = Literal["none", "minimal", "low", "medium", "high"]
ExaType = Literal["auto", "neural", "fast", "instant", "deep", "keyword"]
Ceiling = Literal["budget_usd", "rounds", "sources", "branches"]


class Settings(BaseSettings):
    """Read once for a process."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True)

    home: Path = Field(Path("~/.fathom"), description="Where the database and the indexes are kept.")
    database_url: Annotated[Key, SharedVariable("FATHOM_DATABASE")] = Field(
        None,
        description="Where everything that lasts is kept: postgresql://USER:PASSWORD@HOST/NAME, or a file;"
        " empty: a file in the home.",
    )
    docs_roots: list[Path] = Field([Path()], description="Folders that runs may read documents from.")
    openai_api_key: Annotated[Key, SharedVariable("OPENAI_API_KEY")] = Field(
        None, description="OpenAI's key."
    )
    anthropic_api_key: Annotated[Key, SharedVariable("ANTHROPIC_API_KEY")] = Field(
        None, description="Anthropic's key."
    )
    gemini_api_key: Annotated[Key, SharedVariable("GEMINI_API_KEY")] = Field(
        None, description="Gemini's key; empty: Google's key."
    )
    base_url: Annotated[str | None, SharedVariable("OPENAI_BASE_URL")] = Field(
        None, description="An OpenAI-compatible server for models named without a provider: vLLM, llama.cpp …"
    )
    anthropic_url: Annotated[str | None, SharedVariable("ANTHROPIC_BASE_URL")] = Field(
        None, description="Another address for Anthropic's models."
    )
    gemini_url: Annotated[str | None, SharedVariable("GOOGLE_GEMINI_BASE_URL")] = Field(
        None, description="Another address for Google's models."
    )
    ollama_url: Annotated[str | None, SharedVariable("OLLAMA_HOST")] = Field(
        None, description="Where Ollama listens, if not on this machine's usual port."
    )
    model: str | None = Field(
        None,
        description="The model that plans and writes: PROVIDER:MODEL (openai, anthropic, google_genai, …),"
        " a plain name for the OpenAI-compatible server, the path of a .gguf file, or none.",
    )
    small_model: str | None = Field(None, description="The model that reads and checks; empty: the same.")
    models: dict[Role, str] = Field({}, description="One model for one role.")
    reasoning_effort: ReasoningEffort | None = Field(
        None, description="How much a reasoning model thinks: none, minimal, low, medium or high."
    )
    reasoning_efforts: dict[Role, ReasoningEffort] = Field({}, description="The same for one role.")
    temperature: float | None = Field(
        None, ge=0, le=2, description="The models' temperature; empty: the provider's default."
    )
    temperatures: dict[Role, float] = Field({}, description="The same for one role.")
    local_servers: dict[LocalServer, str] = Field(
        LOCAL_SERVERS,
        description="Where models on this machine are looked for when none is configured; {}: nowhere.",
    )
    telemetry: Literal["off", "on", "content"] = Field(
        "off",
        description="OpenTelemetry spans and metrics: off, on, or content (with questions and addresses).",
    )
    tavily_api_key: Annotated[Key, SharedVariable("TAVILY_API_KEY")] = Field(
        None, description="Tavily's key."
    )
    tavily_url: str = Field("https://api.tavily.com", description="Where Tavily is asked.")
    arxiv_url: str = Field("https://export.arxiv.org", description="Where arXiv is asked.")
    arxiv_pages: str = Field("https://arxiv.org", description="Where papers of arXiv are read.")
    archive_url: str = Field(
        "https://archive.org", description="Where an audit asks for archived copies of pages that are gone."
    )
    serper_api_key: Annotated[Key, SharedVariable("SERPER_API_KEY")] = Field(
        None, description="Serper's key."
    )
    brave_api_key: Annotated[Key, SharedVariable("BRAVE_API_KEY")] = Field(None, description="Brave's key.")
    exa_api_key: Annotated[Key, SharedVariable("EXA_API_KEY")] = Field(None, description="Exa's key.")
    exa_search_type: ExaType = Field(
        "auto", description="How Exa searches: auto, neural, fast, instant, deep or keyword."
    )
    google_api_key: Annotated[Key, SharedVariable("GOOGLE_API_KEY")] = Field(
        None, description="Google's key."
    )
    google_cse_id: Annotated[str | None, SharedVariable("GOOGLE_CSE_ID")] = Field(
        None, description="Google's search engine."
    )
    semantic_scholar_api_key: Annotated[Key, SharedVariable("SEMANTIC_SCHOLAR_API_KEY")] = Field(
        None, description="Semantic Scholar's key."
    )
    openalex_api_key: Annotated[Key, SharedVariable("OPENALEX_API_KEY")] = Field(
        None, description="OpenAlex's key."
    )
    ncbi_api_key: Annotated[Key, SharedVariable("NCBI_API_KEY")] = Field(None, description="PubMed's key.")
    searxng_url: Annotated[str | None, SharedVariable("SEARXNG_URL")] = Field(
        None, description="A SearXNG server."
    )
    contact: str | None = Field(None, description="A mail address that polite services are told.")
    engine_urls: dict[str, str] = Field({}, description="Another address for an engine, by its name.")
    mcp_file: Path | None = Field(None, description="A file of MCP servers, as other MCP clients have it.")
    retriever: str | None = Field(
        None, description="A LangChain retriever, its class or a factory, as package.module:attribute."
    )
    retriever_arguments: dict[str, Any] = Field(
        {}, description="What the retriever's class or factory is called with."
    )
    prices_file: Path | None = Field(
        None, description="A file of your own prices; empty: prices.toml in the home, if it is there."
    )
    respect_robots: bool = Field(True, description="Leave out pages whose robots.txt does not allow them.")
    allow_private: bool = Field(False, description="Let pages on private and loopback addresses be read.")
    proxy_pages: bool = Field(
        False, description="Read pages through HTTP_PROXY or HTTPS_PROXY too, which then resolve their names."
    )
    call_timeout_s: float = Field(
        120.0, gt=0, le=86_400, description="Seconds after which a model's call is given up."
    )
    call_retries: int = Field(3, ge=0, le=10, description="Further tries of a call that failed.")
    outage_s: float = Field(
        180.0, ge=0, le=86_400, description="Seconds that a model which is away is waited for."
    )
    parallel_calls: int = Field(
        50, ge=1, le=1000, description="Calls of one model at once, of all runs; fewer after a 429."
    )
    parallel_searches: int = Field(5, ge=1, le=1000, description="Searches at once in each run.")
    parallel_extractions: int = Field(10, ge=1, le=1000, description="Pages that are read at once.")
    max_answer_tokens: int = Field(
        8192, ge=64, description="The longest answer a model may give, without what it thinks."
    )
    allowed_hosts: list[str] = Field(
        ["localhost", "127.0.0.1", "::1"], description="Names by which a served Fathom may be called."
    )
    allowed_origins: list[str] = Field(
        ["https://smith.langchain.com"], description="Pages of these origins may use a served Fathom."
    )
    webhook_hosts: list[str] = Field(
        [], description="Hosts that may be told what changed in a watched report; empty: none."
    )
    api_keys: list[SecretStr] = Field(
        [], description="Keys of those who may use a served Fathom; empty: whoever reaches it."
    )
    runs_per_minute: int = Field(
        60, ge=1, le=100_000, description="Runs that a served Fathom starts within a minute, at most."
    )
    ceilings: dict[Ceiling, float] = Field(
        {"budget_usd": 10.0},
        description="The most that a run over the server may ask for: budget_usd, rounds, sources, branches.",
    )
    run: RunConfig = Field(RunConfig(), description="Defaults for runs.")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The order of the module's docstring; ours say where each value came from."""
        return init_settings, _SettingsSource(settings_cls)

    @field_validator("home", mode="after")
    @classmethod
    def _expanded(cls, home: Path) -> Path:
        return home.expanduser().absolute()

    @field_validator("database_url", mode="after")
    @classmethod
    def _is_database(cls, given: Key) -> Key:
        """Return a file with its whole path; an address must be one, and is not repeated when it is not."""
        place = given.get_secret_value().strip() if given else ""
        if DatabaseAddress.is_one(place):
            try:
                is_whole = bool(urlsplit(place).path.strip("/")) and urlsplit(place).port != 0
            except ValueError:  # a port that is no number
                is_whole = False
            if not is_whole:
                raise ValueError("must look like postgresql://USER:PASSWORD@HOST:PORT/NAME")
            return SecretStr(place)
        if "://" in place:
            raise ValueError("must look like postgresql://USER:PASSWORD@HOST:PORT/NAME, or be a file")
        return SecretStr(str(Path(place).expanduser().absolute())) if place else None

    @field_validator("*", mode="after")
    @classmethod
    def _empty_is_none(cls, key: Any) -> Any:
        if isinstance(key, SecretStr):
            return key if key.get_secret_value().strip() else None
        return key

    @field_validator("ollama_url", mode="after")
    @classmethod
    def _with_scheme(cls, address: str | None) -> str | None:
        """Ollama's own variable is often a host and a port only, or the address it listens on."""
        if not address:
            return None
        whole = address if "://" in address else f"http://{address}"
        return whole.replace("://0.0.0.0", "://127.0.0.1").rstrip("/")

    @field_validator("base_url", "anthropic_url", "gemini_url", mode="after")
    @classmethod
    def _is_server(cls, address: str | None) -> str | None:
        if not address:
            return None
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
            raise ValueError("must look like http://HOST:PORT/v1, without a user or a password")
        return address.rstrip("/")

    @field_validator("local_servers", mode="after")
    @classmethod
    def _is_here(cls, servers: dict[LocalServer, str]) -> dict[LocalServer, str]:
        parts = [urlsplit(address) for address in servers.values()]
        if not all(p.scheme == "http" and is_loopback(p.hostname or "") and not p.username for p in parts):
            raise ValueError("must be addresses of this machine, as http://127.0.0.1:11434")
        return {name: address.rstrip("/") for name, address in servers.items()}

    @property
    def database(self) -> Path | DatabaseAddress:
        """The one place of checkpoints, page texts and remembered calls: a file, or a PostgreSQL server."""
        if self.database_url is None:
            return self.home / DATABASE_FILE
        place = self.database_url.get_secret_value().strip()
        return DatabaseAddress(SecretStr(place)) if DatabaseAddress.is_one(place) else Path(place)

    # LangChain chat models that Python gave for roles; they beat every name.
    _chat_models: dict[Role, Any] = PrivateAttr(default_factory=dict)

    def with_chat_models(self, model: Any = None, models: Mapping[Role, Any] | None = None) -> "Settings":
        """Return the same settings with these models: names, or LangChain chat models.

        `model` plays every role that `models` does not name.
        """
        given: dict[Role, Any] = {
            **(dict.fromkeys(get_args(Role), model) if model is not None else {}),
            **(models or {}),
        }
        if unknown := [role for role in given if role not in get_args(Role)]:
            raise BadInput(f"There is no role {unknown[0]}; the roles are {', '.join(get_args(Role))}.")
        names = {role: one for role, one in given.items() if isinstance(one, str)}
        made = self.model_copy(update={"models": {**self.models, **names}})
        made._chat_models = {role: one for role, one in given.items() if not isinstance(one, str)}
        return made

    def chat_model(self, role: Role) -> Any:
        """Return the LangChain chat model that Python gave for a role, or None."""
        return self._chat_models.get(role)

    @property
    def has_model(self) -> bool:
        """Whether runs that name no model use one."""
        return self.uses_model()

    def uses_model(self, named: str | None = None) -> bool:
        """Whether a run that names this model, or none, asks a model at all."""
        chosen = named or self.model
        if named is None and self._chat_models:
            return True
        if chosen == NO_MODEL or (chosen or "").startswith(RECORDED):
            return False
        configured = [chosen, self.small_model, *self.models.values()]
        has_full_name = any(name and is_full_name(name) for name in ([named] if named else configured))
        return has_full_name or self.openai_api_key is not None or self.base_url is not None

    def model_for(self, role: Role, named: str | None = None) -> str:
        """Return the name of the model that plays a role; a model named for the run plays every role."""
        if named:
            return named
        if given := self._chat_models.get(role):
            return chat_model_name(given)
        small = self.small_model or self.model or "gpt-4.1-mini"
        return self.models.get(role) or (self.model or "gpt-4.1" if role in LARGE_ROLES else small)

    def server_of(self, name: str) -> str:
        """Return the address where a model of this name is asked; for an unknown provider, its name."""
        provider = provider_facts(split_name(name)[0])
        own = getattr(self, provider.address_setting) if provider.address_setting else ""
        return own or provider.address

    def key_of(self, provider: str) -> SecretStr | None:
        """Return the key that belongs to a provider, if one is set."""
        keys = (getattr(self, name) for name in provider_facts(provider).key_settings)
        return next((key for key in keys if key), None)

    def effort_for(self, role: Role) -> ReasoningEffort | None:
        """Return how much the model of a role thinks, if that is set."""
        return self.reasoning_efforts.get(role, self.reasoning_effort)

    def temperature_for(self, role: Role) -> float | None:
        """Return the temperature of a role, if that is set."""
        return self.temperatures.get(role, self.temperature)

    def usual(self, run_config: RunConfig) -> RunConfig:
        """Return the configuration of a run, with defaults from the settings."""
        said = {name: getattr(run_config, name) for name in run_config.model_fields_set}
        usual = {name: getattr(self.run, name) for name in self.run.model_fields_set}
        return RunConfig.model_validate({**usual, **said}) if usual else run_config

    def with_allowed(self, run_config: RunConfig) -> "Settings":
        """Return the settings for a trusted caller: whatever its configuration names is allowed."""
        roots = [*self.docs_roots, *(Path(place) for place in run_config.docs)]
        is_file = run_config.model is not None and run_config.model.endswith(".gguf")
        return self.model_copy(
            update={
                "docs_roots": roots,
                "model": run_config.model if is_file else self.model,
                "base_url": run_config.base_url or self.base_url,
                "models": {**self.models, **run_config.models},
                "ceilings": {},
            }
        )


def is_loopback(host: str) -> bool:
    """Whether a name or an address is that of this machine."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class _SettingsSource(PydanticBaseSettingsSource):
    """The files beside us and the environment, as one source."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Unused by us, required by pydantic-settings: all fields are returned at once."""
        return nest_values(read_set_values()).get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        """Everything that is set."""
        return nest_values(read_set_values())


def setting_names() -> SettingNames:
    """Every name that `fathom.toml` and variables may set."""
    settings = {name: field for name, field in Settings.model_fields.items() if name != "run"}
    return SettingNames(settings, run_setting_names(RunConfig, Settings), ALIASES)


def read_set_values(config_file: str | Path | None = None) -> dict[str, SetValue]:
    """Return the settings of this folder and environment by name, with their origins."""
    file = config_file or _config_file.get() or os.environ.get(CONFIG_VARIABLE)
    return collect_values(Path.cwd(), os.environ, setting_names(), Path(file).expanduser() if file else None)


def load_settings(config_file: str | Path | None = None, /, **words: object) -> Settings:
    """The settings of this process, from `config_file` instead of `fathom.toml` if one is named.

    Raises BadInput, in one sentence, when they do not make sense.
    """
    named = _config_file.set(config_file)
    try:
        return Settings(**{name: word for name, word in words.items() if word is not None})  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        where = next((one.origin for known, one in read_set_values().items() if name.startswith(known)), "")
        is_said = where and str(first["loc"][0]) not in words
        told = f"{first['msg']}{f' (set in {where})' if is_said else ''}"
        raise BadInput(f"The setting {name} is not usable: {told}.") from None
    finally:
        _config_file.reset(named)


def pager_command() -> str:
    """The command that shows long text page by page; `PAGER=cat`, or an empty `PAGER`, for none."""
    return os.environ.get("PAGER", "less")


def clear_environment() -> None:
    """Forget the environment, for a process that opens strangers' files and needs no keys."""
    os.environ.clear()
