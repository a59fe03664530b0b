"""Update the message template and the catalogues of all languages (`make messages`).

New messages are added without a translation, and messages that are no longer used are removed.
"""

import ast
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rag.ui.components import ASSETS, html_messages, script_messages
from rag.ui.language import ENGLISH, LANGUAGES

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

ROOT = Path(__file__).parents[2]
LOCALES = ROOT / "rag" / "locale"
TEMPLATE = LOCALES / "pagelight.pot"
MARKS = {"_": (0,), "N_": (0,), "dialog": (0,), "ngettext": (1, 2), "plural": (1, 2)}
"""Functions that mark messages, and which of their arguments are messages."""
LINE_CHARS = 120


def template() -> "Catalog":
    """Return a catalogue of all messages of the pages."""
    from babel.messages.catalog import Catalog

    found = Catalog(project="Pagelight", charset="utf-8", fuzzy=False)
    for message in _messages():
        found.add(message, ("", "") if isinstance(message, tuple) else "")
    return found


def _messages() -> Iterator[str | tuple[str, ...]]:
    for path in (*(ROOT / "rag" / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")):
        yield from _marked(ast.parse(path.read_text("utf-8")))
    for path in ASSETS.rglob("*.js"):
        yield from script_messages(path.read_text("utf-8"))
    for path in ASSETS.rglob("*.html"):
        yield from html_messages(path.read_text("utf-8"))


def _marked(source: ast.AST) -> Iterator[str | tuple[str, ...]]:
    """Yield the literal messages in calls of `MARKS`."""
    for call in ast.walk(source):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in MARKS:
            given = [call.args[place] for place in MARKS[call.func.id]]
            texts = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if all(texts) and len(texts) == len(given):
                yield texts[0] if len(texts) == 1 else tuple(texts)


def to_bytes(catalogue: "Catalog", *, with_header: bool) -> bytes:
    """Return a catalogue as PO text without source locations, which change with every edit."""
    from babel.messages.pofile import write_po

    file = io.BytesIO()
    write_po(
        file,
        catalogue,
        width=LINE_CHARS,
        no_location=True,
        omit_header=not with_header,
        sort_output=True,
        ignore_obsolete=True,
    )
    return file.getvalue()


def catalog_path(language: str) -> Path:
    """Return the path of a language's catalogue."""
    return LOCALES / language / "LC_MESSAGES" / "pagelight.po"


def main() -> None:
    """Update the template and all catalogues."""
    from babel.messages.pofile import read_po

    fresh = template()
    TEMPLATE.write_bytes(to_bytes(fresh, with_header=False))
    for language in LANGUAGES.keys() - {ENGLISH}:
        path = catalog_path(language)
        catalogue = read_po(io.BytesIO(path.read_bytes()), locale=language)
        catalogue.update(fresh, no_fuzzy_matching=True, update_creation_date=False)
        path.write_bytes(to_bytes(catalogue, with_header=True))


if __name__ == "__main__":
    main()
