"""What a user has chosen for themselves."""

import re

from rag import errors
from rag.engine.workspace import Workspace

_LANGUAGE = re.compile(r"[a-z]{2,3}")


class Profile:
    """One user's choices; `accounts.get` has them with the account."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def choose_language(self, language: str | None) -> None:
        """Have the pages in a language (`de`); None is that of the browser.

        Raises:
            errors.ValidationError: it is no tag of a language.
        """
        if language is not None and not _LANGUAGE.fullmatch(language):
            raise errors.ValidationError(f"{language!r} is no tag of a language. Give one such as en or de.")
        self._workspace.store.account.set_language(language)
