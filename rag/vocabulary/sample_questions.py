"""Questions that documents of a kind are often asked, a file of `questions` for each kind."""

import functools
import tomllib
from importlib import resources

from rag.types import MatrixTemplate


@functools.cache
def question_sets() -> tuple[MatrixTemplate, ...]:
    """Those of the package, in the order of their titles."""
    files = (resources.files("rag.vocabulary") / "questions").iterdir()
    found = [
        MatrixTemplate.model_validate(
            {"name": file.name.removesuffix(".toml"), **tomllib.loads(file.read_text(encoding="utf-8"))}
        )
        for file in files
        if file.name.endswith(".toml")
    ]
    return tuple(sorted(found, key=lambda one: one.title))
