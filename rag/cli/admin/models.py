"""`pagelight models`: which models write and embed, the servers of models on this machine, and vendors' keys."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from rag import errors
from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.options import AsJson
from rag.types import FoundServer, ModelChoice, ModelTest, VendorKey

if TYPE_CHECKING:
    from rag.engine import RAGEngine

Model = Annotated[
    str | None,
    typer.Argument(metavar="[PROVIDER:MODEL]", help="As listed, or any other of a provider.", show_default=False),
]
Unset = Annotated[bool, typer.Option("--unset", help="The best that the given keys allow.")]
Provider = Annotated[str, typer.Argument(metavar="PROVIDER", help="As listed.", show_default=False)]

ORIGINS = {"environment": "set in the environment", "kept": "chosen", "default": "by the keys that are given"}


def models(context: typer.Context, as_json: AsJson = False) -> None:
    """Show which models write and embed, the servers of models on this machine, and where vendors' keys are.

    What is chosen here or on the page Settings holds for every user of this data folder; the environment and .env win.

        pagelight models
        pagelight models write ollama:llama3.2
        pagelight models write --unset
        pagelight models test
        pagelight models key openai
    """
    if context.invoked_subcommand is not None:
        if as_json:
            raise errors.ValidationError(f"Put the options behind “{context.invoked_subcommand}”.")
        return
    with open_engine() as engine:
        settings = engine.installation.settings
        writer, embedder, keys, servers = (
            settings.writer(),
            settings.embedder(),
            settings.keys.list(),
            settings.servers(),
        )
    if as_json:
        output.print_json({"writer": writer, "embedder": embedder, "servers": servers, "keys": keys})
        return
    rows = [(work, choice.model, _state(choice)) for work, choice in (("writes", writer), ("embeds", embedder))]
    output.print_table(["", "model", ""], rows)
    output.print_text()
    _print_servers(servers)
    output.print_text()
    output.print_table(["vendor", "variable", "key"], [(key.provider, key.setting, _place(key)) for key in keys])


def write(model: Model = None, *, unset: Unset = False, as_json: AsJson = False) -> None:
    """Choose the model that writes answers; “extractive” quotes the documents and needs none.

    pagelight models write ollama:llama3.2
    pagelight models write extractive
    pagelight models write --unset
    """
    chosen = _chosen(model, unset=unset)
    with open_engine() as engine:
        choice = engine.installation.settings.choose_writer(chosen)
    _print_choice("writes", choice, as_json=as_json)


def embed(model: Model = None, *, unset: Unset = False, as_json: AsJson = False) -> None:
    """Choose the model that embeds in new indexes. One that has documents keeps its own until it is re-embedded.

    pagelight models embed ollama:nomic-embed-text
    pagelight models embed --unset
    """
    chosen = _chosen(model, unset=unset)
    with open_engine() as engine:
        choice = engine.installation.settings.choose_embedder(chosen)
        index = engine.indexes.follow_settings()
    _print_choice("embeds", choice, as_json=as_json)
    if index.space.name != choice.model and not choice.problem:
        output.print_note(
            f"The index “{index.name}” keeps {index.space.name}. To change it: pagelight reembed --model {choice.model}"
        )


def try_models(as_json: AsJson = False) -> None:
    """Ask the chosen models for a word each. What a vendor or server refuses is said.

    pagelight models test
    """
    with open_engine() as engine:
        tests = _tests(engine)
    if as_json:
        output.print_json(tests)
        return
    for test in tests:
        output.print_text(f"{test.model}: {test.result} ({test.seconds:.1f} s)")


def _tests(engine: "RAGEngine") -> list[ModelTest]:
    settings = engine.installation.settings
    quotes = settings.writer().model == "extractive"
    return [settings.try_embedder()] if quotes else [settings.try_writer(), settings.try_embedder()]


def key(
    provider: Provider,
    remove: Annotated[bool, typer.Option("--remove", help="Forget the key.")] = False,
    as_json: AsJson = False,
) -> None:
    """Keep a vendor's key: in the key ring of this computer, else in a file that only you can read.

    The key is asked for, or read from stdin; it is never shown again.

        pagelight models key openai
        pagelight models key openai < key.txt
        pagelight models key openai --remove
    """
    from pydantic import SecretStr

    with open_engine() as engine:
        settings = engine.installation.settings
        kept = settings.keys.remove(provider) if remove else settings.keys.keep(provider, SecretStr(_typed(provider)))
    if as_json:
        output.print_json(kept)
    else:
        output.print_text(f"{kept.label}: {_place(kept)}")


def _typed(provider: str) -> str:
    if sys.stdin.isatty():
        return str(typer.prompt(f"Key of {provider}", hide_input=True, default="", show_default=False))
    return sys.stdin.readline()


def _chosen(model: str | None, *, unset: bool) -> str | None:
    if (model is None) != unset:
        raise errors.ValidationError("Name a model, or give --unset.")
    return model


def _print_choice(work: str, choice: ModelChoice, *, as_json: bool) -> None:
    if as_json:
        output.print_json(choice)
    else:
        output.print_text(f"{choice.model} {work} now ({_state(choice)}).")


def _print_servers(servers: tuple[FoundServer, ...]) -> None:
    if not servers:
        output.print_text("No server of models answers on this machine (Ollama, LM Studio, llama.cpp, vLLM).")
        return
    rows = [
        (server.label, f"{server.provider}:{model.name}", "embeds" if model.embeds else "writes")
        for server in servers
        for model in server.models
    ]
    output.print_table(["server", "model", ""], rows or [(server.label, "–", "") for server in servers])


def _state(choice: ModelChoice) -> str:
    return choice.problem or ORIGINS[choice.origin]


def _place(key: VendorKey) -> str:
    if key.place is None:
        return "not given"
    return f"given ({key.place})" if key.is_readable else f"not readable ({key.place}): unlock it"
