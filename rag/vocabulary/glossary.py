"""Users' glossaries: their wideners and landmarks, and edits of their synonyms that keep the rest of the file."""

import json
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import lru_cache
from importlib import resources

from rag import errors
from rag.messages import N_
from rag.vocabulary.landmarks import Landmarks
from rag.vocabulary.query_widening import Widener
from rag.vocabulary.vocabulary import Synonyms, Vocabulary, load, trades

NEW = 'title = "Glossary"\n'
CACHE_SIZE = 16
"""Number of cached glossaries; building a widener takes a third of a second, and most users have no glossary."""


def widener(glossary: str = "") -> Widener:
    """Return the widener of the packaged vocabularies and a glossary in TOML, which takes precedence.

    Raises:
        errors.ValidationError: the glossary is malformed.
    """
    return _widener(glossary)


def landmarks(glossary: str = "") -> Landmarks:
    """Return the landmark finder of the packaged vocabularies and a glossary. Raises as `widener`."""
    return _landmarks(glossary)


@lru_cache(CACHE_SIZE)
def _widener(glossary: str) -> Widener:
    return Widener([load(glossary), *trades()] if glossary else trades())


@lru_cache(CACHE_SIZE)
def _landmarks(glossary: str) -> Landmarks:
    return Landmarks(_widener(glossary).places)


def example() -> str:
    """Return a commented example glossary."""
    return (resources.files("rag.vocabulary") / "example.toml").read_text(encoding="utf-8")


def with_synonyms(toml: str, groups: Sequence[Sequence[str]]) -> str:
    """Replace the synonyms of the vocabulary `toml` (or of a new one), keeping its formatting and comments.

    Raises:
        errors.ValidationError: a group has fewer than two terms, or too many or too long ones; or the synonyms are
            written in an unsupported syntax.
    """
    toml = toml or NEW
    before, wanted = load(toml), load(NEW + "".join(map(_section, groups))).synonyms
    changed = _replaced(toml, before.synonyms, wanted)
    if not _means(changed, replace(before, synonyms=wanted)):
        raise errors.ValidationError(
            N_(
                "The synonyms are written in the file in a way that a table cannot change. Change them in the file, or "
                "write each group below a line of its own, “[[synonyms]]”."
            )
        )
    return changed


def _replaced(toml: str, before: Sequence[Synonyms], wanted: Sequence[Synonyms]) -> str:
    parts = _parts(toml)
    places = [number for number, part in enumerate(parts) if "".join(part.split()).startswith("[[synonyms]]")]
    if len(places) != len(before):
        return toml
    for kind, start, end, first, last in SequenceMatcher(None, before, wanted, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        added = "\n".join(_section(group.terms) for group in wanted[first:last])
        for place in places[start:end]:
            parts[place] = ""
            if not added and not parts[place - 1].strip():
                parts[place - 1] = ""
        if start < end:
            parts[places[start]] = added
        elif start:
            parts[places[start - 1]] += f"\n{added}"
        elif places:
            parts[places[0]] = f"{added}\n{parts[places[0]]}"
        else:
            parts[-1] += f"\n{added}"
    return "".join(parts)


def _parts(toml: str) -> list[str]:
    """Split TOML into its sections, each followed by a part with the blank lines and comments before the next one."""
    bodies: list[list[str]] = [[]]
    for line in toml.rstrip("\n").split("\n"):
        if line.lstrip().startswith("["):
            bodies.append([])
        bodies[-1].append(f"{line}\n")
    parts = []
    for body in bodies:
        end = len(body)
        while end and (not body[end - 1].strip() or body[end - 1].lstrip().startswith("#")):
            end -= 1
        parts += ["".join(body[:end]), "".join(body[end:])]
    return parts


def _section(terms: Sequence[str]) -> str:
    return f"[[synonyms]]\nterms = [{', '.join(json.dumps(term, ensure_ascii=False) for term in terms)}]\n"


def _means(toml: str, expected: Vocabulary) -> bool:
    try:
        return load(toml) == expected
    except errors.ValidationError:
        return False
