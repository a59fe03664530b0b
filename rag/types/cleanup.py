"""What was removed for good, and what was left behind by what did not come to its end."""

import uuid

import pydantic

from rag.types.text import Model


class PurgeReceipt(Model):
    """What there was of documents that were removed for good, and is gone: counted before, and again afterwards.

    `rows` are those of all tables, documents and chunks among them; chunks and vectors are those of all embedding
    models that the index has. `unfinished` documents have files that could not be deleted yet: a worker goes on with
    them.
    """

    document_ids: tuple[uuid.UUID, ...] = ()
    rows: int = 0
    chunks: int = 0
    vectors: int = 0
    files: int = 0
    bytes: int = 0
    unfinished: int = 0


class SweepReport(Model):
    """What was left behind and belongs to nobody; `mended`: it is gone now.

    Documents whose files were to be deleted because they were purged or never came (`deletions`), that no row knows
    (`unowned`), or that this database most probably does not know because they are another one's (`doubtful`: left as
    they are); half written files (`drafts`), `empty_folders`, `copies` of remote files of documents that are gone,
    `temporary` folders, parts of `backups`; and files and folders of ours that others may read (`open_to_others`).
    `bytes` are those of all that is to go.
    """

    mended: bool = False
    deletions: int = 0
    unowned: int = 0
    doubtful: int = 0
    drafts: int = 0
    empty_folders: int = 0
    copies: int = 0
    temporary: int = 0
    backups: int = 0
    open_to_others: int = 0
    bytes: int = pydantic.Field(default=0, ge=0)

    @property
    def found(self) -> int:
        """How many things there are to be mended."""
        counts = self.model_dump(exclude={"mended", "doubtful", "bytes"})
        return sum(counts.values())
