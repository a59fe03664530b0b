"""Questions with known answers, and evaluation requests.

A question file has one JSON object a line: `id`, `question`, `pdf` (the file's name), `gold_pages`, and optionally
`answer`, `evidence` (texts that hold the answer) and `answerable`.
"""

from pathlib import Path, PurePath
from typing import Annotated, Literal

import pydantic
from pydantic import alias_generators

from rag import errors, types
from rag.messages import N_


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _number_as_text(value: object) -> object:
    return str(value) if isinstance(value, float) else _as_text(value)


QuestionId = Annotated[
    str,
    pydantic.BeforeValidator(_as_text),
    pydantic.WithJsonSchema({"anyOf": [{"type": "string", "minLength": 1, "maxLength": 200}, {"type": "integer"}]}),
]
"""A text or a number."""

GoldAnswer = Annotated[
    str,
    pydantic.BeforeValidator(_number_as_text),
    pydantic.WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}]}),
]
"""A text or a number."""


class Question(pydantic.BaseModel):
    """A question with its answer and gold pages; unknown fields are ignored."""

    model_config = pydantic.ConfigDict(
        frozen=True,
        extra="ignore",
        populate_by_name=True,
        alias_generator=alias_generators.to_camel,
    )

    id: Annotated[QuestionId, pydantic.Field(min_length=1, max_length=200)]
    question: types.QuestionText
    pdf: str
    gold_pages: tuple[Annotated[int, pydantic.Field(strict=True)], ...] = ()
    answer: GoldAnswer | None = None
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


EvaluationSubject = Literal["retrieval", "answers"]
EvaluationScope = Literal["corpus", "document"]
"""Whether a question is asked of all documents, or only of its own."""

DEFAULTS: dict[EvaluationSubject, types.RetrievalOptions] = {
    "retrieval": types.RetrievalOptions(top_k=20, min_score=0.0),
    "answers": types.RetrievalOptions(),
}
"""Default options: retrieval is scored at deeper ranks; answers use the usual defaults."""


def options_for(subject: EvaluationSubject, given: types.RetrievalOptions) -> types.RetrievalOptions:
    """Fill the unset options of `given` with the defaults of the subject."""
    return DEFAULTS[subject].model_copy(update={name: getattr(given, name) for name in given.model_fields_set})


class EvaluationRequest(types.Input):
    """A request to evaluate retrieval or answers (`subject`) on `questions`.

    Questions are asked of all documents, or only of their own (`scope`). By default, retrieval finds `topK` 20 places
    of any score, and answers use the defaults of `/answer`. A job stores no keys, so `generation` must not have one.
    Runs with the same `name` form one history.
    """

    index_name: types.IndexName = types.DEFAULT_INDEX
    name: types.FilterName | None = None
    subject: EvaluationSubject = "retrieval"
    questions: tuple[Question, ...] = pydantic.Field(min_length=1, max_length=5000)
    scope: EvaluationScope = "corpus"
    retrieval: types.RetrievalOptions = pydantic.Field(default=types.RetrievalOptions(), validate_default=True)
    generation: types.GenerationOptions = types.GenerationOptions()

    @pydantic.field_validator("retrieval")
    @classmethod
    def _complete(cls, given: types.RetrievalOptions, info: pydantic.ValidationInfo) -> types.RetrievalOptions:
        return options_for(info.data.get("subject", "retrieval"), given)

    @pydantic.field_validator("generation")
    @classmethod
    def _without_key(cls, given: types.GenerationOptions) -> types.GenerationOptions:
        if given.auth.api_key:
            raise ValueError("an evaluation is done later, and no key is kept for it: give the server the key")
        return given

    @property
    def can_be_scored(self) -> bool:
        """Whether any question can be scored: it has gold pages or, for answers, is unanswerable."""
        unanswerable = self.subject == "answers" and not all(question.answerable for question in self.questions)
        return unanswerable or any(question.is_scored for question in self.questions)


def load_questions(path: Path) -> list[Question]:
    """Read a question file.

    Raises:
        errors.SourceError: the file cannot be read.
        errors.ValidationError: a line is not a question; the message names the line.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise errors.SourceError(
            N_("Cannot read the questions in {path}: {error}. Check the path."), path=path, error=error
        ) from error
    return parse_questions(content, str(path))


def parse_questions(content: bytes, name: str) -> list[Question]:
    """Parse the content of a question file; `name` is for error messages.

    Raises:
        errors.SourceError: the content is not UTF-8.
        errors.ValidationError: a line is not a question; the message names the line.
    """
    try:
        lines = content.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise errors.SourceError(
            N_("Cannot read the questions in {name}: {error}. Save the file as UTF-8."), name=name, error=error
        ) from error
    questions = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            questions.append(Question.model_validate_json(line))
        except pydantic.ValidationError as error:
            words = types.error_summary(error.errors(), whole="line")
            raise errors.ValidationError(
                N_("{name}, line {number} is not a question. {problem}."), name=name, number=number, problem=words
            ) from error
    return questions
