"""The synonyms of a vocabulary as a table: changed in its text, of which everything else stays as it was written."""

import json
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from rag import errors
from rag.vocabulary.vocabulary import Synonyms, Vocabulary, load

NEW = 'title = "Glossary"\n'


def with_synonyms(toml: str, groups: Sequence[Sequence[str]]) -> str:
    """The vocabulary `toml`, a new one if it is empty, with these groups of terms in the place of its synonyms.

    Groups that it has already stay as they are written, and so does everything else, comments too.

    Raises:
        errors.ValidationError: a group has fewer than two terms, or too many or too long ones; or the synonyms are
            written in a way that is not understood here.
    """
    toml = toml or NEW
    before, wanted = load(toml), load(NEW + "".join(map(_section, groups))).synonyms
    changed = _replaced(toml, before.synonyms, wanted)
    if not _says(changed, replace(before, synonyms=wanted)):
        raise errors.ValidationError(
            "The synonyms are written in the file in a way that a table cannot change. Change them in the file, or "
            "write each group below a line of its own, “[[synonyms]]”."
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
    """What stands before the first header, and each header with what it heads; after each the empty lines and comments.

    These belong to what comes after them.
    """
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


def _says(toml: str, meant: Vocabulary) -> bool:
    try:
        return load(toml) == meant
    except errors.ValidationError:
        return False
