"""The server that parsing processes are forked from: what its death, or theirs, costs and leaves."""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from rag import errors, parsing
from rag.parsing.file_reader import FIRST_PAGES
from rag.parsing.worker import forks
from rag.types import ParsedDocument, ParsingConfig
from tests import pdfs
from tests.waiting import eventually

REPOSITORY = Path(__file__).parents[2]
PATIENCE_SECONDS = 180.0
MANY_PAGES = 150


def forked() -> list[psutil.Process]:
    """The server of this process, and the guards and workers of all its files."""
    return [process for process in psutil.Process().children(recursive=True) if is_parsing(process)]


def is_parsing(process: psutil.Process) -> bool:
    try:
        return "rag.parsing.worker.fork_server" in process.cmdline() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def server() -> psutil.Process:
    return next(process for process in forked() if process.ppid() == os.getpid())


def worker() -> psutil.Process:
    """The one process that reads a file now: of user, server, guard and worker the last."""
    parents = {process.ppid() for process in forked()}
    (last,) = [process for process in forked() if process.pid not in parents and process.pid != server().pid]
    return last


@pytest.fixture(scope="module")
def long_pdf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that is still being read when its first page is done."""
    path = tmp_path_factory.mktemp("long") / "long.pdf"
    path.write_bytes(pdfs.pages(MANY_PAGES))
    return path


def read(
    source: Path, folder: Path, on_first_page: Callable[[], object] = lambda: None, **settings: object
) -> ParsedDocument:
    def note(done: int, total: int) -> None:
        if done == 1:
            on_first_page()

    rendition = folder / f"{source.stem}-rendition.pdf"
    config = ParsingConfig.model_validate(settings)
    return parsing.read_file(source, name=source.name, rendition=rendition, config=config, on_progress=note)


def read_plain(folder: Path, sentence: str = "The tide is high.") -> str:
    source = folder / f"{abs(hash(sentence))}.pdf"
    source.write_bytes(pdfs.plain([sentence]))
    return read(source, folder).blocks[0].text


def test_one_server_forks_for_all_files_and_leaves_no_zombie(tmp_path: Path) -> None:
    read_plain(tmp_path)
    first = server()
    assert read_plain(tmp_path, "Another tide.") == "Another tide."
    assert eventually(lambda: forked() == [first])
    assert first.num_threads() == 1


@pytest.mark.long
def test_a_killed_server_is_started_again(tmp_path: Path) -> None:
    read_plain(tmp_path)
    killed = server()
    killed.kill()
    assert read_plain(tmp_path) == "The tide is high."
    assert server() != killed
    assert eventually(lambda: forked() == [server()])


def test_modules_of_the_working_folder_are_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder may hold files with the names of Python's modules."""
    for name in ("rag", "types", "enum"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('from the working folder')", "utf-8")
    monkeypatch.chdir(tmp_path)
    forks._servers.close()
    assert read_plain(tmp_path) == "The tide is high."


@pytest.mark.long
def test_a_server_that_is_killed_while_it_loads_is_followed_by_another(tmp_path: Path) -> None:
    forks._servers.close()
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read_plain, tmp_path)
        assert eventually(forked)
        killed = server()
        killed.kill()
        assert reading.result(PATIENCE_SECONDS) == "The tide is high."
    assert server() != killed


def test_a_server_that_dies_does_not_take_the_file_with_it(tmp_path: Path, long_pdf: Path) -> None:
    assert read(long_pdf, tmp_path, lambda: server().kill()).pages[-1].number == MANY_PAGES
    assert read_plain(tmp_path) == "The tide is high."


def test_a_worker_that_crashes_costs_its_file(tmp_path: Path, long_pdf: Path) -> None:
    with pytest.raises(errors.UnreadableFileError, match="crashed the process") as caught:
        read(long_pdf, tmp_path, lambda: worker().send_signal(signal.SIGSEGV))
    assert caught.value.details["exit_code"] == -signal.SIGSEGV
    assert list(tmp_path.iterdir()) == []
    assert read_plain(tmp_path) == "The tide is high."


def test_a_disk_without_room_is_not_the_fault_of_the_file(tmp_path: Path) -> None:
    (source := tmp_path / "a.pdf").write_bytes(pdfs.encrypted("secret"))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    forks._servers.close()  # the next one has the limit
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))  # bytes
    try:
        with pytest.raises(errors.ReadingInterruptedError, match="File too large"):
            parsing.decrypt(source, tmp_path / "b.pdf", "secret")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        forks._servers.close()
    assert [*tmp_path.iterdir()] == [source]


@pytest.mark.long
def test_a_worker_that_is_killed_is_not_the_fault_of_its_file(tmp_path: Path, long_pdf: Path) -> None:
    with pytest.raises(errors.ReadingInterruptedError, match=r"want of memory.* try again") as caught:
        read(long_pdf, tmp_path, lambda: worker().kill())
    assert caught.value.details["exit_code"] == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_a_worker_that_does_nothing_any_more_is_ended(tmp_path: Path, long_pdf: Path) -> None:
    with pytest.raises(errors.ReadingInterruptedError, match="for 1 seconds nothing came"):
        read(long_pdf, tmp_path, lambda: worker().suspend(), idle_seconds=1)
    assert eventually(lambda: forked() == [server()])


@pytest.mark.long
def test_a_worker_that_waits_for_its_user_is_not_ended(tmp_path: Path) -> None:
    """More than a pipe holds is written while nobody takes it."""
    source = tmp_path / "many.pdf"
    source.write_bytes(pdfs.pages(MANY_PAGES))
    idle = 2.0  # longer than a busy machine may keep it from computing

    def take_long() -> None:
        assert eventually(lambda: worker().status() == psutil.STATUS_SLEEPING)
        time.sleep(1.5 * idle)

    assert len(read(source, tmp_path, take_long, idle_seconds=idle).pages) == MANY_PAGES


@pytest.mark.long
def test_time_without_computing_does_not_count(tmp_path: Path, long_pdf: Path) -> None:
    """A worker that is stopped, as it is while others run on a busy machine, has not had its time."""

    def stop_for_longer_than_its_time() -> None:
        stopped = worker()
        stopped.suspend()
        time.sleep(2.1)
        stopped.resume()

    limits = {"timeout_seconds_base": 2, "timeout_seconds_per_page": 0}
    assert len(read(long_pdf, tmp_path, stop_for_longer_than_its_time, **limits).pages) == MANY_PAGES


def test_a_file_that_is_not_wanted_any_more_is_not_read_on(tmp_path: Path, long_pdf: Path) -> None:
    stopped: list[int] = []

    def stop(done: int, _: int) -> None:
        if not stopped:
            worker().suspend()  # nothing more comes: only its end ends it
            stopped.append(done)

    rendition = tmp_path / "rendition.pdf"
    with pytest.raises(errors.CancelledError):
        parsing.read_file(
            long_pdf, name="a.pdf", rendition=rendition, on_progress=stop, is_cancelled=lambda: bool(stopped)
        )
    assert list(tmp_path.iterdir()) == []
    assert eventually(lambda: forked() == [server()])


def test_the_first_pages_of_a_long_file_are_handed_on_before_the_rest(tmp_path: Path) -> None:
    source, rendition = tmp_path / "long.pdf", tmp_path / "rendition.pdf"
    source.write_bytes(pdfs.pages(2 * FIRST_PAGES, line=lambda page: f"Page {page} of the log.", others=()))
    begun: list[tuple[int, bool]] = []

    def begin(beginning: ParsedDocument, shown: Path) -> None:
        begun.append((len(beginning.pages), shown.read_bytes().startswith(b"%PDF")))

    whole = parsing.read_file(source, name="long.pdf", rendition=rendition, on_beginning=begin)
    assert begun == [(FIRST_PAGES, True)]
    assert len(whole.pages) == 2 * FIRST_PAGES


def test_a_file_that_is_given_up_at_once_is_not_read(tmp_path: Path, long_pdf: Path) -> None:
    request = {
        "task": "parse",
        "source": str(long_pdf),
        "name": "long.pdf",
        "mime_type": "application/pdf",
        "rendition": str(tmp_path / "rendition.pdf"),
        "password": None,
        "config": ParsingConfig().model_dump(),
        "environment": dict(os.environ),
    }
    with tempfile.TemporaryFile() as stderr, forks.fork(json.dumps(request).encode(), stderr) as process:
        process.kill()
        assert process.wait() == -signal.SIGKILL


def test_an_interrupted_terminal_reaches_only_the_user(tmp_path: Path) -> None:
    read_plain(tmp_path)
    before = server()
    before.send_signal(signal.SIGINT)
    assert read_plain(tmp_path) == "The tide is high."
    assert server() == before


def test_files_are_read_at_once_from_several_threads(tmp_path: Path, long_pdf: Path) -> None:
    damaged = tmp_path / "damaged.pdf"
    damaged.write_bytes(b"%PDF-1.7\nnothing more")
    sentences = [f"Herons counted in year {year}." for year in range(1990, 2002)]
    with ThreadPoolExecutor(8) as threads:
        long = threads.submit(read, long_pdf, tmp_path)
        broken = threads.submit(read, damaged, tmp_path)
        assert list(threads.map(lambda sentence: read_plain(tmp_path, sentence), sentences)) == sentences
        assert len(long.result().pages) == MANY_PAGES
        assert isinstance(broken.exception(), errors.UnreadableFileError)
    assert eventually(lambda: forked() == [server()])


@pytest.mark.needs_tesseract
def test_a_worker_has_the_environment_of_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "scan.pdf"
    source.write_bytes(pdfs.scanned())
    assert read(source, tmp_path, ocr_engine="tesseract").blocks
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    with pytest.raises(errors.UnreadableFileError, match="install Tesseract"):
        read(source, tmp_path, ocr_engine="tesseract")


def run_script(script: str) -> str:
    command = [sys.executable, "-c", textwrap.dedent(script)]
    return subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=False).stdout


@pytest.mark.long
def test_nothing_is_left_of_a_killed_user(tmp_path: Path, long_pdf: Path) -> None:
    said = run_script(f"""
        import os, signal
        from pathlib import Path
        import psutil
        from rag import parsing

        def die(done, total):
            print(*(process.pid for process in psutil.Process().children(recursive=True)), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

        rendition = Path({str(tmp_path / "rendition.pdf")!r})
        parsing.read_file(Path({str(long_pdf)!r}), name="a.pdf", rendition=rendition, on_progress=die)
    """)
    pids = [int(pid) for pid in said.split()]
    assert len(pids) == 3
    assert eventually(lambda: not any(is_running(pid) for pid in pids))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_a_worker_that_hangs_ends_with_a_killed_user(tmp_path: Path, long_pdf: Path) -> None:
    said = run_script(f"""
        import os, signal
        from pathlib import Path
        import psutil
        from rag import parsing

        def die(done, total):
            server, guard, worker = psutil.Process().children(recursive=True)
            worker.suspend()
            print(worker.pid, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

        rendition = Path({str(tmp_path / "rendition.pdf")!r})
        parsing.read_file(Path({str(long_pdf)!r}), name="a.pdf", rendition=rendition, on_progress=die)
    """)
    assert eventually(lambda: not is_running(int(said)))
    assert eventually(lambda: list(tmp_path.iterdir()) == [])


def test_a_fork_of_the_user_has_a_server_of_its_own(tmp_path: Path, long_pdf: Path) -> None:
    said = run_script(f"""
        import os
        from pathlib import Path
        import psutil
        from rag import parsing

        def read():
            rendition = Path({str(tmp_path)!r}, f"{{os.getpid()}}.pdf")
            parsing.read_file(Path({str(long_pdf)!r}), name="a.pdf", rendition=rendition)
            print(*(process.pid for process in psutil.Process().children() if "server" in str(process.cmdline())))

        read()
        child = os.fork()
        if child:
            os.waitpid(child, 0)
        read()
    """)
    first, in_fork, after = said.split()
    assert first == after != in_fork
    assert not is_running(int(first))
    assert not is_running(int(in_fork))


def is_running(pid: int) -> bool:
    """A zombie does not; whoever adopted it may take its time to reap it."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
