"""The settings page: models, local model servers and API keys.

Keys are never sent to the browser: a field accepts one and is empty afterwards.
"""

from collections.abc import Callable, Sequence

import pydantic
import streamlit as st

from rag import providers, types
from rag.config import MEGABYTE
from rag.engine.operations.settings import Settings
from rag.ui import page_frame, session
from rag.ui.components import box
from rag.ui.formatting import decimal, escape, file_size, plural
from rag.ui.language import LANGUAGES, N_, _, browser_language
from rag.ui.page_frame import error_boundary
from rag.ui.translated_messages import translate_error, translate_message

AUTOMATIC = N_("Automatic")
QUOTES = N_("Quotes only")
PLACES = {
    types.KeyPlace.KEY_RING: N_("In this computer's keyring"),
    types.KeyPlace.FILE: N_("In a file readable only by Pagelight's user"),
}
STEPS = N_("""
1. Install Ollama (free, from ollama.com).
2. Download a model in a terminal: `ollama pull llama3.2` (2 GB; with 16 GB of memory, `llama3.1` writes better).
3. Come back, press *Refresh*, and choose the model under *Answers*.
4. Press *Test* there to check that it works.

Or use a provider's key: create one on the provider's site and press *Add* below. Your questions are then sent to that
provider with text to answer them: the passages found, and short documents whole.
""")
CONTEXT_SIZES = (5_000, 10_000, 30_000, 60_000, 100_000)
"""Offered numbers of tokens."""
SHOWN_IN_CENTS = 0.01
"""Dollars below which a price has four decimals."""
PAGE_TOKENS = 1_200
"""Of a full page of an English report."""
POLL_SECONDS = 1.0
SERVERS_TTL_SECONDS = 5
"""How long the list of servers is cached."""
VENDORS_TTL_SECONDS = 300
"""How long the vendors' lists of models are cached; a changed key empties the cache."""
NOTE = "models"
"""Name under which the suggestion in the chat is dismissed."""


def _settings() -> Settings:
    return session.engine().installation.settings


def require_administrator() -> None:
    """Stop with an explanation unless the user is an administrator."""
    page_frame.require_administrator(
        _("Only administrators can change settings"),
        _("Settings apply to all users."),
        _("To become an administrator, have your ID added to `RAG_ADMINS`:"),
    )


@st.cache_data(ttl=SERVERS_TTL_SECONDS, show_spinner=False)
def find_servers() -> tuple[types.FoundServer, ...]:
    """Return Ollama if it runs on this machine."""
    ollama = _settings().ollama()
    return (ollama,) if ollama else ()


@st.cache_data(ttl=VENDORS_TTL_SECONDS, show_spinner=False)
def vendor_models() -> tuple[types.VendorModels, ...]:
    """Return the models that the vendors' keys may use."""
    return _settings().vendor_models()


# --- the language of the pages ---------------------------------------------------------------------


def languages() -> None:
    """Choose the language of the pages, for each user."""
    chosen = session.account().language
    offered: dict[str | None, str] = {None: _("As in the browser: {language}", language=LANGUAGES[browser_language()])}
    offered.update(LANGUAGES.items())
    wanted = st.selectbox(
        _("Language"),
        list(offered),
        index=list(offered).index(chosen if chosen in offered else None),
        format_func=offered.__getitem__,
        key=f"language-{chosen}",
        width=280,
    )
    if wanted != chosen:
        with error_boundary():
            session.own_engine().profile.choose_language(wanted)
            st.rerun()


# --- models -----------------------------------------------------------------------------------------


def answer_model(servers: Sequence[types.FoundServer], vendors: Sequence[types.VendorModels]) -> None:
    """Choose and test the model that writes answers."""
    settings = _settings()
    offered: dict[str, str | None] = {AUTOMATIC: None, QUOTES: providers.EXTRACTIVE}
    offered |= {name: name for name in (*settings.default_writers(), *_models([*servers, *vendors], embeds=False))}
    with box(_("Answers"), key="writer"):
        choice = settings.writer()
        _choose(N_("Answer model"), choice, offered, settings.choose_writer)
        for vendor in vendors:
            if vendor.problem:
                st.caption(
                    _(
                        "The models of {label} could not be listed; known ones are offered. {reason}",
                        label=escape(vendor.label),
                        reason=escape(translate_message(vendor.problem)),
                    )
                )
        if choice.model == providers.EXTRACTIVE:
            st.caption(_("Answers are sentences of your documents, word for word. Nothing leaves this machine."))
            return
        st.caption(
            _(
                "Each question is sent to {label} with text to answer it: the passages found, and short documents "
                "whole.",
                label=escape(choice.label),
            )
        )
        if not choice.problem:
            _context_budget()
        _test_button(settings.try_writer, "writer")


def _context_budget() -> None:
    """Choose how much text the model gets for a question, and tell what that costs."""
    size = _settings().context_size()
    chosen = None if size.origin is types.Origin.DEFAULT else size.tokens
    sizes = sorted({*CONTEXT_SIZES, *([chosen] if chosen else [])})
    automatic = _("{choice}: {tokens} tokens", choice=_(AUTOMATIC), tokens=decimal(size.tokens))
    wanted = st.selectbox(
        _("Most text per question"),
        [None, *sizes],
        index=sizes.index(chosen) + 1 if chosen else 0,
        key=f"context-{chosen}-{size.tokens}",
        format_func=lambda tokens: (
            _("{tokens} tokens", tokens=decimal(tokens)) if tokens else _(AUTOMATIC) if chosen else automatic
        ),
        disabled=size.origin is types.Origin.ENVIRONMENT,
        help=_(
            "Documents that fit are given to the model whole; of others it gets the passages found. "
            "Less text costs less; a model on this machine gets no more than it can read in time."
        ),
    )
    pages = plural(
        round(size.tokens / PAGE_TOKENS), "About {count} page of a report.", "About {count} pages of a report."
    )
    if size.cost_usd is None:
        st.caption(pages)
    else:
        cost = decimal(size.cost_usd, 2 if size.cost_usd >= SHOWN_IN_CENTS else 4)
        st.caption(pages + " " + _("So many cost ${cost} by the list price.", cost=cost))
    if size.origin is types.Origin.ENVIRONMENT:
        st.caption(_("Set in the environment or in .env, which takes precedence."))
    if wanted != chosen:
        with error_boundary():
            _settings().choose_context_size(wanted)
            st.toast(_("Saved. It applies from now on."), icon=":material/check:")
            st.rerun()


def embedding_model(servers: Sequence[types.FoundServer], vendors: Sequence[types.VendorModels]) -> None:
    """Choose and test the embedding model of new indexes."""
    settings = _settings()
    offered: dict[str, str | None] = {AUTOMATIC: None}
    included = f"{providers.LOCAL.name}:{providers.LOCAL.default_embedding_model}"
    offered |= {name: name for name in (included, *_models([*servers, *vendors], embeds=True))}
    downloads = settings.downloads
    offered |= {model.choice: model.choice for model in downloads.offered() if downloads.is_here(model.name)}
    with box(_("Search by meaning"), key="embedder"):
        choice = settings.embedder()
        _choose(N_("Embedding model for new indexes"), choice, offered, _choose_embedder)
        if choice.model.startswith(f"{providers.LOCAL.name}:"):
            st.caption(_("Included in Pagelight: nothing leaves this machine."))
        elif choice.model.startswith("folder:"):
            st.caption(_("It runs on this machine: nothing leaves it."))
        else:
            st.caption(
                _("The text of their documents and each question are sent to {label}.", label=escape(choice.label))
            )
        _test_button(settings.try_embedder, "embedder")
        for index in session.engine().indexes.list():
            if index.name == types.DEFAULT_INDEX and index.space.name != choice.model:
                _reembedding_hint(escape(index.space.name), choice)
        _model_downloads(choice)


def _choose_embedder(model: str | None) -> types.ModelChoice:
    """Choose the embedding model; an empty index uses it at once."""
    chosen = _settings().choose_embedder(model)
    session.engine().indexes.follow_settings()
    return chosen


def _reembedding_hint(name: str, choice: types.ModelChoice) -> None:
    """Explain how to re-embed the user's index, which uses the model `name`, with the chosen one."""
    if choice.origin is types.Origin.DEFAULT or choice.problem:
        st.caption(_("Your index still uses {name}.", name=name))
        return
    st.info(
        _(
            "Your index still uses {name} for its documents. To change it, run this; it takes a while, and searches "
            "go on:",
            name=name,
        ),
        icon=":material/swap_horiz:",
    )
    st.code(f"pagelight reembed --model {choice.model}", language="sh", wrap_lines=True)


def _choose(
    label: str,
    choice: types.ModelChoice,
    offered: dict[str, str | None],
    choose: Callable[[str | None], types.ModelChoice],
) -> None:
    """Show a field to choose or type a model; a choice applies at once."""
    names = {model: name for name, model in offered.items() if model}
    chosen = AUTOMATIC if choice.origin is types.Origin.DEFAULT else names.get(choice.model, choice.model)
    options = list(dict.fromkeys([*offered, chosen]))
    is_set = choice.origin is types.Origin.ENVIRONMENT

    def choice_label(name: str) -> str:
        text = _(name) if name in (AUTOMATIC, QUOTES) else name
        if name == AUTOMATIC == chosen:  # what the automatic choice results in
            text += ": " + (_("quotes only") if choice.model == providers.EXTRACTIVE else choice.model)
        return text

    wanted = st.selectbox(
        _(label),
        options,
        index=options.index(chosen),
        key=f"{label} {chosen} {choice.model}",  # a change, also by another process, makes a new field
        format_func=choice_label,
        accept_new_options=True,
        disabled=is_set,
        placeholder="provider:model",
    )
    if not is_set:
        st.caption(_("Any other model can be typed into the field, as provider:model."))
    if choice.problem:
        st.error(escape(translate_message(choice.problem)), icon=":material/error:")
    if is_set:
        st.caption(_("Set in the environment or in .env, which takes precedence."))
    if wanted and wanted != chosen:
        with error_boundary(), st.spinner(_("Loading …")):
            choose(offered.get(wanted, wanted))
            st.toast(_("Saved. It applies from now on."), icon=":material/check:")
            st.rerun()


def _test_button(test: Callable[[], types.ModelTest], key: str) -> None:
    if st.button(_("Test"), icon=":material/bolt:", key=f"test-{key}", help=_("Sends a small request.")):
        with error_boundary(), st.spinner(_("Asking …")):
            result = test()
            text = _("“{result}” in {seconds} s.", result=escape(result.result), seconds=decimal(result.seconds, 1))
            if result.context_window:
                text += " " + _("Context window: {tokens} tokens.", tokens=decimal(result.context_window))
            st.success(text, icon=":material/check_circle:")


def _models(sources: Sequence[types.FoundServer | types.VendorModels], *, embeds: bool) -> list[str]:
    return [
        f"{source.provider}:{model.name}" for source in sources for model in source.models if model.embeds == embeds
    ]


# --- downloads ------------------------------------------------------------------------------------


def _model_downloads(choice: types.ModelChoice) -> None:
    """Offer embedding models for download; `choice` is the one in use now."""
    downloads = _settings().downloads
    names = [model.name for model in downloads.offered()]
    is_running = any(map(downloads.is_running, names))
    has_failed = any(map(downloads.failure, names))
    with st.expander(_("Other languages than English"), icon=":material/download:", expanded=is_running or has_failed):
        st.caption(
            _(
                "The included model reads English only. These run on this machine after their download; nothing but "
                "the download leaves it: no text, no question and no key."
            )
        )
        st.fragment(_offers, run_every=POLL_SECONDS if is_running else None)(choice, was_running=is_running)


def _offers(choice: types.ModelChoice, *, was_running: bool) -> None:
    downloads = _settings().downloads
    for model in downloads.offered():
        _offer(model, choice)
    if was_running and not any(downloads.is_running(model.name) for model in downloads.offered()):
        st.rerun()  # done: stop refreshing; last, so that no click is lost


def _offer(model: types.DownloadableModel, choice: types.ModelChoice) -> None:
    downloads = _settings().downloads
    languages = ", ".join(model.languages) or _("about 100 languages")
    size = file_size(model.megabytes * MEGABYTE)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"download-{model.name}"):
        st.markdown(f"{escape(model.name)} :gray[:small[{languages} · {size} · {model.licence}]]", width="stretch")
        if model.choice == choice.model:
            st.markdown(_(":material/check_circle: In use"), width="content")
        elif downloads.is_here(model.name):
            is_set = choice.origin is types.Origin.ENVIRONMENT
            if st.button(_("Use"), key=f"use-{model.choice}", disabled=is_set):
                with error_boundary(), st.spinner(_("Loading …")):
                    _choose_embedder(model.choice)
                    st.rerun(scope="app")
        elif downloads.is_running(model.name):
            done = downloads.done_bytes(model.name) / (model.megabytes * MEGABYTE)
            st.progress(min(done, 1.0), text=_("Downloading …"), width=160)
            if st.button(_("Stop"), key=f"stop-{model.name}", type="tertiary"):
                downloads.stop(model.name)
                st.rerun(scope="app")
        elif st.button(_("Download"), key=f"fetch-{model.name}", type="tertiary"):
            with error_boundary():
                downloads.start(model.name)
                st.rerun(scope="app")
    if failure := downloads.failure(model.name):
        st.error(escape(translate_error(failure)), icon=":material/error:")


# --- servers ----------------------------------------------------------------------------------------


def model_servers(servers: Sequence[types.FoundServer]) -> None:
    """Show the model servers on this machine; none is used until one of its models is chosen in the fields."""
    with st.container(border=True, key="servers"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.subheader(_("Model servers on this machine"), anchor=False, width="stretch")
            st.button(_("Refresh"), icon=":material/refresh:", type="tertiary", on_click=find_servers.clear)
        if not servers:
            st.caption(
                _(
                    "No model server found. Start Ollama, then choose one of its models here: nothing leaves this "
                    "machine. LM Studio, llama.cpp and vLLM are reached by their address, below."
                )
            )
            with st.expander(_("How to set up a local model"), icon=":material/help:"):
                st.markdown(_(STEPS))
        for server in servers:
            with st.container(gap=None, key=f"server-{server.provider}"):
                st.markdown(f"**{server.label}** :gray[:small[{escape(server.url)}]]")
                st.caption(", ".join(map(_served_model, server.models)) or _("No models yet."))


def _served_model(model: types.ServedModel) -> str:
    return escape(model.name) + (" (" + _("not on this machine") + ")" if model.is_elsewhere else "")


# --- keys -------------------------------------------------------------------------------------------


def keys() -> None:
    """Show which providers have a key and where it is stored, and accept new keys."""
    with box(_("Keys"), key="keys"):
        st.caption(_("A key enables its provider for all users."))
        for key in _settings().vendor_keys():
            _key(key)
        _address()


def _address() -> None:
    """Enter the address of a server that speaks OpenAI's protocol; its key belongs to it."""
    settings = _settings()
    origin, address = settings.address()
    typed = st.text_input(
        _("Address of an OpenAI-compatible server"),
        address or "",
        key=f"address-{address}",
        placeholder="https://openrouter.ai/api/v1",
        disabled=origin is types.Origin.ENVIRONMENT,
        help=_("OpenRouter, LM Studio, llama.cpp, vLLM … Changing it removes its key."),
    )
    if typed.strip() != (address or ""):
        with error_boundary():
            settings.choose_address(typed.strip() or None)
            vendor_models.clear()
            st.rerun()


def _key(key: types.VendorKey) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"key-{key.provider}"):
        with st.container(gap=None, width="stretch"):
            st.markdown(f"**{key.label}**")
            if key.place is None:
                st.caption(_("No key"))
            elif key.place is types.KeyPlace.ENVIRONMENT:
                st.caption(
                    _("Set by {setting} in the environment or in .env, which takes precedence", setting=key.setting)
                )
            elif key.is_readable:
                st.caption(_(PLACES[key.place]))
            else:
                st.caption(_("In this computer's keyring, which is locked: unlock it"))
        if key.place is types.KeyPlace.ENVIRONMENT:
            return
        with st.popover(_("Replace") if key.place else _("Add")):
            _key_form(key)
        if key.place and st.button(_("Remove"), key=f"remove-{key.provider}", type="tertiary"):
            with error_boundary():
                _settings().remove_key(key.provider)
                vendor_models.clear()
                st.rerun()


def _key_form(key: types.VendorKey) -> None:
    turn = st.session_state.setdefault("key-turn", 0)
    with st.form(f"form-{key.provider}", clear_on_submit=True, border=False):
        typed = st.text_input(
            _("Key for {label}", label=key.label),
            key=f"typed-{key.provider}-{turn}",
            type="password",
            autocomplete="off",
        )
        if st.form_submit_button(_("Save"), type="primary"):
            with error_boundary():
                _settings().keep_key(key.provider, pydantic.SecretStr(typed))
                vendor_models.clear()
                st.session_state["key-turn"] = turn + 1  # a new field: Streamlit forgets what was typed into this one
                st.rerun()


# --- the note in the chat ---------------------------------------------------------------------------


def suggest_model() -> None:
    """Suggest a model once to administrators who have not chosen between quotes and a model."""
    settings = _settings()
    if settings.is_dismissed(NOTE) or not session.may_administer():
        return
    choice = settings.writer()
    if choice.model != providers.EXTRACTIVE or choice.origin is not types.Origin.DEFAULT:
        return
    with st.container(key="offer", horizontal=True, vertical_alignment="center", gap="small", wrap=False):
        st.caption(_("Answers are quotes. A language model can write them in its own words."), width="content")
        st.page_link("pages/settings.py", label=_("Choose a model"), width="content")
        if st.button(":material/close:", key="dismiss-offer", type="tertiary", help=_("Do not show this again")):
            settings.dismiss(NOTE)
            st.rerun()
