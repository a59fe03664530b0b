"""Import names of packages when they are first used.

Embedding, retrieval, answering and ingestion use LlamaIndex, whose import takes two seconds. Their packages export
names lazily, and no other module imports LlamaIndex at its top, so that processes that do not need it start fast;
`tests/unit/test_exported_names.py` checks this.

Import `llama_index.core` before any other part of LlamaIndex: its parts import each other, and two threads that begin
with different parts could deadlock, or get a partially initialised module.
"""

import ast
import gc
import importlib
import inspect
import sys
from collections.abc import Callable
from types import ModuleType


def exports(package: str) -> Callable[[str], object]:
    """Return a module `__getattr__` for `package`, and set its `__all__`.

    The package says its names once, by the imports in its first `if TYPE_CHECKING:`, which type checkers follow.
    """
    module = sys.modules[package]
    block = next(node for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.If))
    statements = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    home_of = {name.name: str(statement.module) for statement in statements for name in statement.names}
    vars(module)["__all__"] = sorted(home_of)

    def load_name(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(importlib.import_module(home_of[name]), name)
        setattr(module, name, value)  # so that this function is not called again
        return value

    return load_name


def load(*packages: ModuleType) -> None:
    """Import all names of `packages` now, so that later uses need not wait."""
    for package in packages:
        for name in package.__all__:
            getattr(package, name)


def collect_rarely() -> None:
    """Run the garbage collector less often: by default it takes a fifth of the time of imports.

    Call this at the start of a process, not in a library.
    """
    gc.set_threshold(50_000, 20, 50)
