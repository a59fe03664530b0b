"""Read EPUB books: their chapters as HTML with its styles and pictures, and their text."""

import posixpath
import urllib.parse
from collections.abc import Iterator
from typing import Any

from lxml import etree

from rag import errors
from rag.parsing.encoding import decode
from rag.parsing.html import markup, text_files
from rag.parsing.office import paragraphs
from rag.parsing.office.package import Package, epub_part, local
from rag.parsing.office.paragraphs import Paragraph


def read(package: Package) -> Iterator[Paragraph]:
    """Yield every paragraph of every chapter in reading order."""
    for name in _chapters(package):
        for part in text_files.read_html(decode(package.read(name), is_html=True)):
            yield Paragraph(paragraphs.BODY, part.text, part.is_heading)


def html(package: Package) -> tuple[list[str], dict[str, bytes]]:
    """Return every chapter as HTML with the style sheets that it refers to, and the pictures by their names."""
    chapters = []
    pictures: dict[str, bytes] = {}
    for name in _chapters(package):
        root = _tree(package, name)
        for link in list(root.iter("link")):
            sheet = _target(name, link.get("href", ""))
            if "stylesheet" in link.get("rel", "").lower() and sheet in package.names:
                style = etree.Element("style")
                style.text = decode(package.read(sheet))
                link.getparent().replace(link, style)
        for picture in root.iter("img", "image"):
            places = (_target(name, value) for key, value in picture.items() if key.endswith(("src", "href")))
            place = next((place for place in places if place in package.names), None)
            if place:
                pictures[place] = package.read(place)
                picture.tag = "img"
                picture.set("src", place)
        chapters.append(etree.tostring(root, method="html", encoding="unicode"))
    return chapters, pictures


def _tree(package: Package, name: str) -> Any:
    """Return a chapter without namespaces, read as XML, in which any element may be empty, or else as HTML."""
    try:
        root = package.xml(name)
    except errors.UnreadableFileError:
        return markup.read(decode(package.read(name), is_html=True))
    for element in root.iter("*"):
        element.tag = local(element)
    return root


def _chapters(package: Package) -> Iterator[str]:
    main = epub_part(package)
    root = package.xml(main)
    # The table of contents repeats the headings, and Pandoc leaves it out.
    items = (item for item in root.iter("{*}item") if "nav" not in item.get("properties", "").split())
    places = {item.get("id"): item.get("href", "") for item in items}
    for reference in root.iter("{*}itemref"):
        name = _target(main, places.get(reference.get("idref"), ""))
        if name in package.names:
            yield name


def _target(part: str, reference: str) -> str:
    """Return the name of the part to which a reference in another one leads."""
    place = urllib.parse.unquote(reference.partition("#")[0])
    return posixpath.normpath(posixpath.join(posixpath.dirname(part), place))
