"""Small files that are there as a whole or not at all."""

from pathlib import Path

from rag import errors
from rag.store.files import durable_files


def write_atomically(path: Path, text: str, mode: int) -> None:
    """Put `text` in the place of what is at `path`; nobody ever sees half of it, or it with wider rights than `mode`.

    Raises:
        errors.StoreError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with durable_files.atomic_replacement(path) as partial:
            partial.write_text(text, encoding="utf-8")
            partial.chmod(mode)
    except OSError as error:
        raise errors.StoreError(f"{path} cannot be written: {error.strerror}. Check its folder's rights.") from error
