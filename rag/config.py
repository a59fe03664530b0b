"""Settings: the only module that reads the environment and the `.env` file.

Fields are named as the environment variables, which `Config()` reads when it is called. Keys are `SecretStr`: logs,
reprs and errors do not show them.
"""

import datetime as dt
import os
from pathlib import Path
from typing import Literal

import platformdirs
import pydantic
import pydantic_settings

from rag import errors, types

SYSTEM_DATA_DIR = Path("/var/lib/pagelight")
"""The default data folder of root, whose embedded database runs as an unprivileged user and needs access."""

MEGABYTE = 1_000_000
"""Bytes; the unit of quotas and of sizes of files and disks."""

NESTED_DELIMITER = "__"
"""Separates the names of a setting and of its field, as in RAG_PARSING__MAX_FILE_MB."""


def default_data_dir() -> Path:
    """Return the data folder used unless `RAG_DATA_DIR` is set."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return SYSTEM_DATA_DIR
    return Path(platformdirs.user_data_dir("pagelight", appauthor=False))


class Config(pydantic_settings.BaseSettings):
    """Every setting of Pagelight; each field is an environment variable of the same name in capitals."""

    model_config = pydantic_settings.SettingsConfigDict(
        env_file=".env",
        env_file_encoding="utf-8",
        env_ignore_empty=True,
        env_nested_delimiter=NESTED_DELIMITER,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
        hide_input_in_errors=True,
    )

    # Storage
    rag_data_dir: Path = pydantic.Field(default_factory=default_data_dir)
    rag_database_url: pydantic.SecretStr | None = None
    rag_database_admin_url: pydantic.SecretStr | None = None
    rag_database_replica_url: pydantic.SecretStr | None = None
    rag_database_timeout_seconds: float = pydantic.Field(default=20.0, ge=3)  # until a request fails for it
    rag_storage_url: str | None = None
    rag_local_model_dir: Path | None = None
    rag_entailment_model: Path | None = None  # a folder; None: the packaged model
    rag_disk_warning_mb: int = pydantic.Field(default=2000, ge=0)  # warn if less is free
    rag_disk_reserve_mb: int = pydantic.Field(default=500, ge=0)  # refuse uploads that would leave less

    # Models: "provider:model" or a provider's name. None: the best that the given keys allow; ones saved in the app do
    # not embed
    rag_embed_model: str | None = None
    rag_gen_model: str | None = None
    openai_api_key: pydantic.SecretStr | None = None
    openai_base_url: str | None = pydantic.Field(
        default=None, validation_alias=pydantic.AliasChoices("OPENAI_BASE_URL", "OPENAI_API_BASE", "openai_base_url")
    )
    gemini_api_key: pydantic.SecretStr | None = pydantic.Field(
        default=None, validation_alias=pydantic.AliasChoices("GEMINI_API_KEY", "GOOGLE_API_KEY", "gemini_api_key")
    )
    gemini_base_url: str | None = None
    google_application_credentials: Path | None = None
    google_drive_base_url: str | None = None
    openai_compatible_api_key: pydantic.SecretStr | None = None
    openai_compatible_base_url: str | None = None
    ollama_base_url: str | None = None
    rag_context_window: int | None = pydantic.Field(default=None, ge=512)  # tokens; None: as the model server says
    rag_max_context_tokens: int | None = pydantic.Field(default=None, ge=200, le=1_000_000)  # None: by the window
    provider_timeout_seconds: float = 60.0
    provider_max_retries: int = 3

    # Retrieval
    rag_hybrid: bool = True
    rag_fusion: Literal["weighted", "rrf"] = "weighted"
    rag_rrf_k: int = pydantic.Field(default=60, ge=1)

    # Servers and access
    port: int = pydantic.Field(default=3001, ge=1, le=65535)
    cors_origin: str | None = None
    rag_allowed_hosts: str | None = None
    forwarded_allow_ips: str = ""  # uvicorn's name; none: no proxy is trusted
    rag_api_key: pydantic.SecretStr | None = None
    rag_admins: str | None = None
    rag_quota_mb: int | None = pydantic.Field(default=None, ge=0)  # of originals, for each user; None: no limit
    rag_session_hours: float = pydantic.Field(default=12.0, gt=0)  # until people must log in again
    rag_oidc_groups_claim: str | None = None
    rag_oidc_role_claim: str | None = None
    rag_oidc_issuer: str | None = None
    rag_oidc_audience: str | None = None
    rag_folder_roots: str | None = None
    rag_app_port: int = pydantic.Field(default=8501, ge=1, le=65535)
    rag_web_addresses: bool = True  # allow uploads by web address
    rag_worker: bool = True
    rag_worker_readers: int | None = pydantic.Field(default=None, ge=1)  # files read at once; None: number of cores
    rag_worker_concurrency: int = pydantic.Field(default=2, ge=1, le=32)  # jobs at once, besides documents
    rag_debug: bool = False
    rag_rate_limit_per_minute: int = pydantic.Field(default=600, ge=0)  # requests per key; 0: no limit
    rag_max_questions: int = pydantic.Field(default=4, ge=1)  # answered at the same time
    rag_upload_timeout_seconds: float = pydantic.Field(
        default=60.0, gt=0
    )  # without any data; a slow upload may take hours
    otel_exporter_otlp_endpoint: str | None = None  # OpenTelemetry's variable; None: no traces are sent

    # Documents
    rag_parsing: types.ParsingConfig = types.ParsingConfig()
    rag_chunking: types.ChunkingOptions = types.ChunkingOptions()

    @property
    def database_dir(self) -> Path:
        """The folder of the embedded database server."""
        return self.rag_data_dir / "database"

    @property
    def storage_url(self) -> str:
        """The fsspec URL of originals and renditions."""
        return self.rag_storage_url or (self.rag_data_dir / "files").as_uri()

    @property
    def admins(self) -> frozenset[str]:
        """The users of `RAG_ADMINS`, separated by commas; the local user if it is unset.

        They are admins whatever their account says, so that an installation always has one. People who log in are no
        admins unless they are named.
        """
        return frozenset(_split(self.rag_admins)) or frozenset({types.LOCAL_USER})

    @property
    def quota_bytes(self) -> int | None:
        """The default quota of a user's originals in bytes; None: no limit."""
        return None if self.rag_quota_mb is None else self.rag_quota_mb * MEGABYTE

    @property
    def session_lifetime(self) -> dt.timedelta:
        """How long a login lasts."""
        return dt.timedelta(hours=self.rag_session_hours)

    @property
    def folder_roots(self) -> tuple[str, ...]:
        """The folders and addresses that API clients may have this machine read, separated by commas."""
        return _split(self.rag_folder_roots)

    @property
    def cors_origins(self) -> tuple[str, ...]:
        """The origins of web pages that may use the REST API, separated by commas."""
        return _split(self.cors_origin)

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """The host names by which users reach the app and the MCP server, separated by commas, in lower case."""
        return _split((self.rag_allowed_hosts or "").lower())

    @property
    def models_dir(self) -> Path:
        """The folder of the user's own and downloaded embedding models, each in a subfolder."""
        return self.rag_data_dir / "models"

    @property
    def cache_dir(self) -> Path:
        """The folder of files that can be made again: local copies of remote renditions."""
        return self.rag_data_dir / "cache"


def _split(setting: str | None) -> tuple[str, ...]:
    """Split a setting at its commas."""
    return tuple(name for part in (setting or "").split(",") if (name := part.strip()))


def silence_telemetry() -> None:
    """Disable the telemetry of onnxruntime (since 1.29); call this before it is imported."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def trust_proxies(config: Config) -> None:
    """Let uvicorn believe `X-Forwarded-For` of the proxies of the settings only; call this before Streamlit starts it.

    Otherwise it believes every program on this machine.
    """
    os.environ["FORWARDED_ALLOW_IPS"] = config.forwarded_allow_ips


def download_environment(folder: Path) -> dict[str, str]:
    """Return the environment of a process that downloads a model, and keeps what it needs in `folder`.

    No key and no telemetry leaves the machine. https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables
    """
    kept = {name: value for name, value in os.environ.items() if name not in {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}}
    silent = ("TELEMETRY", "IMPLICIT_TOKEN", "PROGRESS_BARS", "SYMLINKS_WARNING", "XET")
    return kept | {f"HF_HUB_DISABLE_{name}": "1" for name in silent} | {"HF_HOME": str(folder), "DO_NOT_TRACK": "1"}


def load_config(**overrides: object) -> Config:
    """Load the settings of this environment, replaced by `overrides`.

    Raises:
        errors.ConfigError: a setting is invalid; the message names it, without its value.
    """
    try:
        return Config(**overrides)  # type: ignore[arg-type]  # validated by pydantic right here
    except pydantic.ValidationError as error:
        found = types.field_errors(error.errors())
        problems = [
            f"{problem['field'].upper().replace('.', NESTED_DELIMITER)}: {problem['message']}" for problem in found
        ]
        raise errors.ConfigError(
            "Settings are wrong: " + "; ".join(problems) + ". Correct them in the environment or in .env.",
            details={"problems": problems},
        ) from None
