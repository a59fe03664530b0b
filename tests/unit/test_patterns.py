"""No pattern takes more than proportionally longer on longer text, which would stop all requests: `re` holds the lock.

All patterns of `rag` are tried: those of modules, in whichever containers, and those written where they are used. Each
gets long repetitions that its own parts match, followed by a character that nothing matches. What is compared is the
processor time of one thread for a text and for one four times as long: four is expected, and 16 is what is refused.
"""

import ast
import builtins
import gc
import importlib
import pkgutil
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

import rag
from rag.answering.extraction import answer_kinds
from rag.answering.text import question_parts
from rag.vocabulary import formulas, question_words

CHARS = 1000
LONGER = 4
MAX_GROWTH = 9
"""Between `LONGER`, of a pattern in proportion to the text, and its square."""
HOPELESS_SECONDS = 0.05
"""More for `CHARS` characters is not tried on longer text: it is ten times what the largest pattern takes."""
TRIES = 3
"""A single measurement may be disturbed by other work of the machine."""
QUICK_SECONDS = 0.0005
"""Growth is measured from here on; less for `CHARS` characters is proportional, and too little to be compared."""

REPEATED = (" ", "\t", "\n", "1", "a", "A", ".", ",", "-", '"', "(", "1 ", "a ", "A ", "a-", "1.", ". ", "a, ", "( ) ")
UNMATCHED = "\0"
EXAMPLES = " a1A.,\n\t-'\"(%/:;?!)<>=*#[]+&|$€–’“☐ä_"
MANY = 10
"""Repeats of at most fewer are no loops."""

ANCHORED = {"match", "fullmatch"}
METHODS = {*ANCHORED, "search", "split", "findall", "finditer", "sub", "subn"}
FLAGS_AT = {"split": 3, "sub": 4, "subn": 4}

AT_RUN_TIME = (
    answer_kinds._definition("net sales"),
    question_words._reason("english"),
    formulas._spelled("net sales"),
)


class Tried(NamedTuple):
    """A pattern, how it is used, and where it stands."""

    pattern: re.Pattern[str]
    method: str
    place: str


class _WithPlaceholders(dict[str, Any]):
    """The names of a module; local ones stand for themselves."""

    def __missing__(self, name: str) -> object:
        return getattr(builtins, name, name)


def _modules() -> Iterator[Any]:
    for found in pkgutil.walk_packages(rag.__path__, "rag."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def _patterns_in(value: object, depth: int = 3) -> Iterator[re.Pattern[str]]:
    """Yield the patterns in a value, its items and attributes."""
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif depth:
        inner: Collection[object] = ()
        if isinstance(value, dict | MappingProxyType):
            inner = [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple | set | frozenset):
            inner = value
        elif (value if isinstance(value, type) else type(value)).__module__.startswith("rag."):
            inner = [*getattr(value, "__dict__", {}).values()]
        for item in inner:
            yield from _patterns_in(item, depth - 1)


def _methods(tree: ast.AST) -> dict[str, set[str]]:
    """Return by which methods each name is used; "other" if it is passed on."""
    used: dict[str, set[str]] = {}
    taken = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in METHODS and isinstance(node.value, ast.Name):
            used.setdefault(node.value.id, set()).add(node.attr)
            taken.add(node.value)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in taken:
            used.setdefault(node.id, set()).add("other")
    return used


def _written_inline(module: Any, tree: ast.AST) -> Iterator[Tried]:
    """Yield the patterns given to functions of `re`."""
    names = _WithPlaceholders(vars(module))
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name("re"), attr=method)) if method in METHODS | {"compile"}:
                flags = [word.value for word in node.keywords if word.arg == "flags"]
                position = 1 if method == "compile" else FLAGS_AT.get(method, 2)
                given = [_value(part, names) for part in (node.args[0], *flags, *node.args[position : position + 1])]
                if isinstance(given[0], str):
                    pattern = re.compile(given[0], given[1] if len(given) > 1 else 0)
                    yield Tried(pattern, method, f"{module.__name__}, line {node.lineno}")


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """Return the value of an expression; None where it needs more of local names than their text."""
    try:
        return eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}}, names)
    except (AttributeError, KeyError, NameError, TypeError):
        return None


def _collected() -> list[Tried]:
    found: dict[tuple[str, int, str], Tried] = {}
    inline: list[Tried] = []
    for module in _modules():
        tree = ast.parse(Path(module.__file__).read_text())
        used = _methods(tree)
        for name, value in vars(module).items():
            for pattern in _patterns_in(value):
                ways = used.get(name, set()) if value is pattern and name.startswith("_") else {"other"}
                for method in {way if way in ANCHORED else "search" for way in ways}:
                    found.setdefault(
                        (pattern.pattern, pattern.flags, method), Tried(pattern, method, f"{module.__name__}.{name}")
                    )
        inline += _written_inline(module, tree)
    known = {(pattern, flags) for pattern, flags, _ in found}
    for tried in (*inline, *(Tried(pattern, "search", "built at run time") for pattern in AT_RUN_TIME)):
        if tried.method != "compile" or (tried.pattern.pattern, tried.pattern.flags) not in known:
            method = tried.method if tried.method in ANCHORED else "search"
            found.setdefault((tried.pattern.pattern, tried.pattern.flags, method), tried._replace(method=method))
    return list(found.values())


# --- text that a pattern may be slow on -------------------------------------------------------------


_parser: Any = importlib.import_module("re._parser")  # only it tells what a pattern consists of


def _repetitions(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Yield beginnings and what is to be repeated behind them."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    literals = re.findall(r"[^\W\d_]{2,}", re.sub(r"\\.|\[[^\]]*\]|\(\?P<\w+>|\(\?[a-z:=!<-]+", " ", pattern.pattern))
    words = [f"{word} " for word in dict.fromkeys(literals)][:12]
    own = [text for choice in range(3) if (text := _example(tree, choice))]
    texts = [*REPEATED, *words, *(word.strip() for word in words), *own, *(f"{text} " for text in own)]
    yield from dict.fromkeys([*(("", text) for text in texts), *_loops(tree, "")])


def _loops(tree: Any, before: str) -> Iterator[tuple[str, str]]:
    """Yield each loop's content with what must stand before it."""
    for operation, argument in tree:
        name = str(operation)
        if "REPEAT" in name:
            if argument[1] >= MANY:
                inner = argument[2]
                single = len(inner) == 1 and str(inner[0][0]) in {"IN", "ANY", "NOT_LITERAL"}
                contents = _members(inner[0])[:4] if single else [_example(inner, choice) for choice in range(3)]
                yield from ((before, content) for content in contents if content)
            yield from _loops(argument[2], before)
        elif name == "BRANCH":
            for branch in argument[1][:40]:
                yield from _loops(branch, before)
        elif name in {"SUBPATTERN", "ATOMIC_GROUP", "ASSERT", "ASSERT_NOT"}:
            yield from _loops(argument if name == "ATOMIC_GROUP" else argument[-1], before)
        before += _example([(operation, argument)], 0)


def _example(tree: Any, choice: int) -> str:
    """Return a text that a pattern matches, but for what surrounds it; `choice` selects among alternatives."""
    text = ""
    for operation, argument in tree:
        match str(operation):
            case "LITERAL":
                text += chr(argument)
            case "IN" | "ANY" | "NOT_LITERAL":
                text += _members((operation, argument))[0]
            case "BRANCH":
                text += _example(argument[1][choice % len(argument[1])], choice)
            case "SUBPATTERN":
                text += _example(argument[-1], choice)
            case "ATOMIC_GROUP":
                text += _example(argument, choice)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                text += _example(argument[2], choice) * max(argument[0], 1 - choice % 2)
    return text


def _members(node: Any) -> list[str]:
    """Return characters of a class."""
    operation, argument = node
    if str(operation) == "ANY":
        return ["a", " ", "1"]
    if str(operation) == "NOT_LITERAL":
        return ["b" if argument == ord("a") else "a", " "]
    excluded = str(argument[0][0]) == "NEGATE"
    members = [char for char in EXAMPLES if any(_has(part, char) for part in argument) != excluded]
    named = [chr(part[1]) for part in argument if str(part[0]) == "LITERAL"]
    return members or named or ["\ue000"]


def _has(part: Any, char: str) -> bool:
    operation, argument = part
    match str(operation):
        case "LITERAL":
            return bool(ord(char) == argument)
        case "RANGE":
            return bool(argument[0] <= ord(char) <= argument[1])
        case "CATEGORY":
            *_, negated, kind = str(argument).split("_")
            fits = {"DIGIT": char.isdigit(), "SPACE": char.isspace(), "WORD": char.isalnum() or char == "_"}[kind]
            return fits != (negated == "NOT")
    return False


# --- the measure ------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def no_garbage_collection() -> Iterator[None]:
    """Keep the collector, which takes longer than a pattern, out of the measurement."""
    gc.disable()
    yield
    gc.enable()


def _seconds(work: Callable[[str], object], text: str) -> float:
    """Return the processor time of this thread: other processes do not count."""
    began = time.thread_time()
    work(text)
    return time.thread_time() - began


def _slow_on(pattern: re.Pattern[str], method: str) -> tuple[str, str] | None:
    """Return the beginning and the repeated text on which a pattern takes more than proportionally longer."""

    def work(text: str) -> None:
        if method in ANCHORED:
            getattr(pattern, method)(text)
        else:
            for _ in pattern.finditer(text):
                pass

    def text_of(beginning: str, repeated: str, chars: int) -> str:
        return beginning + (repeated * (chars // len(repeated) + 1))[:chars] + UNMATCHED

    def is_hopeless(text: str) -> bool:
        return all(_seconds(work, text) > HOPELESS_SECONDS for _ in range(TRIES))

    for beginning, repeated in _repetitions(pattern):
        # Short texts first: some patterns would never end on a long one.
        for chars in (CHARS // 20, CHARS // 5, CHARS):
            if is_hopeless(text_of(beginning, repeated, chars)):
                return beginning, repeated
        short, longer = (text_of(beginning, repeated, chars) for chars in (CHARS, CHARS * LONGER))
        if all(
            (seconds := _seconds(work, short)) >= QUICK_SECONDS and _seconds(work, longer) > MAX_GROWTH * seconds
            for _ in range(TRIES)
        ):
            return beginning, repeated
    return None


@pytest.mark.long
def test_all_patterns_take_time_in_proportion_to_the_text() -> None:
    collected = _collected()
    slow = {
        f"{tried.place} ({tried.method})": found
        for tried in collected
        if (found := _slow_on(tried.pattern, tried.method))
    }
    assert slow == {}
    assert len(collected) > 600


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"\s+$", "search"),
        (r"\s*,?\s*x", "match"),
        (r"how\s+does\s+(.+?)\s+change", "match"),
        (r"\bshares\b.*\boutstanding\b", "search"),
        (r"(?:feb|mar)[a-z]*\s+\d", "search"),
        (r"\(?\s*-?\s*\d", "fullmatch"),
    ],
)
def test_a_slow_pattern_is_noticed(pattern: str, method: str) -> None:
    assert _slow_on(re.compile(pattern), method)


def test_patterns_are_found_where_they_stand() -> None:
    module = importlib.import_module("rag.answering.extraction.question_intent")
    assert [*_patterns_in(vars(module)["_ASKED"])]
    places = [tried.place for tried in _written_inline(module, ast.parse(Path(module.__file__ or "").read_text()))]
    assert any("line" in place for place in places)
    assert question_parts._TOPICS[0] in [*_patterns_in(question_parts._TOPICS)]
