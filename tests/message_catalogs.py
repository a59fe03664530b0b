"""Update the catalogues of all languages (`make messages`).

New messages are added without a translation, and messages that are no longer used are removed.
"""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from rag import errors, vocabulary
from rag.ui.components import html_messages
from rag.ui.language import ENGINE, ENGLISH, LANGUAGES

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

ROOT = Path(__file__).parents[1]
LOCALES = ROOT / "rag" / "locale"
KEYWORDS = {"_": None, "N_": None, "dialog": None, "ngettext": (2, 3), "plural": (2, 3)}
"""Functions that mark messages, and which of their arguments are messages; None is the first."""
LINE_CHARS = 120


def template() -> "Catalog":
    """Return a catalogue of all messages: those marked in the code, errors' default messages, titles of templates."""
    from babel.messages.catalog import Catalog
    from babel.messages.extract import extract_from_dir

    catalogue = Catalog(project="Pagelight", charset="utf-8", fuzzy=False)
    methods = [("**.py", "python"), ("**.js", "javascript"), ("**.html", "tests.message_catalogs:extract_html")]
    for folder in (ROOT / "rag", ROOT / "pages"):
        for path, _, message, _, _ in extract_from_dir(folder, methods, keywords=KEYWORDS):
            of_pages = folder.name == "pages" or Path(path).parts[0] == "ui"
            catalogue.add(message, auto_comments=[] if of_pages else [ENGINE])
    for packaged in vocabulary.field_templates():
        catalogue.add(packaged.title)
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, errors.Error):
            catalogue.add(errors.default_message(kind), auto_comments=[ENGINE])
    return catalogue


def extract_html(file: IO[bytes], *_: object, **_options: object) -> Iterator[tuple[int, None, str, list[str]]]:
    """Extract the messages of an HTML file, as Babel calls it."""
    for message in html_messages(file.read().decode("utf-8")):
        yield 0, None, message, []


def to_bytes(catalogue: "Catalog") -> bytes:
    """Return a catalogue as PO text without source locations, which change with every edit."""
    from babel.messages.pofile import write_po

    file = io.BytesIO()
    write_po(file, catalogue, width=LINE_CHARS, no_location=True, sort_output=True, ignore_obsolete=True)
    return file.getvalue()


def catalog_path(language: str) -> Path:
    """Return the path of a language's catalogue."""
    return LOCALES / language / "LC_MESSAGES" / "pagelight.po"


def main() -> None:
    """Update all catalogues."""
    from babel.messages.pofile import read_po

    fresh = template()
    for language in LANGUAGES.keys() - {ENGLISH}:
        path = catalog_path(language)
        catalogue = read_po(io.BytesIO(path.read_bytes()), locale=language)
        catalogue.update(fresh, no_fuzzy_matching=True, update_creation_date=False)
        path.write_bytes(to_bytes(catalogue))


if __name__ == "__main__":
    main()
