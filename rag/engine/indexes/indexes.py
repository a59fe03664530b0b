"""Indexes: their contents, models and problems."""

import builtins
import shlex
import uuid

from rag import errors, providers, types
from rag.engine.indexes.embedding_generations import EmbeddingGenerations
from rag.engine.library.documents import Documents
from rag.engine.workspace import Workspace
from rag.messages import N_

CROSS_ENCODER = "local:ms-marco-MiniLM-L-12-v2"
MAX_REPAIRED = 1000
"""Maximum number of documents queued at once; the next check finds the rest."""


class Indexes:
    """One user's indexes."""

    def __init__(self, workspace: Workspace, documents: Documents) -> None:
        self._workspace = workspace
        self._documents = documents

    def list(self) -> builtins.list[types.Index]:
        """Return all indexes by name."""
        return self._workspace.store.indexes.list()

    def ensure(self, name: str = types.DEFAULT_INDEX) -> types.Index:
        """Return the index by name or id; create it if there is none.

        Raises IndexError if `RAG_EMBED_MODEL` names another embedding model than the one of its documents.
        """
        return self._workspace.ensure_index(name)

    def follow_settings(self, name: str = types.DEFAULT_INDEX) -> types.Index:
        """Apply the current embedding model to an empty index; one with documents keeps its own."""
        try:
            return self._workspace.create_or_update_index(name)
        except errors.IndexError:
            return self._workspace.find_index(name)

    def models(self, name: str = types.DEFAULT_INDEX) -> dict[str, str]:
        """Return the models that embed, write answers and rerank, as `provider:model`."""
        llm = self._workspace.models.language_model()
        return {
            "embedding": self._workspace.ensure_index(name).space.name,
            "answers": llm.metadata.model_name if llm else providers.EXTRACTIVE,
            "reranking": CROSS_ENCODER,
        }

    def generations(self, name: str = types.DEFAULT_INDEX) -> EmbeddingGenerations:
        """Return the embedding generations of an index. Raises NotFoundError."""
        return EmbeddingGenerations(self._workspace, self._workspace.find_index(name))

    # --- statistics ---

    def stats(self, name: str = types.DEFAULT_INDEX) -> types.IndexStats:
        """Return the statistics of an index. Raises NotFoundError."""
        stats = self._workspace.store.indexes.stats(self._workspace.requested_index(name).id)
        return stats.model_copy(update={"advice": self._advice(stats)})

    def _advice(self, stats: types.IndexStats) -> str | None:
        """Suggest a multilingual model if most chunks are in languages that the index's model does not support."""
        space = stats.index.space
        supported = self._workspace.models.languages(space)
        foreign = sum(chunks for language, chunks in stats.languages.items() if language not in supported)
        if not supported or foreign * 2 <= sum(stats.languages.values()):
            return None
        name = providers.MULTILINGUAL_DOWNLOAD
        commands = (
            f"pagelight models download {name}",
            f"pagelight reembed --index {shlex.quote(stats.index.name)} --model folder:{name}",
        )
        return N_(
            "{model} does not speak the language of most of this text. A multilingual model, which runs on this "
            "machine, finds more: {command}"
        ).format(model=space.name, command=" && ".join(commands))

    def wordless(self, name: str = types.DEFAULT_INDEX) -> types.WordlessSummary:
        """Return the pages of ready documents without text, and the documents that have the most of them."""
        return self._workspace.store.indexes.wordless(self._workspace.requested_index(name).id)

    # --- problems of documents ---

    def findings(self, name: str = types.DEFAULT_INDEX) -> builtins.list[types.HealthFinding]:
        """Return the problems of an index, each with its first documents; documents being read are left out."""
        return self._workspace.store.indexes.findings(self._workspace.requested_index(name).id)

    def repair(self, kind: types.FindingKind, name: str = types.DEFAULT_INDEX) -> builtins.list[uuid.UUID]:
        """Queue the documents of a finding to be read again, and return their ids. They stay searchable as they are.

        Raises ValidationError if re-reading does not help; the owner has to act.
        """
        if kind not in types.REPAIRABLE:
            raise errors.ValidationError(N_("Reading again does not help these. Give each its password."))
        index = self._workspace.requested_index(name)
        findings = self._workspace.store.indexes.findings(index.id, kind=kind, most=MAX_REPAIRED)
        documents = [document for finding in findings for document in finding.documents]
        return [self._documents.retry(document.document_id).id for document in documents]
