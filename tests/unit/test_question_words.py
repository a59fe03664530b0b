"""How people ask in several languages: every file is whole, and says the same things."""

import pytest

from rag.ingestion.language_detection import LANGUAGES, detect
from rag.types import ENGLISH
from rag.vocabulary import any_of, question_templates
from rag.vocabulary.question_words import languages


@pytest.mark.parametrize("language", languages())
def test_what_is_offered_is_a_question_in_its_own_language(language: str) -> None:
    assert language in LANGUAGES.values()
    said = question_templates(language)
    offered = [said.figure.format(label="X"), said.figure_of.format(label="X", year=2021)]
    assert all(question.rstrip().endswith("?") and "X" in question for question in offered)
    assert "X" in said.about.format(topic="X")
    assert detect(" ".join([*offered, said.reason.format(topic="X")])) == language


def test_another_language_is_spoken_to_in_english() -> None:
    assert question_templates("finnish") == question_templates(ENGLISH)


def test_phrases_are_found_over_any_space_and_apostrophe_and_the_longest_first() -> None:
    assert any_of(["as", "as of"], ["l'an"]) == r"as\s+of|l['’]an|as"
