"""The parts of an answer: what a model reads and writes, extracts, citations, and the verdict of each sentence."""

from typing import TYPE_CHECKING

from rag import lazy_imports
from rag.answering.conversation.followups import CONDENSED_MESSAGES, condense
from rag.answering.extraction.quoted_answer import MODEL as EXTRACTIVE_MODEL
from rag.answering.extraction.quoted_answer import compose
from rag.answering.generation.context import Context, ReadDocuments, Source, build_context, default_budget
from rag.answering.generation.model_answer import Stop, drop_sentences, drop_struck, drop_unproved, never_stop
from rag.answering.passages.statements import Label, Statement
from rag.answering.text.markup import CITATION_MARK
from rag.answering.verification.grounding import Locate
from rag.answering.verification.judges import JUDGE_TOKENS, EntailmentJudge, LanguageModelJudge, MeaningJudge

if TYPE_CHECKING:
    from rag.answering.generation.synthesizer import (
        GroundedAsyncStream,
        GroundedChatEngine,
        GroundedResponse,
        GroundedStream,
        GroundedSynthesizer,
        final_answer,
    )
else:
    __getattr__ = lazy_imports.names(
        __name__,
        {
            "generation.synthesizer": (
                "GroundedAsyncStream",
                "GroundedChatEngine",
                "GroundedResponse",
                "GroundedStream",
                "GroundedSynthesizer",
                "final_answer",
            )
        },
    )

__all__ = [
    "CITATION_MARK",
    "CONDENSED_MESSAGES",
    "EXTRACTIVE_MODEL",
    "JUDGE_TOKENS",
    "Context",
    "EntailmentJudge",
    "GroundedAsyncStream",
    "GroundedChatEngine",
    "GroundedResponse",
    "GroundedStream",
    "GroundedSynthesizer",
    "Label",
    "LanguageModelJudge",
    "Locate",
    "MeaningJudge",
    "ReadDocuments",
    "Source",
    "Statement",
    "Stop",
    "build_context",
    "compose",
    "condense",
    "default_budget",
    "drop_sentences",
    "drop_struck",
    "drop_unproved",
    "final_answer",
    "never_stop",
]
