"""What is wrong with a request is said in words at every door."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pydantic
import pytest

import rag.types
from rag import errors
from rag.api import create_app
from rag.cli.command import validated
from rag.config import load_config
from rag.engine import Installation
from rag.engine.request_parsing import parse
from rag.evaluation import load_questions
from rag.types import TEXT, ConversationEdit, RetrieveRequest
from rag.types.base import DEFAULT_PATTERN_MESSAGE, NAME, PATTERN_MESSAGES, error_summary, field_errors

WRONG = {"query": "\x00", "collection": "a/b"}


def patterns_of(schema: object) -> Iterator[str]:
    """All patterns of a JSON schema."""
    if isinstance(schema, dict):
        if isinstance(pattern := schema.get("pattern"), str):
            yield pattern
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from patterns_of(part)


def test_of_a_text_that_is_too_long_the_length_is_said_and_never_the_text() -> None:
    with pytest.raises(errors.ValidationError) as refused:
        parse(ConversationEdit, {"title": "secret " * 200})
    assert str(refused.value) == (
        "The request is malformed. title: Text has 1,399 characters, but at most 200 are possible."
    )
    assert "secret" not in str(refused.value.details)


def schemas() -> Iterator[dict[str, Any]]:
    """Those of what is sent to REST and to the engine."""
    yield create_app(Installation(load_config())).openapi()
    for name, found in vars(rag.types).items():
        if isinstance(found, type) and issubclass(found, pydantic.BaseModel) and name.endswith(("Request", "Options")):
            yield found.model_json_schema()


def test_every_pattern_has_its_words() -> None:
    assert {pattern for schema in schemas() for pattern in patterns_of(schema)} == PATTERN_MESSAGES.keys()


def test_the_engine_shows_no_regular_expression_and_no_value() -> None:
    with pytest.raises(errors.ValidationError) as caught:
        parse(RetrieveRequest, WRONG)
    assert caught.value.details["problems"] == [
        {"field": "query", "message": PATTERN_MESSAGES[TEXT]},
        {"field": "collection", "message": PATTERN_MESSAGES[NAME]},
    ]
    assert f"query: {PATTERN_MESSAGES[TEXT]}; collection: {PATTERN_MESSAGES[NAME]}." in caught.value.message


@pytest.mark.parametrize("name", ["MAX_FILE_MB", "MAX_PAGES", "MEMORY_LIMIT_MB"])
def test_a_wrong_setting_is_named_as_in_the_environment(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"RAG_PARSING__{name}", "0")
    with pytest.raises(errors.ConfigError, match=f"RAG_PARSING__{name}: Input should be greater than 0"):
        load_config()


def test_the_command_line_shows_no_regular_expression() -> None:
    with pytest.raises(errors.ValidationError, match="collection: Text should have no control character") as caught:
        validated(RetrieveRequest, **WRONG)
    assert "^" not in caught.value.message


def test_settings_and_question_files_are_told_in_the_same_words(tmp_path: Path) -> None:
    with pytest.raises(errors.ConfigError) as setting:
        load_config(rag_chunking={"chunk_size_chars": 100, "chunk_overlap_chars": 100})
    assert setting.value.details["problems"] == [
        "RAG_CHUNKING: chunk_overlap_chars must be smaller than chunk_size_chars"
    ]
    (questions := tmp_path / "questions.jsonl").write_text('{"id": 1, "question": " ", "pdf": "a.pdf"}')
    with pytest.raises(errors.ValidationError, match=f"line 1 is not a question. question: {PATTERN_MESSAGES[TEXT]}"):
        load_questions(questions)


def test_a_pattern_without_words_is_not_shown_either() -> None:
    item = {"type": "string_pattern_mismatch", "loc": (), "msg": "String should match '^a$'", "ctx": {"pattern": "^a$"}}
    assert field_errors([item]) == [{"field": "", "message": DEFAULT_PATTERN_MESSAGE}]
    assert error_summary([item]) == f"request: {DEFAULT_PATTERN_MESSAGE}"
