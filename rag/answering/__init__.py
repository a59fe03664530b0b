"""From what was found to an answer whose every claim is tied to the exact words of its source."""

from rag.answering.answer import (
    CONDENSED_MESSAGES,
    DEFAULT_GENERATION,
    DEFAULT_OPTIONS,
    condense,
    read_context,
    stream,
)
from rag.answering.context import Context, Source, build_context
from rag.answering.grounding import Locate
from rag.answering.proved import proved
from rag.answering.quoting import MODEL as EXTRACTIVE_MODEL
from rag.answering.quoting import Label, Statement, compose
from rag.answering.synthesizer import (
    GroundedChatEngine,
    GroundedResponse,
    GroundedStream,
    GroundedSynthesizer,
    whole,
)

__all__ = [
    "CONDENSED_MESSAGES",
    "DEFAULT_GENERATION",
    "DEFAULT_OPTIONS",
    "EXTRACTIVE_MODEL",
    "Context",
    "GroundedChatEngine",
    "GroundedResponse",
    "GroundedStream",
    "GroundedSynthesizer",
    "Label",
    "Locate",
    "Source",
    "Statement",
    "build_context",
    "compose",
    "condense",
    "proved",
    "read_context",
    "stream",
    "whole",
]
