"""What a document says, read without Pandoc."""

from typing import NamedTuple

from rag.parsing.office.charts import Chart
from rag.parsing.office.embedded import EmbeddedFile
from rag.parsing.office.metadata import Metadata
from rag.parsing.office.paragraphs import Paragraph


class Contents(NamedTuple):
    """The paragraphs of a document, a note for its owner, the files and charts in it, and its title and author.

    `prepared` is the document as Pandoc understands it, with places for `imports`: other documents and their names.
    """

    paragraphs: list[Paragraph]
    note: str | None = None
    files: tuple[EmbeddedFile, ...] = ()
    prepared: bytes = b""
    imports: tuple[tuple[str, bytes], ...] = ()
    charts: tuple[Chart, ...] = ()
    about: Metadata = Metadata()
