"""MkDocs hooks: the references of the REST API and of the MCP tools, made from the code when the site is built."""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from rag.api import create_app
from rag.config import load_config
from rag.engine import Installation
from rag.mcp_server.server import create_server

Json = Mapping[str, Any]
LINK_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./([^)]+)\)")
"""A link to a file of the repository that is no page of the site."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    installation = Installation(load_config())
    for name, text in (
        ("rest-reference.md", rest_reference(create_app(installation).openapi())),
        ("mcp-reference.md", mcp_reference(installation)),
    ):
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Name the files of the repository to which a page links."""
    return LINK_OUTSIDE.sub(r"\1 (`\2`)", markdown)


def rest_reference(schema: Json) -> str:
    """Return a page with every route of the schema and every model that bodies and responses use."""
    routes = [
        (path.split("/")[1], f"{method.upper()} {path}", operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]
    lines = [
        "# REST routes",
        "",
        "Every route with its parameters, body and response, made from the code. The [guide](api.md) explains them;",
        "a running server has the same as `/openapi.json`.",
    ]
    for resource, group in groupby(sorted(routes, key=lambda route: route[0]), key=lambda route: route[0]):
        lines += ["", f"## {resource}"]
        for _, name, operation in group:
            lines += ["", f"### `{name}`", "", *_operation(operation)]
    return "\n".join([*lines, *_models(schema["components"]["schemas"])]) + "\n"


def _models(models: Json) -> list[str]:
    lines = ["", "## Models"]
    for name, model in sorted(models.items()):
        lines += ["", f"### {name}", "", *_paragraph(model.get("description")), *_fields(model)]
    return lines


def _operation(operation: Json) -> Iterator[str]:
    yield from _paragraph(operation.get("description") or operation.get("summary"))
    if parameters := operation.get("parameters"):
        yield from ("| parameter | in | type | meaning |", "|---|---|---|---|")
        for parameter in parameters:
            name = f"`{parameter['name']}`" + (" (required)" if parameter.get("required") else "")
            meaning = _cell(parameter.get("description", ""))
            yield f"| {name} | {parameter['in']} | {_type(parameter['schema'])} | {meaning} |"
        yield ""
    for content_type, content in operation.get("requestBody", {}).get("content", {}).items():
        yield from (f"Body: {_type(content['schema'])} (`{content_type}`)", "")
    for status, response in operation["responses"].items():
        if status < "300":
            types = [_type(content.get("schema", {})) for content in response.get("content", {}).values()]
            yield from (f"Response {status}: {' or '.join(types) or 'no content'}", "")


def _fields(model: Json) -> Iterator[str]:
    if not (properties := model.get("properties")):
        yield _type(model)
        return
    yield from ("| field | type | default | meaning |", "|---|---|---|---|")
    for name, field in properties.items():
        default = f"`{json.dumps(field['default'])}`" if "default" in field else ""
        required = " (required)" if name in model.get("required", ()) else ""
        yield f"| `{name}`{required} | {_type(field)} | {default} | {_cell(field.get('description', ''))} |"


def _type(schema: Json) -> str:
    """Describe a JSON schema in a few words; other models are links."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{_anchor(name)})"
    if values := schema.get("enum", [schema["const"]] if "const" in schema else []):
        return ", ".join(f"`{json.dumps(value)}`" for value in values)
    if several := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        return " or ".join(_type(one) for one in several)
    kind = schema.get("format") or schema.get("type", "any")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if kind == "object" and isinstance(content := schema.get("additionalProperties"), dict):
        return f"object of {_type(content)}"
    return str(kind)


def _anchor(name: str) -> str:
    """Return the anchor that MkDocs gives the heading of a model."""
    return "".join(letter for letter in name.lower() if letter.isalnum() or letter in "_-")


def mcp_reference(installation: Installation) -> str:
    """Return a page with every tool, its arguments and its description."""
    lines = [
        "# MCP tools",
        "",
        "What an assistant reads about the tools, made from the code. [MCP server](mcp.md) says how to connect one.",
    ]
    models: dict[str, Json] = {}
    for tool in asyncio.run(create_server(lambda _: installation.for_user("local")).list_tools()):
        schema = tool.input_schema
        models |= schema.get("$defs", {})
        lines += ["", f"## `{tool.name}`", "", *_paragraph(tool.description), *_fields(schema)]
    return "\n".join([*lines, *_models(models)]) + "\n"


def _paragraph(text: str | None) -> list[str]:
    return [_escape(text.strip()), ""] if text else []


def _cell(text: str) -> str:
    return _escape(" ".join(text.split())).replace("|", "\\|")


def _escape(text: str) -> str:
    return text.replace("<", "&lt;")
