"""Names of documents: cleaned for display, and turned into safe file names."""

import re
import unicodedata
from collections.abc import Sequence
from pathlib import PurePath

NAME_LIMIT_BYTES = 200
"""File systems allow 255 bytes; the rest is for numbers that make names unique."""
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""Names of devices on Windows, with any extension."""


def display_name(name: str) -> str:
    """Return the last part of a given file name, without characters that cannot be seen.

    Letters with accents are single characters, as typed; macOS writes two, so that the name would be another.
    """
    last = PurePath(unicodedata.normalize("NFC", name).replace("\\", "/")).name
    visible = "".join(char for char in last if char.isprintable()).strip()
    return visible if visible.strip(".") else "unnamed"


def unique_names(names: Sequence[str]) -> list[str]:
    """Return a file name for each of `names`, safe on every file system and unique ignoring case."""
    numbers: dict[str, int] = {}
    return [_unused(safe_name(name), numbers) for name in names]


def _unused(name: str, numbers: dict[str, int]) -> str:
    """Return `name`, numbered if it is taken; `numbers` has the last number of each name."""
    stem, suffix = _parts(name)
    first, candidate = _case_folded(name), name
    while _case_folded(candidate) in numbers:
        numbers[first] += 1
        candidate = f"{stem} ({numbers[first]}){suffix}"
    numbers[_case_folded(candidate)] = 1
    return candidate


def _case_folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def safe_name(name: str) -> str:
    """Return the last part of `name` as a valid file name without any path."""
    last = PurePath(name.replace("\\", "/")).name
    printable = "".join(char if char.isprintable() and char not in '<>:"|?*' else "_" for char in last)
    cleaned = unicodedata.normalize("NFC", printable).strip(" .") or "unnamed"
    if RESERVED.fullmatch(cleaned):
        cleaned = f"_{cleaned}"
    stem, suffix = _parts(cleaned)
    room = NAME_LIMIT_BYTES - len(suffix.encode())
    return stem.encode()[:room].decode(errors="ignore").rstrip(" .") + suffix


def _parts(name: str) -> tuple[str, str]:
    """Return stem and extension; an overlong extension is none."""
    path = PurePath(name)
    return (path.stem, path.suffix) if len(path.suffix) <= 10 else (name, "")
