"""EPUB: what its chapters say."""

import posixpath
import urllib.parse
from collections.abc import Iterator
from typing import Any

from lxml import etree, html

from rag import errors
from rag.parsing.conversion import paragraphs
from rag.parsing.conversion.packages import Package, damaged, local
from rag.parsing.conversion.paragraphs import Paragraph

_CONTAINER = "META-INF/container.xml"
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "dd",
        "div",
        "dl",
        "dt",
        "figcaption",
        "figure",
        "footer",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
_UNSEEN = frozenset({"head", "script", "style", "template"})


def package_part(package: Package) -> str:
    """The name of the part that lists the others.

    Raises:
        errors.UnreadableFileError: there is none.
    """
    container = package.xml(_CONTAINER)
    for element in container.iter("{*}rootfile") if container is not None else ():
        if element.get("full-path") in package.names:
            return str(element.get("full-path"))
    raise errors.UnreadableFileError("The book is damaged: it does not say what it holds. Get another copy of it.")


def read(package: Package) -> Iterator[Paragraph]:
    """Every paragraph of every chapter, in the order in which they are read."""
    for name in _chapters(package):
        try:
            root = html.fromstring(package.read(name), parser=html.HTMLParser(encoding="utf-8", no_network=True))
        except etree.ParserError:
            continue  # it is empty
        except etree.LxmlError as error:
            raise damaged("book", error) from error
        yield from _paragraphs(root)


def _chapters(package: Package) -> Iterator[str]:
    main = package_part(package)
    root = package.xml(main)
    folder = posixpath.dirname(main)
    places = {item.get("id"): item.get("href", "") for item in root.iter("{*}item")}
    for reference in root.iter("{*}itemref"):
        place = urllib.parse.unquote(places.get(reference.get("idref"), "")).partition("#")[0]
        name = posixpath.normpath(posixpath.join(folder, place))
        if name in package.names:
            yield name


def _paragraphs(root: Any) -> Iterator[Paragraph]:
    """Runs of text between the edges of blocks."""
    run: list[str] = []
    heading = False
    for event, element in etree.iterwalk(root, events=("start", "end")):
        name = local(element)
        if any(local(above) in _UNSEEN for above in (element, *element.iterancestors())):
            if event == "end" and name in _UNSEEN:
                run.append(element.tail or "")
            continue
        if name in _BLOCKS or name == "br":
            if "".join(run).strip():
                yield Paragraph(paragraphs.BODY, "".join(run), heading)
            run = []
            heading = event == "start" and name in {"h1", "h2", "h3", "h4", "h5", "h6"}
        run.append((element.text if event == "start" and name else element.tail if event == "end" else "") or "")
    if "".join(run).strip():
        yield Paragraph(paragraphs.BODY, "".join(run))
