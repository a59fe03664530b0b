"""The parts of an answer: what a model reads and writes, extracts, citations, and the verdict of each sentence.

Only the adapters to LlamaIndex are exported here, since their import takes long (see `rag.lazy_imports`).
"""

from typing import TYPE_CHECKING

from rag import lazy_imports

if TYPE_CHECKING:
    from rag.answering.generation.synthesizer import (
        GroundedAsyncStream,
        GroundedChatEngine,
        GroundedResponse,
        GroundedStream,
        GroundedSynthesizer,
    )
else:
    __getattr__ = lazy_imports.exports(__name__)
