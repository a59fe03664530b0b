import string

import pytest

from rag import prompts


def placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (prompts.ANSWER_SYSTEM, {"not_found"}),
        (prompts.ANSWER_USER, {"context", "question"}),
        (prompts.ANSWER_PART_USER, {"number", "count", "not_found", "context", "question"}),
        (prompts.ANSWER_MERGE_SYSTEM, {"not_found"}),
        (prompts.ANSWER_MERGE_USER, {"notes", "question"}),
        (prompts.PART_NOTES, {"number", "count", "places", "text"}),
        (prompts.CONTEXT_ITEM, {"citation_id", "name", "pages", "line_start", "line_end", "text"}),
        (prompts.CONTEXT_PAGE, {"number"}),
        (prompts.CONDENSE_QUESTION, {"history", "question"}),
        (prompts.SUGGEST_FIELDS_USER, {"context", "usual", "count"}),
    ],
)
def test_each_prompt_has_the_placeholders_its_code_fills(template: str, expected: set[str]) -> None:
    assert placeholders(template) == expected


def test_the_refusal_is_one_sentence_without_marks() -> None:
    assert prompts.NOT_FOUND_SENTINEL.endswith(".")
    assert "[" not in prompts.NOT_FOUND_SENTINEL
    assert prompts.ANSWER_PROMPT_VERSION


@pytest.mark.parametrize("rule", ["only in part", "X, not Y", "once its head", "inside its last cell"])
def test_the_rules_of_an_answer_tell_more_than_to_answer_or_refuse(rule: str) -> None:
    assert rule in prompts.ANSWER_SYSTEM
