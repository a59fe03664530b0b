from collections.abc import Sequence

import pytest

from rag import providers
from rag.answering import extractive
from rag.config import Config
from rag.types import BlockKind
from tests import sources

REPORT = sources.hit(
    (BlockKind.HEADING, "Acme annual report"),
    "Acme was founded in 1931 in Basel by two sisters. It makes paper for archives.\nThe canteen serves soup.",
    (BlockKind.TABLE, "Segment\t2022\t2021\nPaper\t514\t496\nInk\t31\t28"),
    name="acme.pdf",
    score=0.9,
)
OTHER = sources.hit("The river is 40 km long. It flows north past the mill.", name="river.pdf", score=0.3)


@pytest.fixture(scope="module")
def reranker() -> providers.CrossEncoder:
    return providers.CrossEncoder(Config())


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("When was Acme founded?", "founded in 1931"),
        ("How long is the river?", "40 km long"),
        ("What did the paper segment earn in 2022?", "Paper – 2022: 514; 2021: 496"),
    ],
)
def test_the_best_sentence_comes_first(question: str, words: str, reranker: providers.CrossEncoder) -> None:
    best, *_ = extractive.extract(question, [OTHER, REPORT], reranker=reranker)
    assert words in best.text
    assert best.score >= extractive.MIN_SCORE


def test_a_question_that_nothing_answers_has_no_answer(reranker: providers.CrossEncoder) -> None:
    assert extractive.extract("Who won the chess tournament in Reykjavik?", [OTHER, REPORT], reranker=reranker) == []


def test_without_a_cross_encoder_words_decide() -> None:
    best, *_ = extractive.extract("How long is the river?", [REPORT, OTHER])
    assert "40 km long" in best.text
    for unanswered in ("Who won the chess tournament in Reykjavik?", "Which river won the chess tournament?"):
        assert extractive.extract(unanswered, [REPORT, OTHER]) == []
    assert extractive.extract("How long is the river?", []) == []


def test_without_a_cross_encoder_the_score_is_the_share_of_the_question_s_words() -> None:
    whole, half = extractive.rank("Glass mills?", [sources.hit("The mills make glass.\n\nThe glass is green.")])[:2]
    assert whole.score == pytest.approx(1.0)
    assert 0.0 < half.score < whole.score


def test_among_equals_the_sentence_of_the_better_hit_is_first() -> None:
    worse, better = (
        sources.hit(text, score=score) for text, score in (("A mill in Bern.", 0.3), ("A mill in Basel.", 0.9))
    )
    words = sources.hit("A mill of glass.", score=0.1)
    found = extractive.rank("Glass mill?", [worse, better, words])
    assert [extract.hit for extract in found] == [words, better, worse]


class Scripted:
    """Gives the scores it is told, and remembers what it was asked."""

    def __init__(self, scores: dict[str, float]) -> None:
        self.by_word = scores
        self.asked: list[str] = []

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        self.asked += texts
        return [max((score for word, score in self.by_word.items() if word in text), default=0.0) for text in texts]


def test_the_cross_encoder_reads_each_sentence_with_its_section_or_title() -> None:
    titled = sources.hit("The mill makes paper.", title="Basel")
    section = titled.chunk.model_copy(update={"section": "Mills"})
    hits = [sources.hit("The mill makes glass."), titled, titled.model_copy(update={"chunk": section})]
    for hit, asked in zip(
        hits, ["The mill makes glass.", "Basel. The mill makes paper.", "Mills. The mill makes paper."], strict=True
    ):
        reader = Scripted({})
        extractive.rank("What does the mill make?", [hit], reranker=reader)
        assert reader.asked == [asked]


def test_a_row_is_shown_with_the_names_of_its_columns() -> None:
    table = "Segment of sales\tThis year\tLast year\nFine paper\t \t514 tonnes\nInk\t31 tonnes\t28 tonnes"
    hit = sources.hit((BlockKind.TABLE, table))
    shown = {extract.text for extract in extractive.rank("How much fine paper?", [hit])}
    assert {"Fine paper – Last year: 514 tonnes", "Ink – This year: 31 tonnes; Last year: 28 tonnes"} < shown


def test_further_sentences_need_a_share_of_the_best_score() -> None:
    found = extractive.extract("Acme?", [REPORT], reranker=Scripted({"1931": 0.8, "archives": 0.5, "soup": 0.1}))
    assert [extract.score for extract in found] == [0.8, 0.5]


def test_at_most_so_many_sentences_are_read_and_shown() -> None:
    many = sources.hit("\n".join(f"Sentence number {number} is about Acme." for number in range(200)))
    reader = Scripted({"Sentence": 0.9})
    assert len(extractive.extract("Acme?", [many], reranker=reader)) == extractive.MAX_SENTENCES
    assert len(reader.asked) == extractive.CANDIDATES


def test_the_same_text_in_two_files_is_shown_once() -> None:
    copies = [sources.hit("Acme was founded in 1931.", name=name) for name in ("a.pdf", "b.pdf")]
    assert [found.hit for found in extractive.extract("Acme?", copies, reranker=Scripted({"Acme": 0.9}))] == copies[:1]


def test_a_row_is_shown_with_the_line_above_a_table_that_names_no_columns() -> None:
    hit = sources.hit("($ in millions) 2022 2021", (BlockKind.TABLE, "Net income\t$ 461\t$ 229\nCosts\t12\t10"))
    best, *_ = extractive.rank("What was net income?", [hit], reranker=Scripted({"Net": 0.9}))
    assert best.text == "($ in millions) 2022 2021: Net income · $ 461 · $ 229"


def test_headings_and_labels_are_no_answers() -> None:
    hit = sources.hit((BlockKind.HEADING, "When was Acme founded? An overview"), "Page 3")
    assert extractive.rank("When was Acme founded?", [hit], reranker=Scripted({"": 0.9})) == []
