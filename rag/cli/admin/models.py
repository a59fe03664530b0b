"""`pagelight models`: show and choose models, and store vendors' keys."""

import sys
from typing import Annotated

import typer
from rich import filesize

from rag import errors, types
from rag.cli import output
from rag.cli.command import open_engine
from rag.cli.options import AsJson
from rag.config import MEGABYTE

Model = Annotated[str | None, typer.Argument(metavar="[PROVIDER:MODEL]", help="As listed, or any other of a provider.")]
Unset = Annotated[
    bool, typer.Option("--unset", help="Take the choice back: the keys choose, for embedding those of the environment.")
]
Provider = Annotated[str, typer.Argument(metavar="PROVIDER", help="As listed.")]

POLL_SECONDS = 0.5
"""How often the progress of a download is shown."""
ORIGINS = {"environment": "set in the environment", "kept": "chosen", "default": "not chosen"}


def models(as_json: AsJson = False) -> None:
    """Show the models that write and embed, the model servers on this machine, and the places of vendors' keys.

    Choices made here or on the page Settings apply to all users of this data folder; the environment and .env override
    them.

        pagelight models
        pagelight models write ollama:llama3.2
        pagelight models write --unset
        pagelight models test
        pagelight models download
        pagelight models key openai
    """
    with open_engine() as engine:
        settings = engine.installation.settings
        writer, embedder = settings.writer(), settings.embedder()
        keys, ollama = settings.vendor_keys(), settings.ollama()
    if as_json:
        servers = [ollama] if ollama else []
        output.print_json({"writer": writer, "embedder": embedder, "servers": servers, "keys": keys})
        return
    rows = [(work, choice.model, _state(choice)) for work, choice in (("writes", writer), ("embeds", embedder))]
    output.print_table(["", "model", ""], rows)
    output.print_text()
    if ollama is None:
        output.print_text("Ollama does not answer.")
    else:
        models_of_server = [
            (f"{ollama.provider}:{model.name}", "embeds" if model.embeds else "writes") for model in ollama.models
        ]
        output.print_table(["server", "model", ""], [(ollama.label, *row) for row in models_of_server or [("–", "")]])
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
    output.print_result(choice, f"{choice.model} writes now ({_state(choice)}).", as_json=as_json)


def embed(model: Model = None, *, unset: Unset = False, as_json: AsJson = False) -> None:
    """Choose the embedding model of new indexes. Indexes with documents keep theirs until they are re-embedded.

    pagelight models embed ollama:nomic-embed-text
    pagelight models embed --unset
    """
    chosen = _chosen(model, unset=unset)
    with open_engine() as engine:
        choice = engine.installation.settings.choose_embedder(chosen)
        index = engine.indexes.follow_settings()
    output.print_result(choice, f"{choice.model} embeds now ({_state(choice)}).", as_json=as_json)
    if index.space.name != choice.model and not choice.problem:
        output.print_note(
            f"The index “{index.name}” keeps {index.space.name}. To change it: pagelight reembed --model {choice.model}"
        )


def download(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="As listed; without it, the models are listed.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Download an embedding model, which then runs on this machine without a network, or list those that are offered.

    Nothing else leaves this machine: no text, no question, no key. An interrupted download keeps its complete
    files. It needs the package fastembed: pip install "pagelight[fastembed]".

        pagelight models download
        pagelight models download multilingual-e5-large
        pagelight models embed folder:multilingual-e5-large
    """
    with open_engine() as engine:
        downloads = engine.installation.settings.downloads
        if name is None:
            output.print_list(
                downloads.offered(),
                ["model", "size", "licence", "languages", ""],
                lambda model: (
                    model.name,
                    filesize.decimal(model.megabytes * MEGABYTE),
                    model.licence,
                    ", ".join(model.languages) or "about 100",
                    "is here" if downloads.is_here(model.name) else "",
                ),
                as_json=as_json,
                right=["size"],
            )
            return
        model = next((model for model in downloads.offered() if name in {model.name, model.choice}), None)
        downloads.start(name)  # says so if there is no such model
        assert model is not None
        with output.show_progress(download=f"Downloading {model.name}") as bar:
            while not downloads.wait(name, POLL_SECONDS):
                bar("download", downloads.done_bytes(name), model.megabytes * MEGABYTE)
    output.print_result(
        model, f"{model.choice} is here. To use it: pagelight models embed {model.choice}", as_json=as_json
    )


def try_models(as_json: AsJson = False) -> None:
    """Test the chosen models with a short request each, and show what a vendor or server refuses.

    pagelight models test
    """
    with open_engine() as engine:
        settings = engine.installation.settings
        tests = [] if settings.writer().model == "extractive" else [settings.try_writer()]
        tests.append(settings.try_embedder())
    if as_json:
        output.print_json(tests)
        return
    for test in tests:
        output.print_text(f"{test.model}: {test.result} ({test.seconds:.1f} s)")


def key(
    provider: Provider,
    remove: Annotated[bool, typer.Option("--remove", help="Delete the key.")] = False,
    as_json: AsJson = False,
) -> None:
    """Store a vendor's key in the key ring of this computer, or else in a file that only you can read.

    The key is asked for, or read from stdin; it is never shown again.

        pagelight models key openai
        pagelight models key openai < key.txt
        pagelight models key openai --remove
    """
    from pydantic import SecretStr

    secret = "" if remove else _read_key(provider)
    with open_engine() as engine:
        settings = engine.installation.settings
        stored = settings.remove_key(provider) if remove else settings.keep_key(provider, SecretStr(secret))
    output.print_result(stored, f"{stored.label}: {_place(stored)}", as_json=as_json)


def address(
    url: Annotated[str | None, typer.Argument(metavar="[URL]")] = None,
    unset: Annotated[bool, typer.Option("--unset", help="Use no such server.")] = False,
    as_json: AsJson = False,
) -> None:
    """Set the address of a server that speaks OpenAI's protocol, such as OpenRouter, LM Studio, llama.cpp or vLLM.

    Its models are chosen as openai_compatible:MODEL. Changing the address removes its key.

        pagelight models address https://openrouter.ai/api/v1
        pagelight models key openai_compatible
        pagelight models write openai_compatible:perplexity/sonar
    """
    if (url is None) != unset:
        raise errors.ValidationError("Give the address, or --unset.")
    with open_engine() as engine:
        engine.installation.settings.choose_address(url)
    output.print_result({"address": url}, f"OpenAI-compatible server: {url or 'none'}", as_json=as_json)


def _read_key(provider: str) -> str:
    if sys.stdin.isatty():
        return str(typer.prompt(f"Key of {provider}", hide_input=True, default="", show_default=False))
    return sys.stdin.readline()


def _chosen(model: str | None, *, unset: bool) -> str | None:
    if (model is None) != unset:
        raise errors.ValidationError("Name a model, or give --unset.")
    return model


def _state(choice: types.ModelChoice) -> str:
    return choice.problem or ORIGINS[choice.origin]


def _place(key: types.VendorKey) -> str:
    if key.place is None:
        return "not given"
    return f"given ({key.place})" if key.is_readable else f"not readable ({key.place}): unlock it"
