"""Pandoc as a program of its own, which may read nothing but the file that it is given."""

import resource
import signal
import subprocess
import tempfile
from pathlib import Path

import pypandoc

from rag import errors
from rag.types import ParsingConfig

HEAP_SHARE = 0.5
"""Of the memory that reading a file may take. What it makes stands beside it in the parsing process's own."""
_HEAP_EXHAUSTED = 251
"""How a program in Haskell ends that reaches its limit of memory (GHC's users' guide, `-M`)."""
_OPTIONS = ("--to=html", "--standalone", "--embed-resources", "--sandbox", "--wrap=none", "--track-changes=accept")
_TITLED = frozenset({"docx", "odt"})
"""Formats whose title stands in the text. A book's is data about it, as its cover has it."""
_TEMPLATE = (
    "$if(title)$<h1>$title$</h1>$endif$ $if(subtitle)$<p>$subtitle$</p>$endif$"
    " $for(author)$<p>$author$</p>$endfor$ $if(date)$<p>$date$</p>$endif$"
    " $if(abstract)$<div>$abstract$</div>$endif$ $body$"
)
"""What a document says at its beginning, which Pandoc keeps apart, and its body. No style and no script."""


class NotUnderstood(Exception):  # noqa: N818  # it is an answer, which no user sees
    """Pandoc cannot read the file, which may still have text."""


def to_html(source: Path, format_name: str, config: ParsingConfig) -> str:
    """The file at `source` as HTML, with its pictures as data in it; `format_name` is Pandoc's name of its format.

    Pandoc gets half of the memory, and as much time as a file of no known pages may take, counted in seconds that it
    works. It is ended with the parsing process, in whose process group it is (`rag.parsing.worker.fork_server`).

    Raises:
        NotUnderstood: it is damaged, or written in a way that Pandoc does not know.
        errors.UnreadableFileError: it needs more time or memory.
    """
    heap = f"-M{int(config.memory_limit_mb * HEAP_SHARE)}m"
    seconds = int(config.timeout_seconds(0)) + 1
    with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
        template = Path(folder) / "template.html"
        template.write_text(_TEMPLATE if format_name in _TITLED else "$body$", encoding="utf-8")
        made = Path(folder) / "made.html"
        command = [pypandoc.get_pandoc_path(), "+RTS", heap, "-RTS", f"--from={format_name}", *_OPTIONS]
        command += [f"--template={template}", f"--output={made}", str(source.resolve())]
        ended = subprocess.run(
            command,
            cwd=folder,
            env={"HOME": folder, "LANG": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
            check=False,
        )
        if ended.returncode:
            raise _failure(ended.returncode)
        return made.read_text(encoding="utf-8", errors="replace")


def _failure(code: int) -> Exception:
    if code == _HEAP_EXHAUSTED:
        reason = "reading it takes more memory than it may take"
    elif code in {-signal.SIGXCPU, -signal.SIGKILL}:
        reason = "reading it takes longer than it may take"
    else:
        return NotUnderstood()
    return errors.UnreadableFileError(
        f"The document cannot be read: {reason}. Open it in another program and save it again, or split it.",
        details={"exit_code": code},
    )
