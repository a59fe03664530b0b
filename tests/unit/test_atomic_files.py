"""What a power failure leaves of a file that was put, and who may read it."""

import os
import stat
import uuid
from pathlib import Path

import pytest

from rag.store.files import atomic_files
from rag.store.files.atomic_files import write_atomically
from rag.store.files.file_storage import FileStore, Kind

DOCUMENT = uuid.uuid4()


class Disk:
    """What is on disk below a folder by what was synced: the names in each folder then, and the files' contents."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._names: dict[int, dict[str, int]] = {}
        self._contents: dict[int, bytes] = {}
        self._fsync = os.fsync
        monkeypatch.setattr(os, "fsync", self._record)

    def _record(self, descriptor: int) -> None:
        self._fsync(descriptor)
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            with os.scandir(descriptor) as entries:
                self._names[status.st_ino] = {entry.name: entry.inode() for entry in entries}
        else:
            self._contents[status.st_ino] = os.pread(descriptor, status.st_size, 0)

    def after_a_power_cut(self, path: Path, there: Path) -> bytes | None:
        """What `path` has then, when of its parents only those up to `there` were on disk before."""
        inode = there.stat().st_ino
        for name in path.relative_to(there).parts:
            if name not in self._names.get(inode, {}):
                return None
            inode = self._names[inode][name]
        return self._contents.get(inode)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    path = tmp_path / "upload"
    path.write_bytes(b"what was acknowledged")
    return path


@pytest.mark.parametrize("kind", ["original", "rendition"])
def test_a_stored_file_survives_a_power_cut(disk: Disk, tmp_path: Path, upload: Path, kind: Kind) -> None:
    files = FileStore((tmp_path / "new" / "files").as_uri(), tmp_path / "cache")
    files.of("ann").put(DOCUMENT, kind, upload)
    path = files.of("ann").local_path(DOCUMENT, kind)
    assert disk.after_a_power_cut(path, tmp_path) == b"what was acknowledged"


def test_a_stored_file_survives_a_power_cut_in_a_folder_not_yet_synced(
    disk: Disk, tmp_path: Path, upload: Path
) -> None:
    files = FileStore((tmp_path / "files").as_uri(), tmp_path / "cache")
    folder = files.of("ann").local_path
    files.of("ann").put(DOCUMENT, "original", upload)
    user = folder(DOCUMENT, "original").parents[1]
    disk._names.clear()  # as if the other one were killed before it came to that
    other = uuid.uuid4()
    files.of("ann").put(other, "original", upload)
    assert disk.after_a_power_cut(user / str(other) / "original", tmp_path) == b"what was acknowledged"


def test_a_deleted_file_stays_deleted_after_a_power_cut(disk: Disk, tmp_path: Path, upload: Path) -> None:
    files = FileStore((tmp_path / "files").as_uri(), tmp_path / "cache")
    files.of("ann").put(DOCUMENT, "original", upload)
    path = files.of("ann").local_path(DOCUMENT, "original")
    files.of("ann").delete(DOCUMENT)
    assert disk.after_a_power_cut(path, tmp_path) is None


def test_small_files_are_on_disk_with_their_names(disk: Disk, tmp_path: Path) -> None:
    write_atomically(tmp_path / "settings.json", "{}", 0o644)
    assert disk.after_a_power_cut(tmp_path / "settings.json", tmp_path) == b"{}"


def test_a_draft_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"before")

    def fail() -> None:
        with atomic_files.atomic_replacement(target) as partial:
            partial.write_bytes(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("target", b"before")]


def test_stored_files_are_readable_by_their_owner_alone(tmp_path: Path, upload: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o755)
    upload.chmod(0o644)
    files = FileStore((tmp_path / "mine" / "files").as_uri(), tmp_path / "cache")
    files.of("ann").put(DOCUMENT, "original", upload)
    path = files.of("ann").local_path(DOCUMENT, "original")
    modes = [stat.S_IMODE(one.stat().st_mode) for one in (path, *path.parents[:4])]
    assert modes == [0o600, 0o700, 0o700, 0o700, 0o755]


def test_cached_copies_are_readable_by_their_owner_alone(tmp_path: Path, upload: Path) -> None:
    files = FileStore(f"memory://{uuid.uuid4().hex}", tmp_path / "cache")
    files.of("ann").put(DOCUMENT, "original", upload)
    path = files.of("ann").local_path(DOCUMENT, "original")
    assert path.is_relative_to(tmp_path / "cache")
    modes = [stat.S_IMODE(one.stat().st_mode) for one in (path, *path.parents[:3])]
    assert modes == [0o600, 0o700, 0o700, 0o700]


def test_folders_are_made_though_an_empty_one_is_taken_away_meanwhile(tmp_path: Path) -> None:
    """As by a sweep, between the moment it was there and the moment something is made in it."""

    class Vanishing(type(tmp_path)):  # type: ignore[misc]
        removals = 1

        def mkdir(self, *arguments: object, **named: object) -> None:
            if self.name == "document" and Vanishing.removals:
                Vanishing.removals -= 1
                (tmp_path / "files" / "ann").rmdir()
            super().mkdir(*arguments, **named)

    (tmp_path / "files" / "ann").mkdir(parents=True)
    atomic_files.make_folders(Vanishing(tmp_path / "files" / "ann" / "document"), tmp_path / "files")
    assert (tmp_path / "files" / "ann" / "document").is_dir()
    assert Vanishing.removals == 0
