"""What libraries would tell their makers if we let them."""

import os
import subprocess
import sys
from pathlib import Path

EMBED = "from rag import providers; providers.LocalEmbedding().get_text_embedding('a pear')"


def test_embedding_leaves_no_trace_of_telemetry_in_the_home_folder(tmp_path: Path) -> None:
    # onnxruntime keeps a device id and a queue of events below the home folder; it is silent by itself where CI is set
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "ORT_DISABLE_TELEMETRY")}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / ".cache")}
    subprocess.run([sys.executable, "-c", EMBED], env=environment, check=True)
    assert [str(path) for path in tmp_path.rglob("*") if path.is_file()] == []
