"""Read one file in a parsing process and write the results as lines of JSON.

The process ends when nobody reads the results, and when it exceeds its CPU time, even while MuPDF hangs.
"""

import os
import resource
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from rag import errors, types
from rag.messages import N_
from rag.parsing import completeness, metadata, renditions
from rag.parsing.archive.unpacking import Unpacking
from rag.parsing.completeness import SecondReading
from rag.parsing.pdf import document
from rag.parsing.pdf.mupdf import map_mupdf_errors, open_pdf
from rag.parsing.worker import cpu_clock, protocol

CHARACTERS_PER_PAGE = 3500
"""Characters of plain text on an A4 page."""


def serve(request: Mapping[str, Any], results: BinaryIO) -> None:
    """Carry out `request` within its limits of memory and CPU time."""
    config = types.ParsingConfig(**request["config"])
    rendition = Path(request["rendition"])
    limit_memory(config.memory_limit_mb)
    is_text = request["mime_type"].startswith("text/")  # which must be laid out before its pages can be counted
    least_pages = Path(request["source"]).stat().st_size // CHARACTERS_PER_PAGE if is_text else 0
    cpu_clock.limit_cpu(config.timeout_seconds(least_pages))

    def send(**values: Any) -> None:
        results.write(protocol.dump(**values))
        results.flush()

    def send_error(error: errors.Error) -> None:
        send(error=(error.code, error.message, dict(error.details)))

    try:
        send(worker=os.getpid())
        if request["task"] == "decrypt":
            renditions.decrypt(Path(request["source"]), rendition, name=request["name"], password=request["password"])
            send(metadata=metadata.Metadata())
        else:
            _read(request, rendition, config, send)
    except BrokenPipeError:
        rendition.unlink(missing_ok=True)
        os._exit(1)  # nobody waits for the result
    except OSError as error:
        send_error(errors.StoreError(N_("The rendition cannot be written: {error}. Make room."), error=error.strerror))
    except errors.Error as error:
        send_error(error)
    except MemoryError:
        limit = N_("{limit} MB of memory were not enough").format(limit=config.memory_limit_mb)
        send_error(
            errors.UnreadableFileError(N_("“{name}” cannot be read: {_reason}."), name=request["name"], _reason=limit)
        )


def limit_memory(megabytes: int) -> None:
    """Limit the address space (Linux; macOS does not enforce it) and disable core dumps."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = megabytes * 1024 * 1024
    if sys.platform == "linux" and (hard == resource.RLIM_INFINITY or limit < hard):
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _read(request: Mapping[str, Any], rendition: Path, config: types.ParsingConfig, send: Callable[..., None]) -> None:
    def on_open(pages: int) -> None:
        cpu_clock.limit_cpu(config.timeout_seconds(pages))
        send(pages=pages)

    unpacking = Unpacking(request["name"], Path(request["parts_folder"]), types.Unpacked(**request["unpacked"]), config)
    rendered = renditions.make_rendition(
        Path(request["source"]),
        request["mime_type"],
        rendition,
        name=request["name"],
        password=request["password"],
        config=config,
        unpacking=unpacking,
        on_open=on_open,
        on_recognised=lambda done: send(recognised=done),
        with_pictures=request["pictures"],
    )
    send(parts=tuple(unpacking.parts))
    recognition = rendered.recognition
    with open_pdf(rendition) as opened, map_mupdf_errors(request["name"]):
        tally = completeness.CompletenessCheck(rendered.texts, None if rendered.texts else SecondReading(rendition))
        for content in document.iter_pages(opened):
            number = content.info.number
            error = content.info.error or recognition.failures.get(number)
            info = content.info.model_copy(update={"ocr": number in recognition.pages, "error": error})
            send(page=content._replace(info=info, runs=()))
            tally.add(content)
        note = "\n".join(filter(None, (rendered.note, recognition.note))) or None
        send(
            picture_pages=recognition.picture_pages,
            note=note,
            completeness=tally.result(),
            metadata=metadata.read_metadata(opened),
        )
