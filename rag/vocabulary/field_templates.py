"""Templates: lists of fields for kinds of documents (`rag/vocabulary/fields`), and which of them fits a document."""

import functools
import re
import tomllib
from typing import NamedTuple

from rag import types
from rag.vocabulary.vocabulary import packaged_files

MIN_MARKS = 3
"""Number of a template's marks that a document has which it fits."""


class _Packaged(NamedTuple):
    """A template, the kind of documents that it is for (`document_kinds`), and what marks those of a special sort.

    Marks are phrases in lower case of the first pages.
    """

    template: types.FieldTemplate
    kind: str | None
    marks: tuple[str, ...]


@functools.cache
def _packaged() -> tuple[_Packaged, ...]:
    templates = []
    for name, text in packaged_files("fields").items():
        values = tomllib.loads(text)
        kind, marks = values.pop("kind", None), tuple(values.pop("marks", ()))
        templates.append(_Packaged(types.FieldTemplate.model_validate({"name": name, **values}), kind, marks))
    return tuple(sorted(templates, key=lambda one: one.template.title))


def field_templates() -> tuple[types.FieldTemplate, ...]:
    """Return the packaged templates, by title."""
    return tuple(one.template for one in _packaged())


def fitting_template(kind: str | None, text: str) -> types.FieldTemplate | None:
    """Return the template for a document of a `kind` whose first pages have this `text`; None if none fits.

    One whose marks stand there, more than those of any other, comes before the one for all documents of the kind.
    """
    text = " ".join(text.lower().split())
    possible = [one for one in _packaged() if one.kind in (None, kind) or (kind is None and one.marks)]
    counts = [sum(re.search(rf"(?<!\w){re.escape(mark)}", text) is not None for mark in one.marks) for one in possible]
    most = max(counts, default=0)
    if most >= MIN_MARKS and counts.count(most) == 1:
        return possible[counts.index(most)].template
    return next((one.template for one in possible if one.kind is not None and not one.marks), None)
