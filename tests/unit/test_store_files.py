"""Files of documents, in a local folder and in a file system that is not local."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from rag import errors
from rag.store.files.file_storage import FileStore, folder_name

DOCUMENT = uuid.uuid4()

HOSTILE_USERS = [
    "../../etc",
    "..",
    ".",
    "",
    "/etc/passwd",
    "a/../../b",
    "C:\\Windows",
    "x\x00y",
    "~root",
    "%2e%2e%2f",
    "\ud800",
    "CON",
    "ü" * 300,
]


@pytest.fixture(params=["local", "remote"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FileStore]:
    """A store in a folder, and one in fsspec's memory file system, which stands for any that is not local."""
    name = uuid.uuid4().hex
    url = (tmp_path / "files").as_uri() if request.param == "local" else f"memory://{name}"
    yield FileStore(url, tmp_path / "cache")
    if request.param == "remote":
        memory = fsspec.filesystem("memory")
        if memory.exists(f"/{name}"):
            memory.rm(f"/{name}", recursive=True)


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    path = tmp_path / "upload"
    path.write_bytes(b"first")
    return path


def test_put_and_read(files: FileStore, upload: Path) -> None:
    files.of("ann").put(DOCUMENT, "original", upload)
    assert files.of("ann").local_path(DOCUMENT, "original").read_bytes() == b"first"
    with files.of("ann").open(DOCUMENT, "original") as file:
        assert file.read() == b"first"
    assert files.of("ann").sizes(DOCUMENT) == {"original": 5}
    assert files.of("ann").exists(DOCUMENT, "original")
    assert not files.of("ann").exists(DOCUMENT, "rendition")


def test_putting_again_replaces_also_what_is_cached(files: FileStore, upload: Path) -> None:
    files.of("ann").put(DOCUMENT, "rendition", upload)
    files.of("ann").local_path(DOCUMENT, "rendition")
    upload.write_bytes(b"other")
    files.of("ann").put(DOCUMENT, "rendition", upload)
    assert files.of("ann").local_path(DOCUMENT, "rendition").read_bytes() == b"other"


def test_a_copy_follows_what_another_machine_puts(tmp_path: Path, upload: Path) -> None:
    url = f"memory://{uuid.uuid4().hex}"
    here, there = (FileStore(url, tmp_path / machine).of("ann") for machine in ("here", "there"))
    here.put(DOCUMENT, "rendition", upload)
    first = there.local_path(DOCUMENT, "rendition")
    assert there.local_path(DOCUMENT, "rendition") == first
    upload.write_bytes(b"later")  # as long as the first
    here.put(DOCUMENT, "rendition", upload)
    assert there.local_path(DOCUMENT, "rendition").read_bytes() == b"later"
    assert not first.exists()


class Failing(MemoryFileSystem):  # type: ignore[misc]  # untyped
    """A file system whose driver fails in its own words, which are none of Python's errors of files."""

    protocol = "failing"
    cachable = False

    def info(self, path: str, **_: object) -> NoReturn:
        raise LookupError(f"could not connect to the endpoint of {path}")

    def put_file(self, *_: object, **__: object) -> NoReturn:
        raise LookupError("could not connect to the endpoint")


def test_errors_of_a_driver_are_told_as_ours(tmp_path: Path, upload: Path) -> None:
    fsspec.register_implementation("failing", Failing, clobber=True)
    files = FileStore("failing://x", tmp_path / "cache").of("ann")
    for use in (lambda: files.put(DOCUMENT, "original", upload), lambda: files.local_path(DOCUMENT, "original")):
        with pytest.raises(errors.StoreError, match="LookupError"):
            use()


def test_deleting_removes_copies_too(files: FileStore, upload: Path) -> None:
    files.of("ann").put(DOCUMENT, "original", upload)
    files.of("ann").local_path(DOCUMENT, "original")
    files.of("ann").delete(DOCUMENT)
    files.of("ann").delete(DOCUMENT)
    assert files.of("ann").sizes(DOCUMENT) == {}
    for read in (files.of("ann").local_path, files.of("ann").open):
        with pytest.raises(errors.NotFoundError):
            read(DOCUMENT, "original")


def test_users_do_not_see_each_other(files: FileStore, upload: Path) -> None:
    files.of("ann").put(DOCUMENT, "original", upload)
    for other in ("bob", "Ann", "ann ", *HOSTILE_USERS):
        assert not files.of(other).exists(DOCUMENT, "original")
        assert files.of(other).sizes(DOCUMENT) == {}
        files.of(other).delete(DOCUMENT)
        with pytest.raises(errors.NotFoundError):
            files.of(other).local_path(DOCUMENT, "original")
    assert files.of("ann").exists(DOCUMENT, "original")


@pytest.mark.parametrize("user", HOSTILE_USERS)
def test_no_user_id_leads_out_of_the_folder(user: str, upload: Path, tmp_path: Path) -> None:
    files = FileStore((tmp_path / "files").as_uri(), tmp_path / "cache")
    files.of(user).put(DOCUMENT, "original", upload)
    path = files.of(user).local_path(DOCUMENT, "original")
    assert path.read_bytes() == b"first"
    assert path.relative_to(tmp_path / "files").parts[1:] == (str(DOCUMENT), "original")
    assert folder_name(user).isascii()
    assert len(folder_name(user)) < 100


def test_folder_names_differ_where_case_is_ignored() -> None:
    users = ["ann", "ANN", "Ann", "ann ", "a/nn", "a_nn", "a%nn", *HOSTILE_USERS]
    assert len({folder_name(user).lower() for user in users}) == len(users)


def test_a_failed_copy_leaves_the_old_file_and_no_rest(tmp_path: Path, upload: Path) -> None:
    files = FileStore((tmp_path / "files").as_uri(), tmp_path / "cache")
    files.of("ann").put(DOCUMENT, "original", upload)
    with pytest.raises(errors.StoreError):
        files.of("ann").put(DOCUMENT, "original", tmp_path / "missing")
    path = files.of("ann").local_path(DOCUMENT, "original")
    assert path.read_bytes() == b"first"
    assert [other.name for other in path.parent.iterdir()] == ["original"]


def test_an_unknown_kind_or_storage(tmp_path: Path, upload: Path) -> None:
    files = FileStore(str(tmp_path / "files"), tmp_path / "cache")
    with pytest.raises(errors.StoreError):
        files.of("ann").put(DOCUMENT, "../../x", upload)  # type: ignore[arg-type]  # what must not come through
    with pytest.raises(errors.StoreError, match="RAG_STORAGE_URL"):
        FileStore("nosuch://x", tmp_path)
