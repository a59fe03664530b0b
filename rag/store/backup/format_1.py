"""Archives of the first format, which had a member for each table. They are still restored, for one release.

This module, its use in `archive` and `restore`, and `types.BackupManifest.database` being optional go with the next
one.
"""

import re
from typing import Annotated

import pydantic

from rag import types
from rag.types.operations import Identifier

FORMAT = 1
TABLE_MEMBER = re.compile(r"tables/[a-z_][a-z0-9_]{0,62}\.copy")


class Table(types.BackupMember):
    """The rows of a table in the text format of PostgreSQL's `COPY`; tables stand behind those that they reference."""

    table: Identifier
    columns: Annotated[tuple[Identifier, ...], pydantic.Field(min_length=1)]
    rows: int = pydantic.Field(ge=0)

    @pydantic.model_validator(mode="after")
    def _named_as_its_table(self) -> "Table":
        if self.member != f"tables/{self.table}.copy":
            raise ValueError("a table's member must bear its name")
        return self


class Manifest(types.BackupManifest):
    """The manifest of the first format."""

    rows: dict[str, int] = pydantic.Field(default_factory=dict, exclude=True)
    tables: tuple[Table, ...]


def parse(content: bytes) -> tuple[types.BackupManifest, tuple[Table, ...]]:
    """Return the manifest as of today's format, and its tables. Raises ValueError."""
    manifest = Manifest.model_validate_json(content)
    fields = manifest.model_dump(exclude={"tables"}, by_alias=False)
    rows = {table.table: table.rows for table in manifest.tables}
    if len(rows) < len(manifest.tables):
        raise ValueError("a table is named twice")
    return types.BackupManifest(**{**fields, "rows": rows}), manifest.tables
