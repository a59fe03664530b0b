"""Who may change what is set for all users."""

from typing import TYPE_CHECKING

from rag.types import LOCAL_USER

if TYPE_CHECKING:
    from rag.config import Config


def may_administer(config: "Config", user_id: str) -> bool:
    """Whether a user is among those of `RAG_ADMINS`, parted by commas; where it names nobody, this machine's only one.

    Whoever logs in is none until named: where people log in there are many, and keys and models are everybody's.
    """
    named = {name for part in (config.rag_admins or "").split(",") if (name := part.strip())}
    return user_id in named if named else user_id == LOCAL_USER
