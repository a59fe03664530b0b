"""Read files of git directories, and what all sources of labelled pairs share."""

import csv
import io
import json
import re
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ENTAILMENT, NEUTRAL, CONTRADICTION, NOT_ENTAILED = "entailment", "neutral", "contradiction", "not_entailment"
Pair = tuple[str, str, str, str]
"""Group, evidence, claim, label."""

NLI_LABELS = {"e": ENTAILMENT, "n": NEUTRAL, "c": CONTRADICTION} | {
    name: name for name in (ENTAILMENT, NEUTRAL, CONTRADICTION)
}
VERDICTS = {
    "SUPPORT": ENTAILMENT,
    "SUPPORTS": ENTAILMENT,
    "CONTRADICT": CONTRADICTION,
    "REFUTES": CONTRADICTION,
    "NEUTRAL": NEUTRAL,
    "NOT_ENOUGH_INFO": NEUTRAL,
}

csv.field_size_limit(1 << 24)


class Repository:
    """Files of a git directory at its newest commit."""

    def __init__(self, folder: Path) -> None:
        self._root = folder
        self._folder = folder / "repo"
        if (self._folder / ".git").exists():
            self._folder /= ".git"

    def beside(self, name: str) -> "Repository":
        return Repository(self._root.parent / name)

    def _git(self, *arguments: str, given: bytes | None = None) -> bytes:
        command = ["git", f"--git-dir={self._folder}", *arguments]
        return subprocess.run(command, check=True, capture_output=True, input=given).stdout

    def read(self, path: str, commit: str = "HEAD") -> bytes:
        return self._git("show", f"{commit}:{path}")

    def text(self, path: str, commit: str = "HEAD") -> str:
        return self.read(path, commit).decode("utf-8-sig", "replace")

    def lines(self, path: str, commit: str = "HEAD") -> list[str]:
        return self.text(path, commit).split("\n")

    def json(self, path: str) -> Any:
        return json.loads(self.text(path))

    def json_lines(self, path: str, commit: str = "HEAD") -> Iterator[dict[str, Any]]:
        return (json.loads(line) for line in self.lines(path, commit) if line.strip())

    def table(self, path: str, delimiter: str = "\t") -> Iterator[dict[str, str]]:
        return _rows(self.text(path), delimiter)

    def blob_table(self, blob: str) -> Iterator[dict[str, str]]:
        return _rows(self._git("cat-file", "blob", blob).decode("utf-8", "replace"), "\t")

    def zipped(self, path: str) -> zipfile.ZipFile:
        return zipfile.ZipFile(io.BytesIO(self.read(path)))

    def tar_archive(self, path: str) -> dict[str, bytes]:
        with tarfile.open(fileobj=io.BytesIO(self.read(path))) as archive:
            return {
                member.name: file.read()
                for member in archive
                if member.isfile() and (file := archive.extractfile(member))
            }

    def folder(self, path: str) -> dict[str, bytes]:
        """Return all files of a folder, read by one command."""
        entries = [line.split("\t", 1) for line in self._git("ls-tree", "-r", "HEAD", f"{path}/").decode().splitlines()]
        blobs = "\n".join(described.split()[2] for described, _ in entries)
        output = self._git("cat-file", "--batch", given=f"{blobs}\n".encode())
        files, position = {}, 0
        for _, name in entries:
            start = output.index(b"\n", position) + 1
            size = int(output[position:start].split()[2])
            files[name] = output[start : start + size]
            position = start + size + 1
        return files


def _rows(text: str, delimiter: str) -> Iterator[dict[str, str]]:
    quoting = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    return csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting)


def tidy(text: str) -> str:
    """Undo the spacing of tokenised text."""
    text = text.replace("``", '"').replace("''", '"')
    for code, sign in (("LRB", "("), ("RRB", ")"), ("LSB", "["), ("RSB", "]"), ("COLON", ":")):
        text = text.replace(f"-{code}-", sign)
    text = re.sub(r"\s+([.,;:!?%)\]])", r"\1", " ".join(text.split()))
    text = re.sub(r"\s+(n't|'s|'re|'ve|'ll|'d|'m)\b", r"\1", text, flags=re.IGNORECASE)
    return re.sub(r"([(\[$£€])\s+", r"\1", re.sub(r"(\w) ' (s|re|ve|ll|d|m|t)\b", r"\1'\2", text))
