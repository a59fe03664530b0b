"""Folders in Google Drive through Google's own client, against a local server that speaks Drive's wire format."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag import errors, providers
from rag.config import Config, load_config
from rag.providers import DriveFolder
from rag.types import GOOGLE_APPS, SourceFile
from tests import drive_server, pdfs
from tests.drive_server import FOLDER, SHORTCUT, Drive

DOC, SLIDES = sorted(GOOGLE_APPS)


@pytest.fixture
def drive() -> Iterator[Drive]:
    with drive_server.drive_server() as served:
        served.add("doc", "Minutes", DOC, "root", pdfs.plain(["The harbour handled 4,812 ships."]))
        served.add("deck", "Outlook", SLIDES, "root", pdfs.pages(2))
        served.add("note", "note.txt", "text/plain", "root", b"The crane lifts 95 tonnes.")
        served.add("below", "Below", FOLDER, "root")
        served.add("deep", "deep.md", "application/octet-stream", "below", b"# Deep\nThe well is deep.")
        yield served


@pytest.fixture
def settings(drive: Drive, tmp_path: Path) -> dict[str, Any]:
    return {
        "google_application_credentials": drive_server.service_account(tmp_path, drive.url),
        "google_drive_base_url": f"{drive.url}/drive/v3/",
        "provider_max_retries": 1,
        "provider_timeout_seconds": 5.0,
    }


@pytest.fixture
def config(settings: dict[str, Any]) -> Config:
    return load_config(**settings)


def listed(config: Config, **options: Any) -> dict[str, SourceFile]:
    with DriveFolder("gdrive://root", config, **options) as folder:
        return {file.path: file for file in folder.list()}


def test_a_folder_is_listed_page_by_page_with_what_is_below(drive: Drive, config: Config) -> None:
    files = listed(config)
    assert set(files) == {"Below/deep.md", "Minutes", "Outlook", "note.txt"}
    assert files["Minutes"] == SourceFile("gdrive://root/doc", "Minutes", "Minutes", DOC)
    assert set(listed(config, include_subfolders=False)) == {"Minutes", "Outlook", "note.txt"}
    assert any("pageToken=" in path for path in drive.requests)
    assert drive.tokens == {f"Bearer {drive_server.ACCESS_TOKEN}"}


def test_shortcuts_stand_for_files_and_lead_into_no_folder(drive: Drive, config: Config) -> None:
    drive.add("s1", "alias", SHORTCUT, "below", shortcutDetails={"targetId": "note", "targetMimeType": "text/plain"})
    drive.add("s2", "loop", SHORTCUT, "below", shortcutDetails={"targetId": "root", "targetMimeType": FOLDER})
    drive.add("s3", "dead", SHORTCUT, "below")
    files = listed(config)
    assert files["Below/alias"].id == "gdrive://root/note"
    assert not {"Below/loop", "Below/dead"} & files.keys()


def test_docs_come_as_pdf_and_files_as_they_are(drive: Drive, config: Config) -> None:
    with DriveFolder("gdrive:root", config) as folder:
        files = {file.name: file for file in folder.list()}
        for name, file_id in (("Minutes", "doc"), ("Outlook", "deck"), ("note.txt", "note"), ("deep.md", "deep")):
            with folder.fetch(files[name]) as path:
                assert path.read_bytes() == drive.contents[file_id]


def test_a_passing_fault_is_repeated(drive: Drive, config: Config) -> None:
    drive.refusals.append((503, "Backend error."))
    assert len(listed(config)) == 4


def test_a_folder_that_is_not_shared(config: Config) -> None:
    with DriveFolder("gdrive://unknown", config) as folder, pytest.raises(errors.SourceError, match="shared"):
        folder.list()
    with DriveFolder("gdrive://note", config) as folder, pytest.raises(errors.SourceError, match="no folder"):
        folder.list()


def test_a_drive_that_refuses(drive: Drive, config: Config) -> None:
    drive.refusals.append((403, "The Drive API is not enabled."))
    with DriveFolder("gdrive://root", config) as folder, pytest.raises(errors.ProviderError) as caught:
        folder.list()
    assert "not enabled" in caught.value.message
    assert caught.value.details["status"] == 403


def test_a_file_that_may_not_be_exported_is_the_files_fault(drive: Drive, config: Config) -> None:
    with DriveFolder("gdrive://root", config) as folder:
        file = next(file for file in folder.list() if file.name == "Minutes")
        drive.refusals.append((403, "This file is too large to be exported."))
        with pytest.raises(errors.SourceError, match="Minutes: This file is too large"), folder.fetch(file):
            pass


def test_an_unreachable_drive_is_an_error(settings: dict[str, Any]) -> None:
    config = load_config(**{**settings, "google_drive_base_url": "http://127.0.0.1:1/drive/v3/"})
    with DriveFolder("gdrive://root", config) as folder, pytest.raises(errors.ProviderError, match="reached"):
        folder.list()


@pytest.mark.parametrize("url", ["gdrive:", "gdrive://", "gdrive://a/b", "gdrive:it's", "gdrive://a?q=1"])
def test_an_address_without_an_id(config: Config, url: str) -> None:
    assert providers.is_drive_url(url)
    with pytest.raises(errors.ValidationError, match="folderId"):
        DriveFolder(url, config)


def test_a_key_file_is_needed(tmp_path: Path) -> None:
    with pytest.raises(errors.ConfigError, match="GOOGLE_APPLICATION_CREDENTIALS"):
        DriveFolder("gdrive://root", load_config())
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    with pytest.raises(errors.ConfigError, match="no key file"):
        DriveFolder("gdrive://root", load_config(google_application_credentials=broken))
