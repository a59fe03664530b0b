"""The embedded models, for real: the files come with an installed wheel."""

import asyncio
import math
import shutil
import sys
from concurrent import futures
from pathlib import Path

import numpy as np
import pytest

from rag import errors, packaged_models
from rag.config import Config
from rag.providers import embedded_models, onnx_models
from rag.types import Span

QUERY = "Who harvests the apples?"
TEXTS = ["The apples are harvested by hand in September.", "Revenue rose by four percent.", "Ein Satz auf Deutsch."]


@pytest.fixture(scope="module")
def embedding() -> embedded_models.LocalEmbedding:
    return embedded_models.LocalEmbedding()


@pytest.fixture(scope="module")
def cross_encoder() -> embedded_models.CrossEncoder:
    return embedded_models.CrossEncoder(Config())


@pytest.fixture(scope="module")
def reader() -> embedded_models.Reader:
    return embedded_models.Reader(Config())


@pytest.fixture
def model_dir(tmp_path: Path) -> Path:
    """A folder of one's own with the embedding model."""
    shutil.copytree(packaged_models.find_model(packaged_models.BGE_SMALL_EN), tmp_path / "bge_small_en")
    return tmp_path


def test_vectors_have_length_one_and_rank_the_right_text_first(embedding: embedded_models.LocalEmbedding) -> None:
    vectors = np.array(embedding.get_text_embedding_batch(TEXTS))
    query = np.array(embedding.get_query_embedding(QUERY))
    assert vectors.shape == (3, embedded_models.LOCAL_DIMENSIONS)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-6)
    assert np.linalg.norm(query) == pytest.approx(1.0, abs=1e-6)
    assert int(np.argmax(vectors @ query)) == 0


def test_a_vector_does_not_depend_on_its_neighbours(embedding: embedded_models.LocalEmbedding) -> None:
    alone = [embedding.get_text_embedding(text) for text in TEXTS]
    among_others = embedding.get_text_embedding_batch([*TEXTS, "word " * 900, *reversed(TEXTS), ""])
    assert among_others[:3] == alone
    assert among_others[4:7] == alone[::-1]


def test_threads_share_the_model(embedding: embedded_models.LocalEmbedding) -> None:
    expected = [embedding.get_text_embedding(text) for text in TEXTS]
    with futures.ThreadPoolExecutor(4) as threads:
        for result in threads.map(embedding.get_text_embedding_batch, [TEXTS] * 8):
            assert result == expected


def test_async_gives_the_same(embedding: embedded_models.LocalEmbedding) -> None:
    async def embed() -> tuple[list[float], list[float], list[list[float]]]:
        return (
            await embedding.aget_query_embedding(QUERY),
            await embedding.aget_text_embedding(TEXTS[0]),
            await embedding.aget_text_embedding_batch(TEXTS),
        )

    query, text, texts = asyncio.run(embed())
    assert query == embedding.get_query_embedding(QUERY)
    assert text == texts[0]
    assert texts == embedding.get_text_embedding_batch(TEXTS)


def test_a_query_is_embedded_with_its_instruction(embedding: embedded_models.LocalEmbedding) -> None:
    assert embedding.get_query_embedding(QUERY) == embedding.get_text_embedding(embedded_models.QUERY_PREFIX + QUERY)
    assert embedding.get_query_embedding(QUERY) != embedding.get_text_embedding(QUERY)


def test_text_past_the_512th_token_does_not_count(embedding: embedded_models.LocalEmbedding) -> None:
    text = "apple " * 510
    assert embedded_models.count_tokens(text) == 510
    assert embedding.get_text_embedding(text + "revenue") == embedding.get_text_embedding(text)
    assert embedding.get_text_embedding("apple " * 509 + "revenue") != embedding.get_text_embedding(text)


def test_tokens_are_counted_without_special_ones_and_without_a_limit() -> None:
    assert embedded_models.count_tokens("") == 0
    assert embedded_models.count_tokens("apples") == 1
    assert embedded_models.count_tokens("apple " * 2000) == 2000


def test_cross_encoder_scores_in_order_between_zero_and_one(cross_encoder: embedded_models.CrossEncoder) -> None:
    scores = cross_encoder.scores(QUERY, TEXTS)
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert scores[0] == max(scores)
    assert scores[0] > 0.9
    assert cross_encoder.scores(QUERY, TEXTS[::-1]) == scores[::-1]
    assert cross_encoder.scores(QUERY, []) == []


def test_cross_encoder_reads_query_and_text_as_the_tokenizer_pairs_them(
    cross_encoder: embedded_models.CrossEncoder,
) -> None:
    model = onnx_models.open_model(packaged_models.MS_MARCO_MINILM)
    pair = model.tokenizer.encode(QUERY, TEXTS[0])
    logit = float(model.run(pair.ids, pair.type_ids)[0])
    assert cross_encoder.scores(QUERY, TEXTS[:1]) == [pytest.approx(1 / (1 + math.exp(-logit)), abs=1e-9)]


def test_cross_encoder_cuts_the_text_and_keeps_the_query(cross_encoder: embedded_models.CrossEncoder) -> None:
    answer = TEXTS[0] + " "
    filler = "Nothing of interest is said here. " * 200
    early, late = cross_encoder.scores(QUERY, [answer + filler, filler + answer])
    assert early > late
    assert cross_encoder.scores(QUERY, [filler + answer]) == cross_encoder.scores(QUERY, [filler])
    assert 0.0 <= cross_encoder.scores("why " * 3000, [filler])[0] <= 1.0


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        (QUERY, "Miller & Sons harvest the apples.", "The apples are harvested by hand."),
        (
            "When are the apples harvested?",
            "The apples are harvested in September.",
            "The apples are harvested by hand.",
        ),
        ("Where are the apples stored?", "The apples are stored in Bern.", "The apples are stored with care."),
    ],
)
def test_the_reader_knows_what_is_asked_for(
    question: str, answer: str, other: str, reader: embedded_models.Reader
) -> None:
    given, like_it = reader.scores(question, [answer, other])
    assert like_it < 0.5 < given


def test_the_reader_weighs_the_best_span_of_the_text_against_no_answer(reader: embedded_models.Reader) -> None:
    text = "Since 1931 the apples are harvested by the three daughters of Miller & Sons."
    model = onnx_models.open_model(packaged_models.READER)
    pair = model.tokenizer.encode(QUERY, text)
    logits = model.run(pair.ids, pair.type_ids)
    words = [place for place, segment in enumerate(pair.type_ids) if segment == 1][:-1]
    best = max(logits[start, 0] + logits[end, 1] for start in words for end in words if start <= end)
    odds = float(best - logits[0].sum())
    assert reader.scores(QUERY, [text]) == [pytest.approx(1 / (1 + math.exp(-odds)), abs=1e-6)]


def test_the_reader_scores_in_order_between_zero_and_one(reader: embedded_models.Reader) -> None:
    scores = reader.scores(QUERY, TEXTS)
    assert reader.scores(QUERY, TEXTS[::-1]) == scores[::-1]
    assert reader.scores(QUERY, []) == []
    assert all(0.0 <= score <= 1.0 for score in reader.scores(QUERY, ["", "word " * 900]))
    assert all(0.0 <= score <= 1.0 for score in reader.scores("why " * 3000, TEXTS))


def test_the_reader_cuts_the_text_and_keeps_the_question(reader: embedded_models.Reader) -> None:
    answer, filler = "Miller & Sons harvest the apples. ", "Nothing of interest is said here. " * 200
    early, late = reader.scores(QUERY, [answer + filler, filler + answer])
    assert early > late


def test_models_are_taken_from_a_folder_if_one_is_set(
    model_dir: Path, embedding: embedded_models.LocalEmbedding
) -> None:
    own = embedded_models.LocalEmbedding(model_dir)
    assert own.get_text_embedding(TEXTS[0]) == embedding.get_text_embedding(TEXTS[0])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    cross_encoder = embedded_models.CrossEncoder(Config(rag_local_model_dir=tmp_path))
    with pytest.raises(errors.ConfigError, match=r"reranker_en/model\.onnx is missing.*RAG_LOCAL_MODEL_DIR"):
        cross_encoder.scores(QUERY, TEXTS)


def test_a_changed_file_is_refused_before_it_is_opened(model_dir: Path) -> None:
    path = model_dir / "bge_small_en" / "model.onnx"
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    with pytest.raises(errors.ConfigError, match="SHA-256"):
        embedded_models.LocalEmbedding(model_dir).get_text_embedding("x")


def test_the_packages_that_bring_the_files_are_not_imported(
    embedding: embedded_models.LocalEmbedding, reader: embedded_models.Reader
) -> None:
    embedding.get_text_embedding("x")
    reader.scores("x", ["y"])
    packages = {
        files.package
        for files in (packaged_models.BGE_SMALL_EN, packaged_models.MS_MARCO_MINILM, packaged_models.READER)
    }
    assert packages.isdisjoint(sys.modules)


def test_the_reader_tells_which_words_answer(reader: embedded_models.Reader) -> None:
    text = "The quay of Northmoor was widened in 1898 by Sven Aasen."
    spans = [Span(text.index(words), text.index(words) + len(words)) for words in ("1898", "Sven Aasen", "widened")]
    questions = ("When was the quay widened?", "Who widened the quay?")
    when, who = (reader.read(question, [(text, spans)])[0] for question in questions)
    assert [[*one.spans].index(max(one.spans)) for one in (when, who)] == [0, 1]
    assert max(when.spans) == pytest.approx(0.0)
    assert when.score == pytest.approx(reader.scores(questions[0], [text])[0])
    cut_off = reader.read("When was it?", [(f"{'sand ' * 600}1898", [Span(3000, 3004)])])[0]
    assert cut_off.spans[0] < -50, "beyond what the model reads"
