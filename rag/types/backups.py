"""What a backup of the whole installation says of itself: its manifest."""

import datetime as dt
import re
import uuid
from typing import Annotated, Literal

import pydantic

from rag.types.text import Model

BACKUP_FORMAT = 1
"""Of the archive's layout; an archive of a higher one is not for us."""

TABLE_MEMBER = re.compile(r"tables/([a-z_][a-z0-9_]{0,62})\.copy")
FILE_MEMBER = re.compile(r"files/[0-9a-f]{32}/([0-9a-f-]{36})/(original|rendition)")
"""The first part stands for the user. A tar's plain header takes names of up to 100 characters."""

Identifier = Annotated[str, pydantic.Field(pattern=r"^[a-z_][a-z0-9_]{0,62}$")]
Sha256 = Annotated[str, pydantic.Field(pattern=r"^[0-9a-f]{64}$")]


class BackupMember(Model):
    """A member of the archive: its name there, its size in bytes and its SHA-256 in hexadecimal digits."""

    member: str
    bytes: int = pydantic.Field(ge=0)
    sha256: Sha256


class BackupTable(BackupMember):
    """A table's rows, one a line, as PostgreSQL's `COPY … (FORMAT text)` writes these columns."""

    table: Identifier
    columns: tuple[Identifier, ...] = pydantic.Field(min_length=1)
    rows: int = pydantic.Field(ge=0)

    @pydantic.model_validator(mode="after")
    def _named_as_its_table(self) -> "BackupTable":
        found = TABLE_MEMBER.fullmatch(self.member)
        if found is None or found[1] != self.table:
            raise ValueError("a table's member must bear its name")
        return self


class BackupFile(BackupMember):
    """A document's file."""

    user_id: str = pydantic.Field(min_length=1)
    document_id: uuid.UUID
    kind: Literal["original", "rendition"]

    @pydantic.model_validator(mode="after")
    def _named_as_its_document(self) -> "BackupFile":
        found = FILE_MEMBER.fullmatch(self.member)
        if found is None or found.groups() != (str(self.document_id), self.kind):
            raise ValueError("a file's member must bear its document's id and its kind")
        return self


class MissingFile(Model):
    """A file that a document should have and that was not there: a document purged while the backup was made."""

    user_id: str
    document_id: uuid.UUID
    kind: Literal["original", "rendition"]


class BackupManifest(Model):
    """What is in an archive. `migrations` name the schema that the tables have, in their order.

    `left_out` names tables that are not in it, because what they hold can be made again.
    """

    format: int = pydantic.Field(default=BACKUP_FORMAT, ge=1, le=BACKUP_FORMAT)
    pagelight: str
    created_at: dt.datetime
    migrations: tuple[str, ...] = pydantic.Field(min_length=1)
    tables: tuple[BackupTable, ...]
    files: tuple[BackupFile, ...] = ()
    missing: tuple[MissingFile, ...] = ()
    left_out: tuple[str, ...] = ()

    @pydantic.model_validator(mode="after")
    def _each_member_once(self) -> "BackupManifest":
        names = [member.member for member in self.members]
        if len(set(names)) < len(names):
            raise ValueError("a member is named twice")
        return self

    @property
    def members(self) -> tuple[BackupMember, ...]:
        """All that must be in the archive beside the manifest."""
        return (*self.tables, *self.files)

    def rows(self, table: str) -> int:
        """How many rows of a table are in it."""
        return sum(entry.rows for entry in self.tables if entry.table == table)
