"""What the app's own settings have to do with ours."""

import tomllib
from pathlib import Path

from rag.cli.server import FORM_MB
from rag.types import ParsingConfig

SETTINGS = Path(__file__).parents[2] / ".streamlit" / "config.toml"


def test_the_app_takes_what_is_read_unless_set() -> None:
    server = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))["server"]
    assert server["maxUploadSize"] == ParsingConfig().max_file_mb + FORM_MB
