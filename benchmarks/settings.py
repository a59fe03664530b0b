"""What every part is told, and settings under which nothing but the embedded models is used."""

from dataclasses import dataclass
from pathlib import Path

from rag.config import Config, load_config


@dataclass(frozen=True)
class Chaos:
    """How often what goes wrong; everything that chance decides comes from `seed`.

    Beside other work nothing is as fast: all that is waited for may take `patience` times as long.
    """

    rounds: int = 30
    disk_full: int = 2
    freezes: int = 2
    power_cuts: int = 3
    seed: int = 1
    patience: int = 1


@dataclass(frozen=True)
class Options:
    """What to measure with: small sizes with `quick`; `pdf` takes the place of the PDF made by script.

    `pdfs` is a folder of documents that claims, or pictures, are made of, `files` one of any files; into `screenshots`
    go pictures of what is done in a browser. `chunks` are the sizes of the tables that are searched.
    """

    config: Config
    quick: bool = False
    pdf: Path | None = None
    pdfs: Path | None = None
    files: Path | None = None
    screenshots: Path | None = None
    chunks: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    chaos: Chaos = Chaos()

    @property
    def folder(self) -> Path:
        """Where prepared databases and passing files are kept."""
        folder = self.config.rag_data_dir / "benchmarks"
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def local_config() -> Config:
    """This environment's folders and database without its keys: no text leaves the machine."""
    own = load_config()
    return load_config(
        rag_data_dir=own.rag_data_dir,
        rag_database_url=own.rag_database_url,
        rag_local_model_dir=own.rag_local_model_dir,
        rag_embed_model="local",
        openai_api_key=None,
        gemini_api_key=None,
        openrouter_api_key=None,
        perplexity_api_key=None,
    )
