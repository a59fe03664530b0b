"""What the app's own settings have to do with ours."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from streamlit import config

from rag.cli.admin.server import FORM_MB
from rag.types import ParsingConfig

SETTINGS = Path(__file__).parents[2] / ".streamlit" / "config.toml"


def test_the_app_takes_what_is_read_unless_set() -> None:
    server = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))["server"]
    assert server["maxUploadSize"] == ParsingConfig().max_file_mb + FORM_MB


def test_each_line_is_of_an_option_that_streamlit_knows() -> None:
    """One that another version has under another name would be passed over without a word."""
    own = set(_options(tomllib.loads(SETTINGS.read_text(encoding="utf-8"))))
    assert own <= config.get_config_options().keys()


def test_programs_cannot_drive_the_pages() -> None:
    assert tomllib.loads(SETTINGS.read_text(encoding="utf-8"))["server"]["enableAgentApi"] is False


def test_answers_do_not_wait_for_a_search_for_garbage() -> None:
    """Which Streamlit would make after every look at an answer that is being written."""
    assert tomllib.loads(SETTINGS.read_text(encoding="utf-8"))["runner"]["postScriptGC"] is False


def _options(values: dict[str, Any], section: str = "") -> Iterator[str]:
    """Such as `theme.light.textColor`."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _options(value, f"{section}{name}.")
        else:
            yield section + name
