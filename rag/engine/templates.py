"""Templates: named lists of fields for a kind of document."""

import builtins
from collections.abc import Mapping
from typing import Any

from rag import errors, types, vocabulary
from rag.answering.fields.schemas import fields_of_schema, schema_of_fields
from rag.engine.request_parsing import parse
from rag.engine.workspace import Workspace
from rag.messages import N_


class _Named(types.Model):
    name: types.TemplateName


class Templates:
    """One user's lists of fields, those of a shared collection in it, and those that come with the program."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list(self) -> builtins.list[types.FieldTemplate]:
        """Return the user's own templates, then those for kinds of documents that come with the program."""
        return [*self._workspace.store.matrices.templates(), *vocabulary.field_templates()]

    def get(self, name: str) -> types.FieldTemplate:
        """Return a template, the user's own before one that comes with the program. Raises NotFoundError."""
        template = next((template for template in self.list() if template.name == name), None)
        if template is None:
            raise errors.NotFoundError(N_("There is no template {name}. List the templates."), name=name)
        return template

    def schema(self, name: str) -> dict[str, Any]:
        """Return a template as the JSON Schema of an object, which `save` reads. Raises NotFoundError."""
        template = self.get(name)
        return schema_of_fields(template.fields, template.title)

    def fields(self, request: types.RequestedFields) -> tuple[types.FieldDefinition, ...]:
        """Return the fields that a request gives or names.

        Raises:
            errors.ValidationError: the schema has what no field can be.
            errors.NotFoundError: there is no such template or matrix.
        """
        if request.json_schema is not None:
            return fields_of_schema(request.json_schema)
        if request.template is not None:
            return self.get(request.template).fields
        if request.matrix_id is not None:
            return self._workspace.store.matrices.get(request.matrix_id).fields
        return request.fields or ()

    def save(self, name: str, request: types.TemplateRequest | Mapping[str, Any]) -> types.FieldTemplate:
        """Save fields under a name, replacing the user's template of that name.

        Raises:
            errors.ValidationError: the name or the request is malformed, or as in `fields`.
            errors.NotFoundError: there is no such collection, or as in `fields`.
        """
        label, parsed = parse(_Named, {"name": name}).name, parse(types.TemplateRequest, request)
        return self._workspace.store.matrices.save_template(
            label,
            self.fields(parsed),
            self._workspace.shared_index_id(parsed.index_name),
            sets_index="index_name" in parsed.model_fields_set,
        )

    def delete(self, name: str) -> None:
        """Delete a template of the user's own. Raises NotFoundError."""
        self._workspace.store.matrices.delete_template(name)
