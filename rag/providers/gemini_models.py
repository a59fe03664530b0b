"""Gemini's language and embedding models, through Google's client.

Needs the extra `gemini`, so it is imported only when Gemini is used.
"""

from collections.abc import Sequence
from typing import Any

import llama_index.core
from google import genai
from google.genai import types as gemini
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ChatResponseGen, LLMMetadata, MessageRole

from rag.providers.batch_embedding import FunctionEmbedding
from rag.providers.provider_catalogue import EmbeddingModel

COMPLETE = {"STOP", "MAX_TOKENS"}
"""Ends of answers that can be shown; others say why the model was stopped."""


class GeminiChat:
    """A language model; `config` has its parameters."""

    def __init__(
        self, client: genai.Client, model: str, context_window: int, config: gemini.GenerateContentConfig
    ) -> None:
        self._client = client
        self._config = config
        self.metadata = LLMMetadata(
            context_window=context_window,
            num_output=config.max_output_tokens or 0,
            is_chat_model=True,
            model_name=model,
        )

    def chat(self, messages: Sequence[ChatMessage], **options: Any) -> ChatResponse:
        """Return one answer; `options` are more fields of Google's configuration."""
        return self._response(self._client.models.generate_content(**self._request(messages, options)), "")

    def stream_chat(self, messages: Sequence[ChatMessage], **options: Any) -> ChatResponseGen:
        """Stream an answer."""
        answer = ""
        for piece in self._client.models.generate_content_stream(**self._request(messages, options)):
            response = self._response(piece, answer)
            answer = response.message.content or ""
            yield response

    def _request(self, messages: Sequence[ChatMessage], options: dict[str, Any]) -> dict[str, Any]:
        instructions = [message.content for message in messages if message.role is MessageRole.SYSTEM]
        contents = [
            gemini.Content(
                role="model" if message.role is MessageRole.ASSISTANT else "user",
                parts=[gemini.Part(text=message.content)],
            )
            for message in messages
            if message.role is not MessageRole.SYSTEM
        ]
        changes = {**options, "system_instruction": instructions or None}
        return {
            "model": self.metadata.model_name,
            "contents": contents,
            "config": self._config.model_copy(update=changes),
        }

    @staticmethod
    def _response(piece: gemini.GenerateContentResponse, before: str) -> ChatResponse:
        candidate = piece.candidates[0] if piece.candidates else gemini.Candidate()
        reason = candidate.finish_reason.value if candidate.finish_reason else None
        if reason and reason not in COMPLETE:
            raise ValueError(f"The model was stopped: {reason}.")
        parts = candidate.content.parts if candidate.content else None
        delta = "".join(part.text or "" for part in parts or () if not part.thought)
        counts = piece.usage_metadata
        return ChatResponse(
            message=ChatMessage(role=MessageRole.ASSISTANT, content=before + delta),
            delta=delta,
            raw={"finish_reason": reason},
            additional_kwargs={
                "prompt_tokens": counts.prompt_token_count or 0,
                "completion_tokens": (counts.candidates_token_count or 0) + (counts.thoughts_token_count or 0),
            }
            if counts
            else {},
        )


def open_embedding(client: genai.Client, model: EmbeddingModel) -> FunctionEmbedding:
    """Open an embedding model that is told whether a text is a query or a document."""

    def embed(texts: list[str], task: str = "RETRIEVAL_DOCUMENT") -> list[list[float]]:
        config = gemini.EmbedContentConfig(
            task_type=task, output_dimensionality=model.dimensions if model.reducible else None
        )
        # a content of its own for each text: plain strings would be joined into one
        contents = [gemini.Content(parts=[gemini.Part(text=text)]) for text in texts]
        result = client.models.embed_content(model=model.name, contents=contents, config=config)
        return [embedding.values or [] for embedding in result.embeddings or ()]

    return FunctionEmbedding(embed, lambda texts: embed(texts, "RETRIEVAL_QUERY"), embed_batch_size=model.max_batch)
