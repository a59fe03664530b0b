"""Options of all parts, and a configuration that uses only the embedded models."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rag.config import Config, load_config


@dataclass(frozen=True)
class Chaos:
    """Numbers of faults; `seed` determines all randomness, `patience` multiplies timeouts on busy machines."""

    rounds: int = 30
    disk_full: int = 2
    freezes: int = 2
    power_cuts: int = 3
    seed: int = 1
    patience: int = 1


@dataclass(frozen=True)
class Clusters:
    """Citus clusters to compare with a plain server, by the URLs of their coordinators, and the data of users.

    `user_chunks` are the fewest and most chunks of a user. `restart` is a node (`host:port`) of the last cluster with
    the commands that kill it and start it again.
    """

    coordinators: tuple[str, ...] = ()
    users: int = 400
    user_chunks: tuple[int, int] = (1_000, 100_000)
    restart: tuple[str, str, str] | None = None


@dataclass(frozen=True)
class Options:
    """Options of a run: small sizes with `quick`; `pdf` replaces the generated PDF.

    `pdfs` is the folder of documents for claims, pictures and questions, `claims` a file of labelled claims or answers,
    `documents` the folder of the PDFs of these answers, `files` a folder of any files; `screenshots` is the folder for
    screenshots. `questions` and `weights` are for writers, `split` is for questions, `server` for writers, claims and
    verdicts. `chunks` are the sizes of the searched tables.
    """

    config: Config
    quick: bool = False
    pdf: Path | None = None
    pdfs: Path | None = None
    claims: Path | None = None
    documents: Path | None = None
    files: Path | None = None
    screenshots: Path | None = None
    questions: Path | None = None
    split: Literal["open", "final"] = "open"
    weights: Path | None = None
    server: str | None = None
    chunks: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    chaos: Chaos = Chaos()
    clusters: Clusters = Clusters()

    @property
    def folder(self) -> Path:
        """Return the folder of prepared databases and temporary files."""
        folder = self.config.rag_data_dir / "benchmarks"
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def local_config() -> Config:
    """Return this environment's folders and database without API keys: no text leaves the machine."""
    own = load_config()
    return load_config(
        rag_data_dir=own.rag_data_dir,
        rag_database_url=own.rag_database_url,
        rag_local_model_dir=own.rag_local_model_dir,
        rag_embed_model="local",
        openai_api_key=None,
        gemini_api_key=None,
        openai_compatible_api_key=None,
    )
