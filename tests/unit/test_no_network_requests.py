"""What libraries would tell their makers if we let them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forked

EMBED = "from rag import providers; providers.LocalEmbedding().get_text_embedding('a pear')"


def test_embedding_leaves_no_trace_of_telemetry_in_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # onnxruntime keeps a device id and a queue of events below the home folder; it is silent by itself where CI is set
    for name in ("CI", "ORT_DISABLE_TELEMETRY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    assert forked.run(EMBED) == 0
    assert [str(path) for path in tmp_path.rglob("*") if path.is_file()] == []


LOADED = """
import sys, logging
logging.basicConfig()
{before}
from rag.config import load_config
from rag.engine import Installation
from rag import tracing
Installation(load_config()).close()
assert not tracing.is_on()
with tracing.span("step") as step:
    step.add(count=1)
    assert tracing.current_traceparent() is None
assert "opentelemetry.sdk" not in sys.modules
"""
HIDDEN = "sys.modules['opentelemetry.exporter'] = None  # as if it were not installed"


def _run(code: str, **settings: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")} | settings
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    return done.stderr


def test_nothing_is_traced_unless_an_address_is_named() -> None:
    assert "traced" not in _run(LOADED.format(before=""))


def test_without_the_extra_a_line_says_how_to_get_traces() -> None:
    said = _run(LOADED.format(before=HIDDEN), OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
    assert 'nothing is traced. Install it: pip install "pagelight[telemetry]"' in said
