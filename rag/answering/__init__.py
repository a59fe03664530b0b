"""From what was found to an answer whose every claim is tied to the exact words of its source."""

from rag.answering.answer import (
    CONDENSED_MESSAGES,
    DEFAULT_GENERATION,
    DEFAULT_OPTIONS,
    EXTRACTIVE_MODEL,
    condense,
    stream,
)
from rag.answering.context import Context, Source, build_context
from rag.answering.grounding import Locate
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
    "Locate",
    "Source",
    "build_context",
    "condense",
    "stream",
    "whole",
]
