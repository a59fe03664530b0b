"""`.env.example` lists every setting, and each line of it is one."""

import re
from pathlib import Path

import pydantic

from rag.config import Config
from rag.types import ChunkingOptions, ParsingConfig

NESTED: dict[str, type[pydantic.BaseModel]] = {"rag_parsing": ParsingConfig, "rag_chunking": ChunkingOptions}
ONLY_FOR_COMPOSE = {"postgres_password"}


def test_every_setting_is_listed_and_nothing_else() -> None:
    text = (Path(__file__).parents[2] / ".env.example").read_text(encoding="utf-8")
    listed = {name.lower() for name in re.findall(r"^#([A-Z_]+)=", text, re.MULTILINE)}
    settings = set(Config.model_fields) - NESTED.keys()
    settings |= {f"{group}__{name}" for group, model in NESTED.items() for name in model.model_fields}
    assert listed - ONLY_FOR_COMPOSE == settings
