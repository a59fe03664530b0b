"""Read the text of EPUB books."""

import posixpath
import urllib.parse
from collections.abc import Iterator

from rag import errors
from rag.parsing.encoding import decode
from rag.parsing.html import source_text
from rag.parsing.office import paragraphs
from rag.parsing.office.package import Package
from rag.parsing.office.paragraphs import Paragraph

_CONTAINER = "META-INF/container.xml"


def package_part(package: Package) -> str:
    """Return the name of the part that lists the others.

    Raises:
        errors.UnreadableFileError: there is none.
    """
    container = package.xml(_CONTAINER)
    for element in container.iter("{*}rootfile") if container is not None else ():
        if element.get("full-path") in package.names:
            return str(element.get("full-path"))
    raise errors.UnreadableFileError("The book is damaged: its list of contents is missing. Get another copy of it.")


def read(package: Package) -> Iterator[Paragraph]:
    """Yield every paragraph of every chapter in reading order."""
    for name in _chapters(package):
        for part in source_text.read_html(decode(package.read(name), is_html=True)):
            yield Paragraph(paragraphs.BODY, part.text, part.is_heading)


def _chapters(package: Package) -> Iterator[str]:
    main = package_part(package)
    root = package.xml(main)
    folder = posixpath.dirname(main)
    # The table of contents repeats the headings, and Pandoc leaves it out.
    items = (item for item in root.iter("{*}item") if "nav" not in item.get("properties", "").split())
    places = {item.get("id"): item.get("href", "") for item in items}
    for reference in root.iter("{*}itemref"):
        place = urllib.parse.unquote(places.get(reference.get("idref"), "")).partition("#")[0]
        name = posixpath.normpath(posixpath.join(folder, place))
        if name in package.names:
            yield name
