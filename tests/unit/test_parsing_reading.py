"""Reading in a process of its own. Each of these tests starts one."""

import contextlib
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from rag import errors, parsing
from rag.types import ParsedDocument, ParsingConfig
from tests import pdfs

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def rendition(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out" / "rendition.pdf"


def read(rendition: Path, content: bytes, name: str = "a.pdf", **settings: object) -> ParsedDocument:
    source = rendition.parent.parent / "source"
    source.write_bytes(content)
    return parsing.read_file(source, name=name, rendition=rendition, config=ParsingConfig(**settings))


def test_a_file_is_read_as_it_is_in_this_process(rendition: Path, tmp_path: Path) -> None:
    source = tmp_path / "source.pdf"
    source.write_bytes(pdfs.headings())
    seen: list[tuple[int, int]] = []
    document = parsing.read_file(
        source, name="a.pdf", rendition=rendition, on_progress=lambda done, total: seen.append((done, total))
    )
    assert document.model_copy(update={"completeness": None}) == parsing.parse_rendition(rendition)
    assert seen == [(n, 4) for n in range(1, 5)]
    assert list(rendition.parent.iterdir()) == [rendition]


def test_an_encrypted_file_needs_its_password(rendition: Path, tmp_path: Path) -> None:
    source = tmp_path / "source.pdf"
    source.write_bytes(pdfs.encrypted("tide"))
    assert parsing.needs_password(source)
    with pytest.raises(errors.PasswordError, match="Give its password"):
        parsing.read_file(source, name="a.pdf", rendition=rendition)
    with pytest.raises(errors.PasswordError, match="does not open"):
        parsing.decrypt(source, rendition, "ebb")
    assert list(rendition.parent.iterdir()) == []
    parsing.read_file(source, name="a.pdf", rendition=rendition, password="tide")
    assert not parsing.needs_password(rendition)
    parsing.decrypt(source, rendition, "tide")
    assert parsing.parse_rendition(rendition).line_count == len(pdfs.SENTENCES)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"%PDF-1.7\nnothing more", "damaged|no pages"),
        (pdfs.blank(), "no text"),
        (pdfs.broken_page(1, broken=1), "no page"),
    ],
)
def test_what_cannot_be_read_is_named_and_leaves_nothing(rendition: Path, content: bytes, words: str) -> None:
    with pytest.raises(errors.UnreadableFileError, match=words) as caught:
        read(rendition, content)
    assert "“a.pdf”" in caught.value.message
    assert str(rendition.parent) not in caught.value.message + repr(caught.value.details)
    assert list(rendition.parent.iterdir()) == []


def test_a_file_that_takes_too_long(rendition: Path) -> None:
    with pytest.raises(errors.UnreadableFileError, match=r"more than 0\.05 seconds of computing"):
        read(rendition, pdfs.pages(100), timeout_seconds_base=0.05, timeout_seconds_per_page=0)
    assert list(rendition.parent.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="macOS does not limit memory")
def test_a_file_that_takes_too_much_memory(rendition: Path) -> None:
    """All of it is read at once, and so much does not fit into what its process has already and may use again."""
    with pytest.raises(errors.UnreadableFileError, match=r"a\.txt"):
        read(rendition, b"The tide is high. " * 2_000_000, name="a.txt", memory_limit_mb=10)
    assert list(rendition.parent.iterdir()) == []


def test_a_file_that_is_gone(rendition: Path, tmp_path: Path) -> None:
    with pytest.raises(errors.NotFoundError):
        parsing.read_file(tmp_path / "gone.pdf", name="gone.pdf", rendition=rendition)


@pytest.mark.parametrize(("beyond", "is_read"), [(0, True), (1, False)])
def test_a_megabyte_is_1024_kilobytes(rendition: Path, beyond: int, is_read: bool) -> None:
    content = pdfs.plain().ljust(1024 * 1024 + beyond)
    with contextlib.nullcontext() if is_read else pytest.raises(errors.UnreadableFileError, match="the limit is 1 MB"):
        read(rendition, content, max_file_mb=1)


def test_an_interruption_ends_the_process(rendition: Path, tmp_path: Path) -> None:
    source = tmp_path / "source.pdf"
    source.write_bytes(pdfs.pages(200))

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        parsing.read_file(source, name="a.pdf", rendition=rendition, on_progress=interrupt)
    assert list(rendition.parent.iterdir()) == []


@pytest.mark.long
def test_the_process_ends_with_a_killed_parent_and_leaves_nothing(rendition: Path, tmp_path: Path) -> None:
    source = tmp_path / "source.pdf"
    source.write_bytes(pdfs.pages(400))
    script = f"""
        import os, signal
        from pathlib import Path
        from rag import parsing

        def die(done, total):
            print(sorted(os.listdir({str(rendition.parent)!r})), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

        parsing.read_file(Path({str(source)!r}), name="a.pdf", rendition=Path({str(rendition)!r}), on_progress=die)
    """
    parent = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert parent.stdout.strip() == "['rendition.pdf.partial']", parent.stderr
    until = time.monotonic() + 30
    while list(rendition.parent.iterdir()) and time.monotonic() < until:
        time.sleep(0.05)
    assert list(rendition.parent.iterdir()) == []
