"""Answers from given hits, for tests that need no documents and no database."""

import datetime as dt
import uuid
from collections.abc import Generator, Sequence
from typing import Any

from llama_index.core.llms import LLM

from rag.answering.generation.model_answer import Stop, never_stop
from rag.config import Config
from rag.engine.questions.answerer import Answerer, Tools
from rag.engine.workspace import Resources, Workspace
from rag.types import AnswerEvent, AnswerOptions, AnswerRequest, EmbeddingSpace, Hit, Index
from tests import sources

INDEX = Index(
    id=uuid.uuid4(),
    user_id="ada",
    name="default",
    space=EmbeddingSpace(provider="local", model="none", dimensions=1),
    created_at=dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
)


def answerer(
    question: str,
    *,
    llm: LLM | None,
    options: AnswerOptions | None = None,
    stop: Stop = never_stop,
    **tools: Any,
) -> Answerer:
    """Of a question; `tools` are its own, and quotes are located by their lines."""
    workspace = Workspace(Resources(Config()), "ada")  # opens nothing
    request = AnswerRequest(question=question, options=options or AnswerOptions())
    own = Tools(locate=sources.locate, **tools)
    return Answerer(workspace, INDEX, request, llm=llm, stop=stop, tools=own)


def stream(question: str, hits: Sequence[Hit], **parts: Any) -> Generator[AnswerEvent, None, None]:
    """The events of an answer from `hits`; `parts` are those of `answerer`."""
    return answerer(question, **parts).answer_from(question, hits)
