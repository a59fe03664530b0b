"""Throw-away installations for the tests of programs that use `rag`."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Unpack

from rag.config import Config
from rag.engine import Installation
from rag.engine.workspace import ResourceOverrides

STOP_SECONDS = 30.0
POLL_SECONDS = 0.05


@contextmanager
def temporary_installation(**parts: Unpack[ResourceOverrides]) -> Iterator[Installation]:
    """Yield an installation with a PostgreSQL of its own in a temporary folder; both are gone afterwards.

    It ignores the environment's settings and keys, and uses no network: the packaged model embeds, and answers are
    extracts. `parts` replace models, as those of `rag.RAGEngine` do. Starting takes seconds, so one installation serves
    all tests: `installation.for_user(name)` returns the engine of a user who sees nothing of others.

    Raises:
        errors.ConfigError: this system has no embedded server.
        errors.StoreError: the server does not start.
    """
    folder = Path(tempfile.mkdtemp(prefix="pagelight-")).resolve()
    folder.chmod(0o711)  # as root the server runs under another account, which must be able to enter
    defaults = {name: field.get_default(call_default_factory=True) for name, field in Config.model_fields.items()}
    config = Config(**{**defaults, "rag_data_dir": folder, "rag_embed_model": "local", "rag_gen_model": "extractive"})
    installation = Installation(config, **parts)
    try:
        yield installation
    finally:
        installation.close()
        deadline = time.monotonic() + STOP_SECONDS
        # The server stops shortly after its last user has left, and writes until then.
        while any(config.database_dir.glob("*/postmaster.pid")) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        shutil.rmtree(folder, ignore_errors=True)
