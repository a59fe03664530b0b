"""The process that downloads a model: `python -m rag.providers.downloads.process NAME FOLDER`.

A process of its own can be stopped at any time, and its libraries stay out of ours and off the user's terminal. It
prints nothing but how it failed, as JSON. The model appears in `FOLDER/NAME` after it was checked; until then all files
are in a hidden folder beside it, where an interrupted download keeps its complete files.
"""

import errno
import hashlib
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import filelock

from rag import errors
from rag.messages import N_
from rag.providers.downloads.catalogue import ModelRow, find_row, partial_folder
from rag.providers.folder_embedding import FolderEmbedding

TRY_TEXT = "A model that is here can embed this."


def main() -> int:
    """Download the model named on the command line."""
    name, models = sys.argv[1], Path(sys.argv[2])
    try:
        download(find_row(name), models)
    except errors.Error as error:
        failure = error
    except OSError as error:
        failure = _disk_error(error)
    else:
        return 0
    print(json.dumps({"kind": type(failure).__name__, "message": failure.message}))  # noqa: T201  # read by our parent
    return 1


def download(row: ModelRow, models: Path) -> None:
    """Download a model of fastembed's catalogue into a folder of `models`.

    Raises:
        errors.ConflictError: another process downloads it.
        errors.ProviderError: the hub cannot be reached or refuses, or what it sent is damaged.
        errors.ConfigError: the model does not run here.
        OSError: the disk is full or cannot be written.
    """
    name = row.offer.name
    partial = partial_folder(models, name)
    partial.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(partial / "lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise errors.ConflictError(
            N_("{name} is being downloaded by another process. Wait until it is done."), name=name
        ) from None
    with lock:
        snapshot = _fetch(row, partial / "hub")
        _require_intact(name, snapshot, partial)
        ready = partial / "ready"
        shutil.rmtree(ready, ignore_errors=True)
        _copy_links(snapshot, ready)
        _write_settings(row, ready)
        FolderEmbedding(name, ready).get_text_embedding(TRY_TEXT)
        ready.rename(models / name)
    shutil.rmtree(partial, ignore_errors=True)


def _fetch(row: ModelRow, cache: Path) -> Path:
    """Download the files with fastembed, and return their folder; its files are links to `blobs`, named by hash."""
    import httpx
    import huggingface_hub
    import huggingface_hub.errors
    from fastembed import TextEmbedding
    from huggingface_hub import utils

    name = row.offer.name
    unreachable = (getattr(utils, "httpx", httpx).TransportError, ConnectionError, TimeoutError)
    description = next(model for model in TextEmbedding.list_supported_models() if model["model"] == row.source)
    try:
        folder = TextEmbedding.download_files_from_huggingface(
            description["sources"]["hf"],
            cache_dir=str(cache),
            extra_patterns=[description["model_file"], *description["additional_files"]],
        )
    except huggingface_hub.errors.HfHubHTTPError as error:
        status = getattr(error.response, "status_code", "an error")
        raise errors.ProviderError(
            N_("The model hub does not give {name}: it answers with {status}. Try again later."),
            name=name,
            status=status,
        ) from error
    except (*unreachable, huggingface_hub.errors.LocalEntryNotFoundError) as error:
        raise errors.ProviderError(
            N_(
                "{name} could not be downloaded: the model hub cannot be reached, or the connection broke off. Start "
                "it again: complete files are kept."
            ),
            name=name,
        ) from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise _damaged(name) from error  # the hub's client: a file has not its expected size
    except ValueError as error:
        raise _damaged(name) from error
    return Path(folder)


def _damaged(name: str) -> errors.Error:
    return errors.ProviderError(
        N_("{name} arrived damaged or incomplete. Start it again: complete files are kept."), name=name
    )


def _require_intact(name: str, snapshot: Path, partial: Path) -> None:
    """Compare each file with its hash: SHA-256 of large files, Git's SHA-1 of others. Delete what differs."""
    for link in snapshot.rglob("*"):
        blob = link.resolve()
        if link.is_file() and not _has_hash(blob, blob.name):
            shutil.rmtree(partial / "hub", ignore_errors=True)
            raise _damaged(name)


def _has_hash(file: Path, expected: str) -> bool:
    if not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", expected):
        return True  # a mirror may name files otherwise
    digest: Any = hashlib.sha256()
    if len(expected) == 40:
        digest = hashlib.sha1(b"blob %d\0" % file.stat().st_size, usedforsecurity=False)
    with file.open("rb") as content:
        while block := content.read(1 << 20):
            digest.update(block)
    return bool(digest.hexdigest() == expected)


def _copy_links(snapshot: Path, ready: Path) -> None:
    """Make the folder of the model; hard links take no room, and the download can still go on."""
    for file in snapshot.rglob("*"):
        if file.is_file():
            target = ready / file.relative_to(snapshot)
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                target.hardlink_to(file.resolve())
            except OSError:
                shutil.copyfile(file, target)


def _write_settings(row: ModelRow, folder: Path) -> None:
    """Write how the model is to be run as sentence-transformers does, which `rag.providers.folder_embedding` reads."""
    prompts = {"query": row.query_prompt, "document": row.text_prompt}
    settings: dict[str, dict[str, object]] = {
        "1_Pooling/config.json": {
            "pooling_mode_cls_token": row.uses_first_token,
            "pooling_mode_mean_tokens": not row.uses_first_token,
        },
        "config_sentence_transformers.json": {"prompts": prompts},
        "sentence_bert_config.json": {"max_seq_length": row.max_tokens},
    }
    for name, values in settings.items():
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(values), encoding="utf-8")


def _disk_error(error: OSError) -> errors.Error:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return errors.DiskFullError(
            N_("The disk is full, and the download stopped. Make room. Start it again: complete files are kept.")
        )
    return errors.StoreError(
        N_("The model cannot be saved: {reason}. Check the folder of RAG_DATA_DIR."), reason=error.strerror or error
    )


if __name__ == "__main__":
    sys.exit(main())
