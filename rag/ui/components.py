"""Our own Streamlit components, built from the files in `assets` and translated.

Scripts mark messages with `_("…")`, which fills `{names}` from the object that follows. In HTML files, the messages are
the text between tags and the attributes that people read.
"""

import functools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypedDict, Unpack

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer
from streamlit.delta_generator import DeltaGenerator

from rag.ui.language import ENGLISH, _, current_language

ASSETS = Path(__file__).with_name("assets")
_WORDS = re.compile(
    r'(?:(?<=>)|(?<=aria-label=")|(?<=title=")|(?<=placeholder="))\s*(?P<words>[^<>"]*[a-z][^<>"]*?)\s*(?=[<"])'
)
_MESSAGE = re.compile(r'(?<![\w.])_\("((?:[^"\\]|\\.)*)"')


class _Looks(TypedDict, total=False):
    type: Literal["primary", "secondary"]
    disabled: bool
    help: str | None
    key: str | None


def component(name: str, scripts: Sequence[str] = ()) -> ComponentRenderer:
    """Return a component by name; `scripts` are the parts of its script if it is more than `NAME.js`."""
    return _component(name, tuple(scripts) or (name,), current_language())


@functools.cache
def _component(name: str, scripts: tuple[str, ...], language: str) -> ComponentRenderer:
    html, css = (_read(f"{name}.{kind}") for kind in ("html", "css"))
    script = "\n".join(_read(f"{part}.js") or "" for part in scripts)
    messages = [] if language == ENGLISH else [json.loads(f'"{text}"') for text in _MESSAGE.findall(script)]
    constants = {"LANGUAGE": language, "TRANSLATIONS": {message: _(message) for message in messages}}
    prelude = [f"const {name} = {json.dumps(value, ensure_ascii=False)};" for name, value in constants.items()]
    return st.components.v2.component(
        f"pagelight.{name}" + ("" if language == ENGLISH else f".{language}"),
        html=html and translate_html(html, _),
        css=css,
        js="\n".join([*prelude, _read("translate.js") or "", script]),
    )


def _read(name: str) -> str | None:
    path = ASSETS / name
    return path.read_text("utf-8") if path.exists() else None


def translate_html(html: str, say: Callable[[str], str]) -> str:
    """Return an HTML file with its messages translated."""
    return _WORDS.sub(lambda match: match[0].replace(match["words"], say(match["words"])), html)


def html_messages(html: str) -> list[str]:
    """Return the messages of an HTML file."""
    return [match["words"] for match in _WORDS.finditer(html)]


def accept_dropped_files() -> None:
    """Send files that are dropped or pasted anywhere on the page to its first upload field."""
    with st.container(key="drops"):
        component("drops")(key="drops-anywhere")


def focus_field(selector: str) -> None:
    """Put the cursor into the field that a CSS selector names, once; it needs no click."""
    with st.container(key=f"focus-{selector}"):
        component("focus")(key=f"focus-field-{selector}", data=selector)


def reveal(selector: str, *, is_unsaved: bool) -> None:
    """Scroll to each new element that a CSS selector finds; while `is_unsaved`, the browser asks before leaving."""
    with st.container(key="reveal"):
        component("reveal")(key="reveal-new", data={"selector": selector, "unsaved": is_unsaved})


def resizable_columns(name: str = "", *, up: str | None = None) -> None:
    """Make the surrounding columns resizable; call it in the first one.

    The browser remembers the widths for each `name`. On a phone the second column is a sheet, which opens at a click on
    a citation or a change of `up`.
    """
    with st.container(key="splitter"):
        component("split")(key="split", data={"name": name, "up": up})


def download_button(
    label: str, data: bytes | Callable[[], bytes], file_name: str, mime: str, **looks: Unpack[_Looks]
) -> None:
    """Offer a file for download, which needs no rerun; a function makes it when the button is clicked."""
    st.download_button(label, data, file_name, mime, icon=":material/download:", on_click="ignore", **looks)


def metrics(figures: Mapping[str, str]) -> None:
    """Show labelled figures in rows of four."""
    labels = list(figures)
    for start in range(0, len(labels), 4):
        for column, label in zip(st.columns(4, gap="small"), labels[start : start + 4], strict=False):
            column.metric(label, figures[label], border=True)


def box(title: str, key: str | None = None) -> DeltaGenerator:
    """Return a bordered container with a title."""
    container = st.container(border=True, key=key)
    container.subheader(title, anchor=False)
    return container


def facts(values: Mapping[str, str]) -> None:
    """Show a list of labels and values."""
    for label, value in values.items():
        with st.container(horizontal=True, gap="small"):
            st.caption(label, width=130)
            st.text(value, width="stretch")
