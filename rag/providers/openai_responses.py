"""OpenAI's Responses protocol, as vendors speak it who refuse a request with any field they do not know.

Imported only when such a vendor is used: it needs the extra `openai`.
"""

from collections.abc import Sequence
from typing import Any

import llama_index.core
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ChatResponseGen, MessageRole
from llama_index.llms.openai import OpenAIResponses
from pydantic import PrivateAttr

from rag import errors
from rag.providers.vendor_errors import redact

ENDS = {"response.completed", "response.incomplete"}
"""Events that end an answer; the second comes where it reached the limit of the output."""

FAILURES = {"response.failed", "response.cancelled", "error"}


class ResponsesLLM(OpenAIResponses):
    """Sends what was asked for and no field besides; a run that failed, which comes with status 200, is an error."""

    _label: str = PrivateAttr()
    _secrets: Sequence[str] = PrivateAttr()

    def __init__(self, *, label: str, secrets: Sequence[str], **settings: Any) -> None:
        """`label` and `secrets` are for messages; `settings` are those of `OpenAIResponses`."""
        super().__init__(**settings)
        self._label = label
        self._secrets = secrets

    def _get_model_kwargs(self, **kwargs: Any) -> dict[str, Any]:
        return {
            "model": self.model,
            "temperature": self.temperature,
            "max_output_tokens": self.max_output_tokens,
            "store": False,
            **self.additional_kwargs,
            **kwargs,
        }

    def _chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """By the stream, whose last event tells how it went."""
        pieces = list(self._stream_chat(messages, **kwargs))
        if not pieces or _type(pieces[-1]) not in ENDS:
            raise errors.ProviderError(f"{self._label} stopped before its answer was complete. Ask again.")
        text = "".join(piece.delta or "" for piece in pieces)
        message = ChatMessage(role=MessageRole.ASSISTANT, content=text)
        return pieces[-1].model_copy(update={"message": message, "delta": None})

    def _stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        for piece in super()._stream_chat(messages, **kwargs):
            if _type(piece) in FAILURES:
                raise self._failure(piece.raw)
            yield piece

    def _failure(self, event: Any) -> errors.ProviderError:
        error = getattr(getattr(event, "response", event), "error", None) or event
        words = str(getattr(error, "message", None) or event.type).rstrip(".")
        return errors.ProviderError(
            f"{self._label} gave up: {redact(words, self._secrets)}. Ask again, or choose another model.",
            details={"provider": self._label},
        )


def _type(piece: ChatResponse) -> str:
    return str(getattr(piece.raw, "type", ""))
