"""Names of documents as names of files: none leads anywhere, none is lost."""

from pathlib import PurePosixPath, PureWindowsPath

import hypothesis
import pytest
from hypothesis import strategies

from rag.engine.library.files import NAME_LIMIT_BYTES, RESERVED, display_name, safe_name, unique_names

ANY_NAME = strategies.text(
    strategies.one_of(strategies.sampled_from('./\\:*?"<>|~ $\n\0aA.pdf'), strategies.characters(codec="utf-8"))
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("report.pdf", "report.pdf"),
        ("Année 2023 – Größe.pdf", "Année 2023 – Größe.pdf"),
        ("../../etc/passwd", "passwd"),
        ("/etc/passwd", "passwd"),
        ("..\\..\\Windows\\win.ini", "win.ini"),
        ("C:\\x", "x"),
        ("C:x", "C_x"),
        ("..", "unnamed"),
        (".", "unnamed"),
        ("", "unnamed"),
        ("a/..", "unnamed"),
        (".bashrc", "bashrc"),
        ("report.pdf. ", "report.pdf"),
        ("a\nb\0c.pdf", "a_b_c.pdf"),
        ("con.pdf", "_con.pdf"),
        ("NUL", "_NUL"),
        ("what?.pdf", "what_.pdf"),
        ("x" * 300 + ".pdf", "x" * 196 + ".pdf"),
        ("ü" * 300 + ".pdf", "ü" * 98 + ".pdf"),
    ],
)
def test_safe_names(name: str, expected: str) -> None:
    assert safe_name(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("What? Größe.pdf", "What? Größe.pdf"),
        ("Gro\u0308ße.pdf", "Größe.pdf"),
        ("../../x", "x"),
        ("..\\..\\x", "x"),
        ("a\nb\0c.pdf", "abc.pdf"),
        ("annual\u202efdp.exe", "annualfdp.exe"),
        ("\u2066\u2069", "unnamed"),
        ("a/..", "unnamed"),
        ("", "unnamed"),
    ],
)
def test_display_names(name: str, expected: str) -> None:
    assert display_name(name) == expected


@hypothesis.given(ANY_NAME)
def test_no_name_leads_anywhere_on_any_system(name: str) -> None:
    safe = safe_name(name)
    assert safe
    assert safe not in {".", ".."}
    assert (PurePosixPath(safe).name, PureWindowsPath(safe).name) == (safe, safe)
    assert not PureWindowsPath(safe).drive
    assert safe.isprintable()
    assert not safe.startswith(".")
    assert not safe.endswith((".", " "))
    assert not RESERVED.fullmatch(safe)
    assert len(safe.encode()) <= NAME_LIMIT_BYTES


@hypothesis.given(strategies.lists(ANY_NAME, max_size=20))
def test_no_two_are_the_same_where_case_is_ignored(names: list[str]) -> None:
    unique = unique_names(names)
    assert len({name.casefold() for name in unique}) == len(unique) == len(names)


def test_the_first_of_a_name_keeps_it() -> None:
    names = ["a.pdf", "a.pdf", "A.pdf", "a (2).pdf", "x/a.pdf", "b"]
    assert unique_names(names) == ["a.pdf", "a (2).pdf", "A (3).pdf", "a (2) (2).pdf", "a (4).pdf", "b"]


def test_many_of_one_name_take_no_time() -> None:
    assert unique_names(["a.pdf"] * 20_000)[-1] == "a (20000).pdf"
