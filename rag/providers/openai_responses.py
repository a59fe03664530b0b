"""A client of OpenAI's Responses protocol for vendors that refuse unknown request fields.

Needs the extra `openai`, so it is imported only when such a vendor is used.
"""

from collections.abc import Sequence
from typing import Any

import llama_index.core
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ChatResponseGen, MessageRole
from llama_index.llms.openai import OpenAIResponses
from pydantic import PrivateAttr

from rag import errors
from rag.messages import N_
from rag.providers.vendor_errors import redact

END_EVENTS = {"response.completed", "response.incomplete"}
"""Events that end an answer; "incomplete" means that it reached the output limit."""

FAILURE_EVENTS = {"response.failed", "response.cancelled", "error"}


class ResponsesLLM(OpenAIResponses):
    """OpenAI's Responses without optional fields; failed runs, which have status 200, raise errors."""

    _label: str = PrivateAttr()
    _secrets: Sequence[str] = PrivateAttr()

    def __init__(self, *, label: str, secrets: Sequence[str], **settings: Any) -> None:
        """Take `label` and `secrets` for error messages, and the settings of `OpenAIResponses`."""
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
        """Collect the stream, whose last event tells the outcome."""
        pieces = list(self._stream_chat(messages, **kwargs))
        if not pieces or _event_type(pieces[-1]) not in END_EVENTS:
            raise errors.ProviderError(
                N_("{label} stopped before its answer was complete. Ask again."), label=self._label
            )
        text = "".join(piece.delta or "" for piece in pieces)
        message = ChatMessage(role=MessageRole.ASSISTANT, content=text)
        return pieces[-1].model_copy(update={"message": message, "delta": None})

    def _stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        for piece in super()._stream_chat(messages, **kwargs):
            if _event_type(piece) in FAILURE_EVENTS:
                raise self._error(piece.raw)
            yield piece

    def _error(self, event: Any) -> errors.ProviderError:
        error = getattr(getattr(event, "response", event), "error", None) or event
        message = str(getattr(error, "message", None) or event.type).rstrip(".")
        return errors.ProviderError(
            N_("{label} gave up: {words}. Ask again, or choose another model."),
            label=self._label,
            words=redact(message, self._secrets),
            details={"provider": self._label},
        )


def _event_type(piece: ChatResponse) -> str:
    return str(getattr(piece.raw, "type", ""))
