"""Our own components of a page: their files in `assets`, with their words in the language of the page.

In a script, words are marked as here: `_("…")`, which fills `{names}` from an object that comes after. Of an HTML file
the words are what stands between tags, and in the attributes that people read.
"""

import functools
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from rag.ui.language import ENGLISH, _, current

ASSETS = Path(__file__).with_name("assets")
_WORDS = re.compile(
    r'(?:(?<=>)|(?<=aria-label=")|(?<=title=")|(?<=placeholder="))\s*(?P<words>[^<>"]*[a-z][^<>"]*?)\s*(?=[<"])'
)
_MESSAGE = re.compile(r'(?<![\w.])_\("((?:[^"\\]|\\.)*)"')


def component(name: str, scripts: Sequence[str] = ()) -> ComponentRenderer:
    """The component of this name; `scripts` are the parts of its script where it is more than `NAME.js`."""
    return _component(name, tuple(scripts) or (name,), current())


@functools.cache
def _component(name: str, scripts: tuple[str, ...], language: str) -> ComponentRenderer:
    html, css = (_read(f"{name}.{kind}") for kind in ("html", "css"))
    script = "\n".join(_read(f"{part}.js") or "" for part in scripts)
    own = "" if language == ENGLISH else f".{language}"
    return st.components.v2.component(
        f"pagelight.{name}{own}", html=html and in_html(html, _), css=css, js=f"{_prelude(script, language)}\n{script}"
    )


def _read(name: str) -> str | None:
    path = ASSETS / name
    return path.read_text("utf-8") if path.exists() else None


def _prelude(script: str, language: str) -> str:
    """What a script knows of the language: its name, and the words that it says."""
    said = {message: _(message) for message in script_messages(script)} if language != ENGLISH else {}
    constants = f"const LANGUAGE = {json.dumps(language)};\nconst SAID = {json.dumps(said, ensure_ascii=False)};\n"
    return constants + (_read("say.js") or "")


def script_messages(script: str) -> list[str]:
    """The messages of a script."""
    return [json.loads(f'"{found}"') for found in _MESSAGE.findall(script)]


def in_html(html: str, say: Callable[[str], str]) -> str:
    """An HTML file of ours with its words as `say` gives them."""

    def replaced(match: re.Match[str]) -> str:
        words = match["words"]
        return match[0].replace(words, say(words))

    return _WORDS.sub(replaced, html)


def html_messages(html: str) -> list[str]:
    """The messages of an HTML file."""
    return [match["words"] for match in _WORDS.finditer(html)]
