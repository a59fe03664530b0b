"""Read folders in Google Drive.

A service account reads them: `GOOGLE_APPLICATION_CREDENTIALS` names its key file, and the folder is shared with it.
Docs and Slides have no file and are exported as PDF (Slides: a page for each slide).
"""

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from rag import errors, types
from rag.config import Config
from rag.messages import N_

SCOPES = ["https://www.googleapis.com/auth/drive.readonly"]
LABEL = "Google Drive"
FOLDER = "application/vnd.google-apps.folder"
SHORTCUT = "application/vnd.google-apps.shortcut"
PDF = "application/pdf"
FIELDS = "nextPageToken, files(id, name, mimeType, shortcutDetails(targetId, targetMimeType))"
PAGE_SIZE = 1000
"""The maximum of `files.list`."""

ADDRESS = re.compile(r"gdrive:(?://)?([\w-]+)/?")

Item = dict[str, Any]


def is_drive_url(folder_id: str) -> bool:
    """Whether a source's folder is in Google Drive."""
    return folder_id.startswith("gdrive:")


class DriveFolder:
    """A folder in Google Drive; the ids of its files, also in subfolders, are `gdrive://FOLDER/FILE`."""

    def __init__(self, url: str, config: Config, *, include_subfolders: bool = True) -> None:
        """Open the client; no request is made.

        Raises:
            errors.ValidationError: `url` is not `gdrive://` and a folder's id.
            errors.ConfigError: the client, or the service account's key file, is missing.
        """
        match = ADDRESS.fullmatch(url)
        if match is None:
            raise errors.ValidationError(
                "source.folderId must be gdrive:// and a folder's id: the last part of its address in the browser.",
                details={"field": "source.folderId"},
            )
        self._folder_id = match[1]
        self._include_subfolders = include_subfolders
        self._retries = config.provider_max_retries
        self._service = _service(config)
        self.prefix = f"gdrive://{self._folder_id}/"
        """The prefix of all its files' ids."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._service.close()

    def owns(self, file_id: str) -> bool:
        """Whether a file's id has this folder's prefix."""
        return file_id.startswith(self.prefix)

    def list(self) -> list[types.SourceFile]:
        """List its files by path, following shortcuts to files but not to folders.

        Raises:
            errors.SourceError: there is no such folder, or it is not shared with the service account.
            errors.ProviderError: Drive refuses or is down.
        """
        with _drive_errors():
            kind = self._run(
                self._service.files().get(fileId=self._folder_id, fields="mimeType", supportsAllDrives=True)
            )
            if kind["mimeType"] != FOLDER:
                raise errors.SourceError(f"{self.prefix} is no folder. Give the id of a folder.")
            return sorted(self._below(self._folder_id, "", {self._folder_id}))

    def _below(self, folder_id: str, path: str, seen: set[str]) -> Iterator[types.SourceFile]:
        for item in self._children(folder_id):
            inner = f"{path}{item['name']}"
            if item["mimeType"] == SHORTCUT:
                target = item.get("shortcutDetails", {})
                if target.get("targetMimeType") != FOLDER and "targetId" in target:
                    yield self._file({**item, "id": target["targetId"], "mimeType": target["targetMimeType"]}, inner)
            elif item["mimeType"] != FOLDER:
                yield self._file(item, inner)
            elif self._include_subfolders and item["id"] not in seen:
                seen.add(item["id"])
                yield from self._below(item["id"], f"{inner}/", seen)

    def _file(self, item: Item, path: str) -> types.SourceFile:
        return types.SourceFile(id=self.prefix + item["id"], path=path, name=item["name"], mime_type=item["mimeType"])

    def _children(self, folder_id: str) -> Iterator[Item]:
        files = self._service.files()
        request = files.list(
            q=f"'{folder_id}' in parents and trashed = false",
            fields=FIELDS,
            pageSize=PAGE_SIZE,
            supportsAllDrives=True,
            includeItemsFromAllDrives=True,
        )
        while request is not None:
            page = self._run(request)
            yield from page.get("files", ())
            request = files.list_next(request, page)

    @contextmanager
    def fetch(self, file: types.SourceFile) -> Iterator[Path]:
        """Download a file, kept while the block runs.

        Raises:
            errors.SourceError: the file is gone, may not be read, or is too large to export (10 MB).
            errors.ProviderError: Drive refuses or is down.
        """
        with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
            path = Path(folder) / "file"
            with _drive_errors(file.name), path.open("wb") as target:
                self._download(file, target)
            yield path

    def _download(self, file: types.SourceFile, target: Any) -> None:
        from googleapiclient.http import MediaIoBaseDownload

        files, file_id = self._service.files(), file.id.removeprefix(self.prefix)
        if file.mime_type in types.GOOGLE_APPS:
            request = files.export_media(fileId=file_id, mimeType=PDF)
        else:
            request = files.get_media(fileId=file_id, supportsAllDrives=True)
        download, done = MediaIoBaseDownload(target, request), False
        while not done:
            _, done = download.next_chunk(num_retries=self._retries)

    def _run(self, request: Any) -> Item:
        response: Item = request.execute(num_retries=self._retries)
        return response


def _service(config: Config) -> Any:
    """Open Drive v3 as the service account, without a request for the API's description."""
    try:
        import google_auth_httplib2
        import httplib2
        from google.oauth2 import service_account
        from googleapiclient import discovery
    except ModuleNotFoundError as error:
        raise errors.ConfigError(
            f'{LABEL} needs a package that is not installed ({error.name}). Install it: pip install "pagelight[drive]"'
        ) from error
    path = config.google_application_credentials
    if path is None:
        raise errors.ConfigError(
            f"{LABEL} needs GOOGLE_APPLICATION_CREDENTIALS: the key file of a service account that the folder is "
            "shared with. Set it in the environment or in .env."
        )
    try:
        credentials = service_account.Credentials.from_service_account_file(str(path), scopes=SCOPES)  # type: ignore[no-untyped-call]  # google-auth's own
    except (OSError, ValueError) as error:
        raise errors.ConfigError(
            N_("GOOGLE_APPLICATION_CREDENTIALS: {path} is no key file that can be read."), path=path
        ) from error
    http = google_auth_httplib2.AuthorizedHttp(credentials, http=httplib2.Http(timeout=config.provider_timeout_seconds))
    options = {"api_endpoint": config.google_drive_base_url} if config.google_drive_base_url else None
    return discovery.build("drive", "v3", http=http, client_options=options, static_discovery=True)


@contextmanager
def _drive_errors(name: str | None = None) -> Iterator[None]:
    """Map the client's errors to ours, about the file `name` or, without one, about the folder."""
    import httplib2
    from google.auth import exceptions
    from googleapiclient.errors import HttpError

    try:
        yield
    except HttpError as error:
        status = int(error.status_code)
        details = {"provider": LABEL, "status": status}
        message = " ".join(str(error.reason).split()).rstrip(".")
        if status in {403, 404} and (name is not None or status == 404):
            advice = "Check the id, and that it is shared with the service account"
            raise errors.SourceError(f"{name or 'The folder'}: {message}. {advice}.", details=details) from None
        raise errors.ProviderError(
            f"{LABEL} refused the request ({status}): {message}. Check GOOGLE_APPLICATION_CREDENTIALS and that the "
            "Drive API is enabled, or try again later.",
            details=details,
        ) from None
    except (exceptions.GoogleAuthError, httplib2.HttpLib2Error, OSError) as error:
        raise errors.ProviderError(
            f"{LABEL} cannot be reached ({type(error).__name__}). Check the connection and "
            "GOOGLE_APPLICATION_CREDENTIALS, then try again.",
            details={"provider": LABEL},
        ) from None
