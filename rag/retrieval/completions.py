"""Short completions on the way of a search, each asked for once per user, model and prompt."""

import hashlib
import json

from llama_index.core.llms import LLM, ChatMessage, MessageRole

from rag import prompts, providers
from rag.store import Caches, CompletionKind


class Completions:
    """A language model whose answers to the prompts of retrieval are remembered for one user."""

    def __init__(self, llm: LLM, caches: Caches, user_id: str) -> None:
        self._llm = llm
        self._caches = caches
        self._user_id = user_id

    def complete(self, kind: CompletionKind, prompt: str) -> str:
        """The model's answer to `prompt`, or the one it gave before.

        Raises:
            errors.ProviderError: the model's vendor refuses or is down.
        """
        key = request_digest(self._llm.metadata.model_name, prompts.AUGMENTATION_PROMPT_VERSION, prompt)
        known = self._caches.completion(self._user_id, kind, key)
        if known is not None:
            return known
        completion = providers.complete(self._llm, [ChatMessage(role=MessageRole.USER, content=prompt)])
        self._caches.keep_completion(self._user_id, kind, key, completion)
        return completion


def request_digest(*parts: str) -> bytes:
    """A key for everything a completion depends on; no two different lists of parts have the same."""
    return hashlib.sha256(json.dumps(parts).encode()).digest()
