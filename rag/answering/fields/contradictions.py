"""Which values of a matrix contradict others: of other documents, or of their document before it changed."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from rag import types
from rag.answering.fields.agreement import Reading, agree, outliers, read_value
from rag.answering.text.question_parts import asks_whether
from rag.messages import N_

Contradictions = dict[tuple[uuid.UUID, uuid.UUID], str]
"""A message for each cell, by its lineage and field."""

DIFFERS: Mapping[bool | None, str] = MappingProxyType(
    {
        True: N_("Says yes, others say otherwise"),
        False: N_("Says no, others say otherwise"),
        None: N_("Differs from the others"),
    }
)


def is_compared(field: types.FieldDefinition) -> bool:
    """Return whether values of different documents can contradict each other."""
    return field.should_agree or field.type == "yes_no" or (field.type == "text" and asks_whether(field.question))


def contradictions(fields: Iterable[types.FieldDefinition], cells: Iterable[types.ShownCell]) -> Contradictions:
    """Return the cells that contradict others, each with a message; a change of its document is told first."""
    by_id = {field.id: field for field in fields}
    present = [one for one in cells if one.cell.field_id in by_id]
    return {**_of_columns(by_id, present), **_of_changes(by_id, present)}


def _of_columns(
    fields: Mapping[uuid.UUID | None, types.FieldDefinition], cells: Iterable[types.ShownCell]
) -> Contradictions:
    """Return cells that say yes against no, or another value where all should agree."""
    columns: dict[uuid.UUID, list[tuple[types.MatrixCell, Reading]]] = defaultdict(list)
    for one in cells:
        field = fields[one.cell.field_id]
        if one.shown is not None and is_compared(field):
            reading = read_value(field, one.shown)
            if field.should_agree or reading.says is not None:
                columns[one.cell.field_id].append((one.cell, reading))
    found = ([column[place] for place in outliers([reading for _, reading in column])] for column in columns.values())
    return {(cell.lineage_id, cell.field_id): DIFFERS[reading.says] for column in found for cell, reading in column}


def _of_changes(
    fields: Mapping[uuid.UUID | None, types.FieldDefinition], cells: Iterable[types.SavedCell]
) -> Contradictions:
    """Return cells that conflict with what their document said before it changed."""
    messages = {}
    for saved in cells:
        field, now, before = fields[saved.cell.field_id], saved.cell, saved.previous
        if before is None or before.state == "failed" or "found" not in (before.state, now.state):
            continue
        if before.state == now.state and agree(read_value(field, now), read_value(field, before)):
            continue
        told = before.words if before.state == "found" else "not found"
        message = N_("Before it changed (version {version}): {told}").format(version=before.version, told=told)
        messages[now.lineage_id, now.field_id] = message
    return messages
