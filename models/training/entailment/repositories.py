"""Read files of git directories and unpacked packages, and define what all sources of labelled pairs share."""

import csv
import io
import json
import re
import subprocess
import tarfile
import zipfile
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ENTAILMENT, NEUTRAL, CONTRADICTION, NOT_ENTAILED = "entailment", "neutral", "contradiction", "not_entailment"
Pair = tuple[str, str, str, str]
"""Group, evidence, claim, label."""

NLI_LABELS = {"e": ENTAILMENT, "n": NEUTRAL, "c": CONTRADICTION} | {
    name: name for name in (ENTAILMENT, NEUTRAL, CONTRADICTION)
}
BINARY_LABELS = {ENTAILMENT: ENTAILMENT, NOT_ENTAILED: NOT_ENTAILED, "non_entailment": NOT_ENTAILED}
VERDICTS = {
    "SUPPORT": ENTAILMENT,
    "SUPPORTS": ENTAILMENT,
    "CONTRADICT": CONTRADICTION,
    "REFUTES": CONTRADICTION,
    "NEUTRAL": NEUTRAL,
    "NOT ENOUGH INFO": NEUTRAL,
}

MIN_SENTENCE_CHARS = 16

csv.field_size_limit(1 << 24)


class Files(ABC):
    """Files of a source, by their paths."""

    @abstractmethod
    def read(self, path: str) -> bytes: ...

    def text(self, path: str) -> str:
        return self.read(path).decode("utf-8-sig", "replace")

    def lines(self, path: str) -> list[str]:
        return self.text(path).split("\n")

    def json(self, path: str) -> Any:
        return json.loads(self.text(path))

    def json_lines(self, path: str) -> list[dict[str, Any]]:
        return json_rows(self.text(path))

    def table(self, path: str, delimiter: str = "\t") -> Iterator[dict[str, str]]:
        return _rows(self.text(path), delimiter)

    def zip_archive(self, path: str) -> zipfile.ZipFile:
        return zipfile.ZipFile(io.BytesIO(self.read(path)))

    def tar_archive(self, path: str) -> dict[str, bytes]:
        with tarfile.open(fileobj=io.BytesIO(self.read(path))) as archive:
            return {
                member.name: file.read()
                for member in archive
                if member.isfile() and (file := archive.extractfile(member))
            }


class Package(Files):
    """Files of an unpacked wheel."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, path: str) -> bytes:
        return (self._folder / path).read_bytes()


class Repository(Files):
    """Files of a git directory at one commit, by default the newest."""

    def __init__(self, root: Path, commit: str = "HEAD") -> None:
        self._root, self._commit = root, commit
        self._folder = root / "repo"
        if (self._folder / ".git").exists():
            self._folder /= ".git"

    def at(self, commit: str) -> "Repository":
        return Repository(self._root, commit)

    def beside(self, name: str) -> "Repository":
        return Repository(self._root.parent / name)

    def read(self, path: str) -> bytes:
        return self._git("show", f"{self._commit}:{path}")

    def blob_table(self, blob: str) -> Iterator[dict[str, str]]:
        return _rows(self._git("cat-file", "blob", blob).decode("utf-8", "replace"), "\t")

    def folder(self, path: str) -> dict[str, bytes]:
        """Return all files of a folder, read by one command."""
        listing = self._git("ls-tree", "-r", self._commit, f"{path}/").decode()
        entries = [line.split("\t", 1) for line in listing.splitlines()]
        blobs = "\n".join(described.split()[2] for described, _ in entries)
        output = self._git("cat-file", "--batch", given=f"{blobs}\n".encode())
        files, position = {}, 0
        for _, name in entries:
            start = output.index(b"\n", position) + 1
            size = int(output[position:start].split()[2])
            files[name] = output[start : start + size]
            position = start + size + 1
        return files

    def _git(self, *arguments: str, given: bytes | None = None) -> bytes:
        command = ["git", f"--git-dir={self._folder}", *arguments]
        return subprocess.run(command, check=True, capture_output=True, input=given).stdout


Reader = Callable[[Any], Iterator[Pair]]
"""Reads the pairs of a source from a `Repository` or `Package`."""


def json_rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.split("\n") if line.strip()]


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


def sentences(text: str) -> list[str]:
    """Return the sentences of a text without those of a word or two."""
    parts = re.split(r"(?<=[.!?])[\"”)']?\s+(?=[A-Z\"“(])", text)
    return [part.strip() for part in parts if len(part.strip()) >= MIN_SENTENCE_CHARS]


def words(text: str) -> set[str]:
    """Return all figures and all words of three letters or more."""
    return set(re.findall(r"\d+|[a-z0-9]{3,}", text.casefold()))


def narrow(document: str, claim: str, most: int, around: int) -> str:
    """Return the sentences that share rare words with the claim, in their order, up to `most` characters.

    Args:
        document: the whole text.
        claim: what the sentences have to decide.
        most: characters to return.
        around: sentences to take before and after each of them.
    """
    parts = sentences(document)
    wanted, counts = words(claim), Counter(word for part in parts for word in words(part))
    # Sorted, because the sum of floats depends on their order, and that of a set changes with each run.
    ranked = sorted(
        range(len(parts)), key=lambda at: -sum(1 / counts[word] for word in sorted(words(parts[at]) & wanted))
    )
    kept: set[int] = set()
    size = 0
    for at in ranked:
        for near in sorted(range(at - around, at + around + 1), key=lambda other, at=at: abs(other - at)):
            if 0 <= near < len(parts) and near not in kept and size + len(parts[near]) < most:
                kept.add(near)
                size += len(parts[near]) + 1
    return " ".join(parts[at] for at in sorted(kept)) or document[:most]
