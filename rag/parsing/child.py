"""The parsing process: reads a request from standard input, writes results to standard output.

It ends when its parent does (standard input closes) and when its time is up, even while MuPDF hangs.
"""

import json
import os
import resource
import signal
import sys
import threading
from pathlib import Path
from typing import BinaryIO

from rag import errors
from rag.parsing import document, renditions, wire
from rag.parsing.mupdf import open_pdf, readable
from rag.parsing.pages import PageContent
from rag.types import ParsingConfig

GRACE_SECONDS = 5.0
"""The parent ends a process that takes too long; if it is gone, the process ends itself so much later."""


def main() -> None:
    """Serves one request and exits."""
    results = _take_stdout()
    request = json.loads(sys.stdin.buffer.readline())
    config = ParsingConfig(**request["config"])
    rendition = Path(request["rendition"])
    limit_memory(config.memory_limit_mb)
    limit_time(config, pages=0)
    threading.Thread(target=_end_with_parent, args=(rendition,), daemon=True).start()
    try:
        if request["task"] == "decrypt":
            renditions.decrypt(Path(request["source"]), rendition, name=request["name"], password=request["password"])
            results.write(wire.dump({"title": None}))
        else:
            _read(request, rendition, config, results)
    except BrokenPipeError:
        _abandon(rendition)
    except OSError as error:
        results.write(
            wire.dump_error(errors.StoreError(f"The rendition cannot be written: {error.strerror}. Make room."))
        )
    except errors.Error as error:
        results.write(wire.dump_error(error))
    except MemoryError:
        limit = f"{config.memory_limit_mb} MB of memory were not enough"
        results.write(wire.dump_error(errors.UnreadableFileError(f"“{request['name']}” cannot be read: {limit}.")))
    results.flush()


def _take_stdout() -> BinaryIO:
    """Standard output for results only: what libraries print goes to standard error."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return results


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
    seconds = config.timeout_seconds_base + config.timeout_seconds_per_page * pages
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_SECONDS)


def _end_with_parent(rendition: Path) -> None:
    """Waits until the parent closes standard input or dies, then leaves nothing behind."""
    sys.stdin.buffer.read()
    _abandon(rendition)


def _abandon(rendition: Path) -> None:
    """Ends at once, since nobody waits for the result."""
    rendition.unlink(missing_ok=True)
    os._exit(1)


def _read(request: dict[str, str], rendition: Path, config: ParsingConfig, results: BinaryIO) -> None:
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
        send(wire.dump({"title": document.metadata_title(opened)}))


if __name__ == "__main__":
    main()
