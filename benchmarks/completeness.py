"""Measure the share of text that parsing keeps of real files, and unreported losses, by kind."""

import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import Section, at_least, at_most
from benchmarks.settings import Options
from rag import errors, parsing
from rag.types import Completeness

FILES, QUICK_FILES = 200, 20
"""Maximum number of files per kind."""
MOST_NAMED = 10


class Read(NamedTuple):
    """A file, its kind, and its completeness; None if it was refused."""

    file: Path
    kind: str
    completeness: Completeness | None


def measure(options: Options, section: Section) -> None:
    """Report for each kind the share kept, the number of incomplete files, and those that do not report it."""
    if options.files is None:
        section.about = "skipped: give a folder of files with --files"
        return
    by_kind: dict[str, list[Read]] = defaultdict(list)
    for read in read_files(options.files, quick=options.quick):
        by_kind[read.kind].append(read)
    section.about = f"{sum(map(len, by_kind.values())):,} files of {options.files.name}"
    for kind, files in sorted(by_kind.items()):
        add_kind(section, kind, files)


def read_files(folder: Path, *, quick: bool) -> Iterator[Read]:
    """Parse the files below `folder` by extension in a fixed order, as the app does."""
    by_suffix: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in parsing.MIME_TYPE_BY_SUFFIX and path.is_file() and not path.is_symlink():
            by_suffix[path.suffix.lower()].append(path)
    with tempfile.TemporaryDirectory() as target:
        for suffix, paths in sorted(by_suffix.items()):
            random.Random(0).shuffle(paths)
            for path in paths[: QUICK_FILES if quick else FILES]:
                yield Read(path, suffix[1:], kept(path, Path(target)))


def kept(file: Path, folder: Path) -> Completeness | None:
    """Return the completeness of `file`, or None if it is refused with an error."""
    try:
        return parsing.read_file(file, name=file.name, rendition=folder / "rendition.pdf").completeness
    except errors.Error:
        return None


def add_kind(section: Section, kind: str, files: Sequence[Read]) -> None:
    """Add the figures of one kind and its worst files."""
    found = [read.completeness for read in files if read.completeness is not None]
    characters = sum(each.source_characters for each in found)
    lost = [read for read in files if read.completeness is not None and not read.completeness.is_complete]
    section.add(f"{kind}: files", len(files), "")
    section.add(f"{kind}: refused, with a reason", len(files) - len(found), "")
    section.add(f"{kind}: characters", characters, "")
    section.add(
        f"{kind}: kept", 100 * sum(each.kept_characters for each in found) / max(characters, 1), "%", at_least(99.99)
    )
    section.add(f"{kind}: files below 100 %", len(lost), "")
    silent = [read for read in lost if read.completeness is not None and not read.completeness.missing]
    section.add(f"{kind}: of these without places", len(silent), "", at_most(0))
    for read in sorted(lost, key=_share)[:MOST_NAMED]:
        section.add(f"{kind}: {read.file.name}", 100 * _share(read), "%")


def _share(read: Read) -> float:
    return read.completeness.share if read.completeness is not None else 1.0
