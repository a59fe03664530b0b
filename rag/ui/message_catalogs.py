"""`make messages`: the template of the pages' messages, and the catalogue of each language with the new ones.

What is new has no translation yet, and what is no message any more goes: write the new ones into the catalogues.
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
MARKS = {"_": (0,), "N_": (0,), "dialog": (0,), "either": (1, 2), "plural": (1, 2)}
"""What marks a message, and which of its arguments are messages."""
LINE_CHARS = 120


def template() -> "Catalog":
    """Every message of the pages."""
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
    """What stands in a call of one of `MARKS`, word for word."""
    for call in ast.walk(source):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in MARKS:
            given = [call.args[place] for place in MARKS[call.func.id]]
            texts = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if all(texts) and len(texts) == len(given):
                yield texts[0] if len(texts) == 1 else tuple(texts)


def written(catalogue: "Catalog", *, with_header: bool) -> bytes:
    """A catalogue as its file has it: without places in the source, which change with every edit."""
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


def catalogue_path(language: str) -> Path:
    """Where the catalogue of a language is."""
    return LOCALES / language / "LC_MESSAGES" / "pagelight.po"


def main() -> None:
    """Renew all of them."""
    from babel.messages.pofile import read_po

    fresh = template()
    TEMPLATE.write_bytes(written(fresh, with_header=False))
    for language in LANGUAGES.keys() - {ENGLISH}:
        path = catalogue_path(language)
        catalogue = read_po(io.BytesIO(path.read_bytes()), locale=language)
        catalogue.update(fresh, no_fuzzy_matching=True, update_creation_date=False)
        path.write_bytes(written(catalogue, with_header=True))


if __name__ == "__main__":
    main()
