"""Small files that are there as a whole or not at all."""

import os
import tempfile
from pathlib import Path

from rag import errors


def write_whole(path: Path, text: str, mode: int) -> None:
    """Put `text` in the place of what is at `path`; nobody ever sees half of it, or it with wider rights than `mode`.

    Raises:
        errors.StoreError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # 0600 from the beginning
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(partial).chmod(mode)
            Path(partial).replace(path)
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise errors.StoreError(f"{path} cannot be written: {error.strerror}. Check its folder's rights.") from error
