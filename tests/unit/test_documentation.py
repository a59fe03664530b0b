"""The documentation names things that exist: commands, options, routes, errors, settings, modules, tests and files.

Each test lists all names that are wrong, not only the first.
"""

import importlib
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from itertools import dropwhile, groupby
from pathlib import Path
from typing import Any

import pydantic
import pytest
import typer

from rag import errors
from rag.api import create_app
from rag.api.error_responses import COLLECTION_TYPES, DOCUMENTED
from rag.cli.app import app
from rag.config import Config, load_config
from rag.engine import Installation, RAGEngine
from rag.types import ChunkingOptions, ParsingConfig

ROOT = Path(__file__).parents[2]
PAGES = {path.name: path.read_text("utf-8") for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
GENERATED = {"rest-reference.md", "mcp-reference.md"}
"""Pages that exist only on the site."""
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MAX_README_WORDS = 850
MAX_PICTURES_BYTES = 600_000
NESTED_SETTINGS: dict[str, type[pydantic.BaseModel]] = {"rag_parsing": ParsingConfig, "rag_chunking": ChunkingOptions}
COMPOSE_SETTINGS = {"postgres_password"}


# --- commands ---


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each `pagelight` command in the shell blocks, without settings, pipes and comments."""
    for block in SHELL.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            if "pagelight" in line:
                lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
                lexer.whitespace_split = True
                for is_between, words in groupby(lexer, key=lambda word: set(word) <= set(lexer.punctuation_chars)):
                    command = list(dropwhile(lambda word: re.match(r"[A-Z_]+=", word), words))
                    if not is_between and command[:1] == ["pagelight"]:
                        yield command[1:]


def problem_of(words: list[str]) -> str | None:
    """Return a command or an option that does not exist."""
    command: Any = typer.main.get_command(app)
    options = _options(command)
    for word in words:
        if word.startswith("-"):
            if (name := word.partition("=")[0]) not in options:
                return f"no option {name}"
        elif hasattr(command, "commands") and word in command.commands:
            command = command.commands[word]
            options |= _options(command)
        elif hasattr(command, "commands") and command.name == "pagelight":
            return f"no command {word}"
    return None


def _options(command: Any) -> set[str]:
    options = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    return options | {"--help", "-h"}


def test_commands_and_their_options_exist() -> None:
    wrong = [
        f"{name}: pagelight {' '.join(words)}: {problem}"
        for name, text in PAGES.items()
        for words in commands(text)
        if (problem := problem_of(words))
    ]
    assert not wrong, "\n".join(wrong)


def test_a_wrong_command_or_option_is_noticed() -> None:
    assert problem_of(["ask", "--nonsense"]) == "no option --nonsense"
    assert problem_of(["nonsense"]) == "no command nonsense"
    assert list(commands("```sh\nA=1 pagelight ask x --json | jq . # comment\n```\n")) == [["ask", "x", "--json"]]


# --- files ---


def test_json_and_toml_examples_can_be_read() -> None:
    for text in PAGES.values():
        for block in re.findall(r"^```json\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            json.loads(block)
        for block in re.findall(r"^```toml\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            tomllib.loads(block)


def test_linked_files_exist() -> None:
    broken = [
        f"{name}: {link}"
        for name, text in {**PAGES, "CONTRIBUTING.md": GUIDE}.items()
        for link in re.findall(r"\]\(([^)#\s]+)", text)
        if "://" not in link and link not in GENERATED
        if not (ROOT / ("" if name in {"README.md", "CONTRIBUTING.md"} else "docs") / link).exists()
    ]
    assert not broken, "\n".join(broken)


def test_modules_and_folders_named_by_the_architecture_and_the_guide_exist() -> None:
    page = PAGES["architecture.md"]
    places = {
        *re.findall(r"`([a-z_]+/[a-z_/]+(?:\.py)?)`", page),
        *re.findall(r"(?<![a-z]/)\b([a-z]+/(?:[a-z]+/)?[a-z_]+\.py)\b", page),
        *re.findall(r"`((?:rag|tests|pages|benchmarks|docs)/[\w./-]*\w)`", GUIDE),
    }
    wrong = [place for place in sorted(places) if not any((top / place).exists() for top in (ROOT, ROOT / "rag"))]
    assert not wrong, "\n".join(wrong)


def test_the_readme_and_the_pictures_are_small() -> None:
    assert len(PAGES["README.md"].split()) <= MAX_README_WORDS
    assert sum(path.stat().st_size for path in (ROOT / "docs" / "pictures").iterdir()) <= MAX_PICTURES_BYTES


def test_every_extra_is_described() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert set(re.findall(r"^\| `(\w+)` \|", PAGES["install.md"], re.MULTILINE)) == set(extras)


# --- Python ---


def test_the_architecture_lists_the_resources_of_an_engine() -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| `engine/", PAGES["architecture.md"], re.MULTILINE)
    listed = {noun for row in rows for noun in re.findall(r"`(\w+)`", row)}
    resources = {name for name in vars(RAGEngine()) if not name.startswith("_")} - {"user_id", "installation"}
    assert listed == resources


def test_conformance_names_code_and_tests_that_exist() -> None:
    page = PAGES["conformance.md"]
    wrong = [name for name in sorted(set(re.findall(r"`(rag\.[\w.]+)`", page))) if not _exists(name)]
    for file, test in sorted(set(re.findall(r"`(test_\w+\.py)::(\w+)`", page))):
        if not any(f"def {test}(" in path.read_text("utf-8") for path in (ROOT / "tests").rglob(file)):
            wrong.append(f"{file}::{test}")
    assert not wrong, "\n".join(wrong)


def _exists(name: str) -> bool:
    """Whether there is a module, class, function, method or field of that name."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            member: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            fields = getattr(member, "model_fields", {}) if isinstance(member, type) else {}
            member = fields.get(part) or getattr(member, part, None)
        return member is not None
    return False


def test_every_row_of_conformance_names_code_and_a_test() -> None:
    lines = PAGES["conformance.md"].splitlines()
    rows = [line for line in lines if line.startswith("|") and not line.startswith(("| promised", "|---"))]
    assert len(rows) > 70
    wrong = [row for row in rows if not re.search(r" \| [^|]*`[^|]* \| [^|]*::[^|]*\|$", row)]
    assert not wrong, "\n".join(wrong)


# --- REST and settings ---


def test_every_route_is_described_and_no_other() -> None:
    described = set(re.findall(r"^\| `([A-Z]+ /\S*)` \|", PAGES["api.md"], re.MULTILINE))
    paths = create_app(Installation(load_config())).openapi()["paths"]
    served = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert {*served, "GET /openapi.json"} == described


def test_every_error_of_the_api_is_described() -> None:
    codes = _codes(errors.Error) - {"error"} | set(COLLECTION_TYPES.values())
    section = PAGES["api.md"].partition("## Errors")[2]
    missing = [code for code in sorted(codes) if f"`{code}`" not in section]
    missing += [str(status) for status in DOCUMENTED if f"\n| {status} |" not in section]
    assert not missing, "\n".join(missing)


def _codes(error: type[errors.Error]) -> set[str]:
    return {error.code}.union(*map(_codes, error.__subclasses__()))


def test_settings_of_the_api_have_the_described_defaults() -> None:
    described = dict(re.findall(r"^\| `([A-Z_]+)` \| [^|]*?: (\w+)[^|]*\|$", PAGES["api.md"], re.MULTILINE))
    assert len(described) == 10
    config = load_config()
    for name, default in described.items():
        field, _, nested = name.lower().partition("__")
        value = getattr(getattr(config, field), nested) if nested else getattr(config, field)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        assert (f"{value:g}" if is_number else str(value).lower()) == default, name


def test_the_example_of_an_environment_lists_every_setting_and_no_other() -> None:
    text = (ROOT / ".env.example").read_text("utf-8")
    listed = {name.lower() for name in re.findall(r"^#([A-Z_]+)=", text, re.MULTILINE)}
    settings = set(Config.model_fields) - NESTED_SETTINGS.keys()
    settings |= {f"{group}__{name}" for group, model in NESTED_SETTINGS.items() for name in model.model_fields}
    assert listed - COMPOSE_SETTINGS == settings


@pytest.mark.parametrize("name", ["rag.types.Hit.chunk", "rag.engine", "rag.RAGEngine.search"])
def test_names_of_python_are_resolved(name: str) -> None:
    assert _exists(name)
    assert not _exists(f"{name}_gone")
