"""Fields as a JSON Schema of an object, and back: the form that other programs and language models know.

What JSON Schema has no word for has keywords of ours: `x-type` (any type but records), `x-unit` and `x-should-agree`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import unquote

import pydantic

from rag import errors, types
from rag.messages import N_

DIALECT = "https://json-schema.org/draft/2020-12/schema"
X_TYPE, X_UNIT, X_SHOULD_AGREE = "x-type", "x-unit", "x-should-agree"

MAX_DEPTH = 20
"""Schemas within each other, through references too: one that refers to itself has no end."""
MAX_PARTS = 10_000
"""Schemas, properties and choices that are read, each reference anew: few can stand for endlessly many."""
MAX_REFERENCE_CHARS = 1000
MAX_NAME_CHARS = 100
"""Length of a property's name in a message."""

_KINDS: Mapping[str, types.ColumnType] = MappingProxyType(
    {"string": "text", "number": "number", "integer": "number", "boolean": "yes_no"}
)
_FORMATS: Mapping[str, types.ColumnType] = MappingProxyType({"date": "date", "date-time": "date", "duration": "period"})
_WRITTEN: Mapping[types.ColumnType, Mapping[str, Any]] = MappingProxyType(
    {
        "text": {"type": "string"},
        "number": {"type": "number"},
        "money": {"type": "number", X_TYPE: "money"},
        "percentage": {"type": "number", X_TYPE: "percentage"},
        "date": {"type": "string", "format": "date"},
        "period": {"type": "string", X_TYPE: "period"},
        "yes_no": {"type": "boolean"},
        "choice": {"type": "string"},
    }
)


def schema_of_fields(fields: Sequence[types.FieldDefinition], title: str) -> dict[str, Any]:
    """Return fields as the JSON Schema of an object, from which `fields_of_schema` reads the same fields."""
    return {
        "$schema": DIALECT,
        "title": title,
        "type": "object",
        "properties": {field.name: _property(field) for field in fields},
        "required": [field.name for field in fields if field.required],
    }


def _property(field: types.FieldDefinition) -> dict[str, Any]:
    if field.type != "records":
        written = _scalar(field, field.type)
    elif [column.name for column in field.columns] == [field.name]:
        written = {"type": "array", "items": _scalar(field.columns[0], field.columns[0].type)}
    else:
        columns = {column.name: _scalar(column, column.type) for column in field.columns}
        written = {"type": "array", "items": {"type": "object", "properties": columns}}
    if field.unit:
        written[X_UNIT] = field.unit
    if field.instruction:
        written["description"] = field.instruction
    if field.example:
        written["examples"] = [field.example]
    return {**written, X_SHOULD_AGREE: True} if field.should_agree else written


def _scalar(column: types.FieldDefinition | types.FieldColumn, kind: types.ColumnType) -> dict[str, Any]:
    enum = {"enum": [*column.choices]} if column.choices else {}
    return {**_WRITTEN[kind], **enum, **({X_UNIT: column.unit} if column.unit else {})}


def json_schema_of(kind: type) -> dict[str, Any]:
    """Return the JSON Schema of a pydantic model, or another class that pydantic can describe.

    Raises:
        errors.ValidationError: it cannot.
    """
    try:
        return pydantic.TypeAdapter(kind).json_schema()
    except (pydantic.PydanticUserError, pydantic.PydanticUndefinedAnnotation) as error:
        raise errors.ValidationError(
            N_("{name} has no JSON Schema. Give a pydantic model, or the schema itself."), name=kind.__name__
        ) from error


def fields_of_schema(schema: Mapping[str, Any]) -> tuple[types.FieldDefinition, ...]:
    """Return the fields of a JSON Schema of an object, in order, as pydantic's `model_json_schema` writes it, too.

    A list of objects becomes a list of records, a list of other values one with a single column of the field's name.
    The properties of an object within the object become fields of their own, such as "tenant.name".

    Raises:
        errors.ValidationError: the schema has what no field can be, which the message names.
    """
    reader = _Reader(schema)
    fields: list[types.FieldDefinition] = []
    for leaf in reader.leaves(_Leaf((), schema)):
        fields.append(reader.field(leaf))
        if len(fields) > types.MAX_FIELDS:
            raise _problem((), N_("it has more than {count} fields").format(count=types.MAX_FIELDS))
        if any(field.name == fields[-1].name for field in fields[:-1]):
            raise _problem(leaf.path, N_("another has the same name"))
    return tuple(fields)


class _Leaf(NamedTuple):
    """The schema of a property that is no object itself, with the names that lead to it."""

    path: tuple[str, ...]
    schema: object
    required: bool = True
    depth: int = 0

    @property
    def name(self) -> str:
        return ".".join(self.path)


class _Reader:
    """Reads the parts of a schema; `root` is what references are of."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = MAX_PARTS

    def leaves(self, of: _Leaf) -> Iterator[_Leaf]:
        """Yield the properties of an object that are no objects, those of objects within it included."""
        schema = self._resolve(of.schema, of.path, of.depth)
        properties, required = schema.get("properties"), schema.get("required", [])
        if not isinstance(properties, Mapping) or not properties:
            raise _problem(of.path, N_("it is not an object with properties"))
        if not isinstance(required, list):
            raise _problem(of.path, N_("“required” is not a list of names"))
        for name, given in properties.items():
            is_required = of.required and name in required
            leaf = _Leaf((*of.path, str(name)), given, is_required, of.depth + 1)
            resolved = self._resolve(given, leaf.path, leaf.depth)
            if _kind(resolved) == "object" and X_TYPE not in resolved:
                yield from self.leaves(leaf._replace(schema=resolved))
            else:
                yield leaf._replace(schema=resolved)

    def field(self, leaf: _Leaf) -> types.FieldDefinition:
        """Return a property as a field."""
        schema = self._resolve(leaf.schema, leaf.path, leaf.depth)
        values: dict[str, Any] = {"name": leaf.name, "required": leaf.required}
        if _kind(schema) == "array" and X_TYPE not in schema:
            values |= {
                "type": "records",
                "columns": self._columns(leaf, schema.get("items")),
                "unit": schema.get(X_UNIT),
            }
        else:
            values |= _scalar_values(schema, leaf.path)
        told: list[object] = [schema["description"]] if "description" in schema else []
        told += [f"{column['name']}: {column['told']}" for column in values.get("columns", ()) if "told" in column]
        if not all(isinstance(text, str) for text in told):
            raise _problem(leaf.path, N_("its description is not a text"))
        values["instruction"] = " ".join(map(str, told))
        examples = schema.get("examples", [schema.get("example")])
        if isinstance(examples, list) and examples and isinstance(examples[0], str | int | float):
            values["example"] = str(examples[0])
        values["columns"] = tuple(
            {name: value for name, value in column.items() if name != "told"} for column in values.get("columns", ())
        )
        values["should_agree"] = schema.get(X_SHOULD_AGREE, False)
        try:
            return types.FieldDefinition.model_validate(values)
        except pydantic.ValidationError as error:
            problem = types.error_summary(error.errors(include_url=False), N_("its schema"))
        raise _problem(leaf.path, problem)

    def _columns(self, leaf: _Leaf, items: object) -> list[dict[str, Any]]:
        """Return the columns of a list, each with its description as `told`."""
        if not isinstance(items, Mapping):
            raise _problem(leaf.path, N_("a list says by “items” what is in it"))
        inside = _Leaf(leaf.path, items, depth=leaf.depth + 1)
        schema = self._resolve(items, inside.path, inside.depth)
        if _kind(schema) != "object":
            return [{"name": leaf.name, **_scalar_values(schema, leaf.path)}]
        columns = []
        for one in self.leaves(inside._replace(schema=schema)):
            column = self._resolve(one.schema, one.path, one.depth)
            told = {"told": column["description"]} if "description" in column else {}
            columns.append({"name": ".".join(one.path[len(leaf.path) :]), **_scalar_values(column, one.path), **told})
            if len(columns) > types.MAX_COLUMNS:
                raise _problem(
                    leaf.path, N_("its records have more than {count} columns").format(count=types.MAX_COLUMNS)
                )
        return columns

    def _resolve(self, given: object, path: tuple[str, ...], depth: int) -> Mapping[str, Any]:
        """Return a schema without references, alternatives and null; its own keywords come before those referred to."""
        if given is True:
            given = {}
        if not isinstance(given, Mapping):
            raise _problem(path, N_("its schema is not an object"))
        self._left -= 1 + sum(len(given[name]) for name in _COUNTED if isinstance(given.get(name), Mapping | list))
        if depth > MAX_DEPTH or self._left < 0:
            raise _problem(path, N_("it is nested too deep, refers to itself, or is too large"))
        parts = [self._referred(given["$ref"], path)] if "$ref" in given else []
        parts += _list(given, "allOf", path)
        options = _list(given, "anyOf", path) or _list(given, "oneOf", path)
        merged: dict[str, Any] = {}
        for part in parts:
            _merge(merged, self._resolve(part, path, depth + 1))
        if options:
            _merge(merged, _only([self._resolve(option, path, depth + 1) for option in options], path))
        _merge(merged, {name: given[name] for name in _KEYWORDS if name in given})
        return merged

    def _referred(self, reference: object, path: tuple[str, ...]) -> object:
        if not isinstance(reference, str) or reference[:1] != "#" or len(reference) > MAX_REFERENCE_CHARS:
            raise _problem(path, N_("references are within the schema: “#/$defs/…”"))
        target: object = self._root
        for step in filter(None, unquote(reference[1:]).split("/")):
            name = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(target, Mapping) or name not in target:
                raise _problem(path, N_("it refers to what the schema does not have"))
            target = target[name]
        return target


_KEYWORDS = (
    *("type", "format", "enum", "const", "properties", "required", "items", "description", "examples", "example"),
    *(X_TYPE, X_UNIT, X_SHOULD_AGREE),
)
_COUNTED = ("properties", "required", "enum", "allOf", "anyOf", "oneOf")


def _merge(schema: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Add keywords, which replace those there; properties and names of required ones are joined."""
    for name, value in more.items():
        before = schema.get(name)
        if name == "properties" and isinstance(before, Mapping) and isinstance(value, Mapping):
            schema[name] = {**before, **value}
        elif name == "required" and isinstance(before, list) and isinstance(value, list):
            schema[name] = [*before, *value]
        else:
            schema[name] = value


def _only(options: Sequence[Mapping[str, Any]], path: tuple[str, ...]) -> Mapping[str, Any]:
    """Return what alternatives have in common: choices are joined, and of different scalars text is left."""
    stated = [option for option in options if _kind(option) != "null" and option.get("const", "") is not None]
    if not stated:
        return {"type": "null"}
    if len(stated) == 1:
        return stated[0]
    if all("enum" in option or "const" in option for option in stated):
        return {"enum": [value for option in stated for value in _values(option)]}
    if any(_kind(option) in ("object", "array") for option in stated):
        raise _problem(path, N_("its alternatives have different forms"))
    kinds = {_column_type(option, path) for option in stated}
    if len(kinds) == 1:
        return stated[0]
    decimals = [option for option in stated if _kind(option) == "number"]  # which pydantic writes as a number or a text
    return decimals[0] if decimals and kinds == {"number", "text"} else {"type": "string"}


def _list(schema: Mapping[str, Any], name: str, path: tuple[str, ...]) -> list[object]:
    given = schema.get(name, [])
    if not isinstance(given, list):
        raise _problem(path, N_("“{keyword}” is not a list").format(keyword=name))
    return given


def _kind(schema: Mapping[str, Any]) -> object:
    """Return the JSON type of a schema that is not null, by its keywords if it does not say."""
    given = schema.get("type")
    if isinstance(given, list):
        kinds = [kind for kind in given if kind != "null"]
        if len(kinds) > 1 and all(isinstance(kind, str) and kind in _KINDS for kind in kinds):
            return "number" if {*kinds} == {"integer", "number"} else "string"
        return kinds[0] if kinds else "null"
    if given is None:
        return "object" if "properties" in schema else "array" if "items" in schema else "string"
    return given


def _scalar_values(schema: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """Return the type, unit and choices of a schema of one value."""
    kind = _column_type(schema, path)
    values = _values(schema) if kind == "choice" else []
    if not all(isinstance(value, str | int | float) for value in values):
        raise _problem(path, N_("its choices are texts or numbers"))
    choices = tuple(dict.fromkeys(map(str, values)))
    return {"type": kind, "unit": schema.get(X_UNIT), "choices": choices}


def _values(schema: Mapping[str, Any]) -> list[object]:
    given = schema["enum"] if "enum" in schema else [schema.get("const")]
    return [value for value in given if value not in (None, "")] if isinstance(given, list) else []


def _column_type(schema: Mapping[str, Any], path: tuple[str, ...]) -> types.ColumnType:
    told, kind = schema.get(X_TYPE), _kind(schema)
    if told is not None:
        known = [one for one in _WRITTEN if one == told]
        if not known:
            raise _problem(path, N_("“x-type” is one of {kinds}").format(kinds=", ".join(_WRITTEN)))
        return known[0]
    if not isinstance(kind, str) or kind not in _KINDS:
        raise _problem(path, N_("values of this JSON type do not fit into a cell"))
    if kind != "boolean" and ("enum" in schema or "const" in schema):
        return "choice"
    return _FORMATS.get(str(schema.get("format")), "text") if kind == "string" else _KINDS[kind]


def _problem(path: tuple[str, ...], problem: str) -> errors.ValidationError:
    name = re.sub(r"[\x00-\x1f\x7f]", " ", ".".join(path))[:MAX_NAME_CHARS]
    if not path:
        return errors.ValidationError(
            N_("The JSON Schema does not describe fields: {_problem}."), _problem=problem, details={"field": "schema"}
        )
    return errors.ValidationError(
        N_("The property {name} of the JSON Schema cannot be a field: {_problem}."),
        name=name,
        _problem=problem,
        details={"field": name},
    )
