"""Objects and lists in replies of language models, between other words and cut off."""

import pytest

from rag.answering.text.json_replies import is_cut_off, read_list, read_object

ITEMS = '[{"n": 1}, {"n": 2}]'


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        (f'{{"verdicts": {ITEMS}}}', [1, 2]),
        (f'Here it is:\n```json\n{{"verdicts": {ITEMS}}}\n```', [1, 2]),
        (f'As {{S1}} and [2] say: {{"verdicts": {ITEMS}}}', [1, 2]),
        (ITEMS, [1, 2]),
        ('{"verdicts": [{"n": 1}, {"n": 2}, {"n":', [1, 2]),
        ('[{"n": 1}, {"n"', [1]),
        ('{"others": [1]}', []),
        ("None of them.", []),
        ("{" * 100_000, []),
    ],
)
def test_a_list_is_read_by_its_name_or_alone(reply: str, items: list[int]) -> None:
    assert [item["n"] for item in read_list(reply, "verdicts")] == items


@pytest.mark.parametrize("reply", ['{"sql": "x"}', 'So: {"sql": "x"}.', '[{"sql": "x"}]', '{S1} says {"sql": "x"}'])
def test_an_object_is_read_between_other_words(reply: str) -> None:
    assert read_object(reply) == {"sql": "x"}


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"fields": [{"n": 1}', True),
        ('{"fields": []}', False),
        ('{"n": 1} more {', False),
        ("No.", False),
        ("{", False),
    ],
)
def test_what_ends_within_its_object_is_cut_off(reply: str, expected: bool) -> None:
    assert is_cut_off(reply) is expected
    assert expected is False or read_object(reply) == {}
