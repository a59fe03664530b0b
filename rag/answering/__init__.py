"""From what was found to an answer whose every claim is tied to the exact words of its source."""

from typing import TYPE_CHECKING

from rag import lazy
from rag.answering.answer import (
    CONDENSED_MESSAGES,
    DEFAULT_GENERATION,
    DEFAULT_OPTIONS,
    Stop,
    condense,
    never,
    read_context,
    stream,
)
from rag.answering.context import Context, Source, build_context
from rag.answering.grounding import Locate
from rag.answering.markup import SHOWN_MARK
from rag.answering.proved import proved, without
from rag.answering.quoting import MODEL as EXTRACTIVE_MODEL
from rag.answering.quoting import Label, Statement, compose

if TYPE_CHECKING:
    from rag.answering.synthesizer import (
        GroundedChatEngine,
        GroundedResponse,
        GroundedStream,
        GroundedSynthesizer,
        whole,
    )
else:
    __getattr__ = lazy.names(
        __name__,
        {"synthesizer": ("GroundedChatEngine", "GroundedResponse", "GroundedStream", "GroundedSynthesizer", "whole")},
    )

__all__ = [
    "CONDENSED_MESSAGES",
    "DEFAULT_GENERATION",
    "DEFAULT_OPTIONS",
    "EXTRACTIVE_MODEL",
    "SHOWN_MARK",
    "Context",
    "GroundedChatEngine",
    "GroundedResponse",
    "GroundedStream",
    "GroundedSynthesizer",
    "Label",
    "Locate",
    "Source",
    "Statement",
    "Stop",
    "build_context",
    "compose",
    "condense",
    "never",
    "proved",
    "read_context",
    "stream",
    "whole",
    "without",
]
