"""What a parsing process does: it reads one file and writes results, a line of JSON each.

It ends when nobody reads them any more, and when its time is up, even while MuPDF hangs.
"""

import os
import resource
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from rag import errors
from rag.parsing import document, metadata, renditions, wire
from rag.parsing.mupdf import open_pdf, readable
from rag.parsing.pages import PageContent
from rag.types import ParsingConfig

GRACE_SECONDS = 5.0
"""The user ends a process that takes too long; if it does not, the process ends itself so much later."""


def serve(request: Mapping[str, Any], results: BinaryIO) -> None:
    """Does what `request` asks for, within its limits of memory and time, which stay for the process."""
    config = ParsingConfig(**request["config"])
    rendition = Path(request["rendition"])
    limit_memory(config.memory_limit_mb)
    limit_time(config, pages=0)
    try:
        if request["task"] == "decrypt":
            renditions.decrypt(Path(request["source"]), rendition, name=request["name"], password=request["password"])
            results.write(wire.dump_metadata(metadata.Metadata()))
        else:
            _read(request, rendition, config, results)
    except BrokenPipeError:
        rendition.unlink(missing_ok=True)
        os._exit(1)  # at once, since nobody waits for the result
    except OSError as error:
        results.write(
            wire.dump_error(errors.StoreError(f"The rendition cannot be written: {error.strerror}. Make room."))
        )
    except errors.Error as error:
        results.write(wire.dump_error(error))
    except MemoryError:
        limit = f"{config.memory_limit_mb} MB of memory were not enough"
        results.write(wire.dump_error(errors.UnreadableFileError(f"“{request['name']}” cannot be read: {limit}.")))


def limit_memory(megabytes: int) -> None:
    """Lets allocations beyond `megabytes` fail (Linux; macOS does not enforce it)."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = megabytes * 1024 * 1024
    if sys.platform == "linux" and (hard == resource.RLIM_INFINITY or limit < hard):
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def limit_time(config: ParsingConfig, pages: int) -> None:
    """Ends the process by a signal when its time is over: a Python handler would wait for MuPDF to return."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, config.timeout_seconds(pages) + GRACE_SECONDS)


def _read(request: Mapping[str, Any], rendition: Path, config: ParsingConfig, results: BinaryIO) -> None:
    def send(line: bytes) -> None:
        results.write(line)
        results.flush()

    def opened_with(pages: int) -> None:
        limit_time(config, pages)
        send(wire.dump({"pages": pages}))

    recognised = renditions.make_rendition(
        Path(request["source"]),
        request["mime_type"],
        rendition,
        name=request["name"],
        password=request["password"],
        config=config,
        on_open=opened_with,
        on_recognised=lambda done: send(wire.dump({"recognised": done})),
    )
    with open_pdf(rendition) as opened, readable(request["name"]):
        for content in document.iter_pages(opened, config):
            info = content.info.model_copy(update={"ocr": content.info.number in recognised})
            send(wire.dump_page(PageContent(info, content.blocks)))
        send(wire.dump_metadata(metadata.of(opened)))
