"""Names that are loaded when they are first used.

What embeds, searches, answers and takes documents in stands on LlamaIndex, whose import takes two seconds. The packages
that do so offer their names by this, and nobody else imports LlamaIndex where a module begins: a process that lists
documents, revokes a key or waits for work never loads it. `tests/unit/test_exported_names.py` says what starting loads.

Whoever imports a part of LlamaIndex imports `llama_index.core` before: its parts import each other, and of two threads
that begin with different ones each would wait for the other, until Python gives one of them a module half made.
"""

import gc
import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType


def names(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], object]:
    """The `__getattr__` of `package`, whose modules `homes` have these names of it."""
    home_of = {name: f"{package}.{module}" for module, names in homes.items() for name in names}

    def load_name(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found: object = getattr(importlib.import_module(home_of[name]), name)
        setattr(sys.modules[package], name, found)  # it is not asked for a second time
        return found

    return load_name


def load(*packages: ModuleType) -> None:
    """Load all that `packages` offer, so that nobody waits for it later."""
    for package in packages:
        for name in package.__all__:
            getattr(package, name)


def collect_rarely() -> None:
    """Have this process look for garbage less often than Python does, which takes a fifth of the time of loading.

    What is loaded stays. A process calls this where it begins, never a library that others import.
    """
    gc.set_threshold(50_000, 20, 50)
