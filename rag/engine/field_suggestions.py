"""Suggest fields for documents like a sample: of the template that fits it, and of what it states."""

from collections.abc import Sequence

from rag import providers, types, vocabulary
from rag.answering.fields.suggested_fields import (
    REPLY_SCHEMA,
    labelled_fields,
    read_suggestions,
    suggestion_messages,
)
from rag.answering.generation.context import build_context, hit_tokens
from rag.answering.generation.model_answer import Writer
from rag.engine.questions.composite_answers import choose_key_facts
from rag.engine.questions.search import page_hits
from rag.engine.request_parsing import request_key_errors
from rag.engine.workspace import Workspace
from rag.ingestion.subjects import FRONT_PAGES

SAMPLE_TOKENS = 12_000
"""Tokens of the sample that a language model reads: of a long document the first pages and those of its key facts."""
OUTPUT_TOKENS = 4000
"""Room for twenty fields."""


def suggest_fields(
    workspace: Workspace, document: types.Document, generation: types.GenerationOptions
) -> types.FieldSuggestions:
    """Return the suggestions for a document that was read. Raises ProviderError."""
    chunks = workspace.store.chunks.of_document(document.id)
    pages = page_hits(document, chunks)
    facts = choose_key_facts(workspace.store, document, chunks)
    front = "\n".join(page.passage.text for page in pages if page.chunk.main_page <= FRONT_PAGES)
    template = vocabulary.fitting_template(
        document.subject.kind, f"{document.name.replace('_', ' ')}\n{document.title}\n{front}"
    )
    result = types.FieldSuggestions(document_id=document.id, template=template)
    llm = workspace.models.language_model(generation)
    if llm is not None and not providers.is_small(llm):
        wanted = {"max_output_tokens": OUTPUT_TOKENS, "temperature": 0.0}
        missing = {name: value for name, value in wanted.items() if name not in generation.model_fields_set}
        budget = workspace.models.with_context_budget(types.AnswerOptions(), llm).max_context_tokens or SAMPLE_TOKENS
        sample = _sample(pages, [fact.page_number for fact in facts], min(budget, SAMPLE_TOKENS))
        context = build_context(sample, budget_tokens=None)
        writer = Writer(
            llm,
            generation.model_copy(update=missing),
            workspace.store.caches,
            schema=REPLY_SCHEMA,
            is_usable=lambda text: read_suggestions(text, context.hits),
        )
        with request_key_errors(generation.auth):
            reply, ending = writer.write_whole(suggestion_messages(context.text, template))
        result = result.model_copy(update={"usage": ending.usage})
        if suggested := read_suggestions(reply, context.hits):
            return result.model_copy(update={"suggested": tuple(suggested), "model": llm.metadata.model_name})
    usual = [types.SuggestedField(field=field) for field in (template.fields if template else ())]
    names = {one.field.name.casefold() for one in usual}
    stated = [one for one in labelled_fields(pages, facts) if one.field.name.casefold() not in names]
    return result.model_copy(update={"suggested": (*usual, *stated)})


def _sample(pages: Sequence[types.Hit], telling: Sequence[int], budget: int) -> list[types.Hit]:
    """Return the pages that fit: half of the room is for the first ones, the rest for telling ones, then any."""
    chosen: dict[int, types.Hit] = {}

    def add(candidates: Sequence[types.Hit], room: int) -> int:
        for page in candidates:
            if page.chunk.main_page in chosen:
                continue
            tokens = hit_tokens(page)
            if tokens > room and chosen:
                break
            chosen[page.chunk.main_page] = page
            room -= tokens
        return room

    room = add(pages, budget // 2) + budget - budget // 2
    room = add([page for page in pages if page.chunk.main_page in telling], room)
    add(pages, room)
    return [chosen[number] for number in sorted(chosen)]
