"""Questions with known answers, and the files of questions and runs.

A question file has one JSON object a line: `id`, `question`, `pdf` (the file's name), `gold_pages`, and optionally
`answer`, `evidence` (texts that hold the answer) and `answerable`.
"""

from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Annotated, Literal

import pydantic
from pydantic import alias_generators

from rag import errors, types


class Question(pydantic.BaseModel):
    """A question with its answer and gold pages; numbers become texts, and unknown fields are ignored."""

    model_config = pydantic.ConfigDict(
        frozen=True,
        extra="ignore",
        coerce_numbers_to_str=True,
        populate_by_name=True,
        alias_generator=alias_generators.to_camel,
    )

    id: Annotated[str, pydantic.Field(min_length=1)]
    question: types.QuestionText
    pdf: str
    gold_pages: tuple[Annotated[int, pydantic.Field(strict=True)], ...] = ()
    answer: str | None = None
    evidence: tuple[str, ...] = ()
    answerable: bool = pydantic.Field(default=True, strict=True)

    @property
    def file_name(self) -> str:
        """The name of the document with the answer."""
        return PurePath(self.pdf).name

    @property
    def is_scored(self) -> bool:
        """Whether retrieval can be scored."""
        return self.answerable and bool(self.gold_pages)


EvaluationScope = Literal["corpus", "document"]
"""Whether a question is asked of all documents, or only of its own."""

DEFAULTS: dict[Literal["retrieval", "answers"], types.RetrievalOptions] = {
    "retrieval": types.RetrievalOptions(top_k=20, min_score=0.0),
    "answers": types.RetrievalOptions(),
}
"""Default options: retrieval is scored at deeper ranks; answers use the usual defaults."""


def options_for(subject: Literal["retrieval", "answers"], given: types.RetrievalOptions) -> types.RetrievalOptions:
    """Fill the unset options of `given` with the defaults of the subject."""
    return DEFAULTS[subject].model_copy(update={name: getattr(given, name) for name in given.model_fields_set})


def load_questions(path: Path) -> list[Question]:
    """Read a question file.

    Raises:
        errors.SourceError: the file cannot be read, or is not UTF-8.
        errors.ValidationError: a line is not a question; the message names the line.
    """
    try:
        lines = path.read_bytes().decode("utf-8").splitlines()
    except OSError as error:
        raise errors.SourceError(f"Cannot read the questions in {path}: {error}. Check the path.") from error
    except UnicodeDecodeError as error:
        raise errors.SourceError(f"Cannot read the questions in {path}: {error}. Save the file as UTF-8.") from error
    questions = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            questions.append(Question.model_validate_json(line))
        except pydantic.ValidationError as error:
            problem = types.error_summary(error.errors(), whole="line")
            raise errors.ValidationError(f"{path}, line {number} is not a question. {problem}.") from error
    return questions


def write_rows(path: Path, rows: Iterable[pydantic.BaseModel]) -> None:
    """Write a run file, one JSON object a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{row.model_dump_json()}\n" for row in rows), "utf-8")
