"""The exceptions that Pagelight raises.

Every message says what is wrong and what to do. The tree::

    Error
    ├── ConfigError               a setting is missing or wrong
    ├── ValidationError           a request is malformed
    ├── AuthError                 a key is missing or wrong
    │   └── ForbiddenError        the key is valid but does not allow this
    ├── SourceError               a file or folder cannot be read
    │   ├── NotFoundError         there is no such document, index or conversation
    │   │   └── PurgedError       the document was permanently deleted
    │   ├── PasswordError         an encrypted file needs a password, or another one
    │   ├── UnreadableFileError   a file is damaged or not what its name says
    │   ├── ReadingInterruptedError  the process that read a file was killed
    │   ├── UnsupportedFileError  a kind of file that cannot be read
    │   ├── LimitError            a file is larger than the request allows
    │   ├── QuotaError            a file exceeds the user's quota
    │   └── DuplicateError        the index already has the same content
    ├── ConflictError             something is not in the state that a request needs
    │   └── SameNameError         a document has the name of a new file, which may be its new version
    ├── IndexError                a request does not fit the index
    ├── StoreError                the database or the file storage fails
    │   └── StoreUnavailableError  the database does not answer, perhaps temporarily
    │   └── DiskFullError         too little disk space is left for a file
    ├── RetrievalError            searching fails
    ├── EmbeddingCapabilityError  a provider cannot embed what is asked
    ├── BusyError                 too many requests at the same time
    │   └── RateLimitError        too many requests within a minute
    ├── GroundingError            an answer cannot be tied to its sources
    └── ProviderError             a model vendor refuses or is down

Inside the package write ``from rag import errors`` and ``errors.IndexError``: the names of the
builtins are never shadowed, and ``errors.IndexError`` does not subclass the builtin. A ``ValidationError`` is a
``ValueError`` too, and a ``StoreError`` a ``RuntimeError``, for callers who only know these.
"""

import datetime as dt
from collections.abc import Mapping
from types import MappingProxyType


class Error(Exception):
    """Something went wrong. Check the message and try again."""

    code = "error"
    http_status = 500
    exit_code = 1

    def __init_subclass__(
        cls, *, code: str | None = None, http_status: int | None = None, exit_code: int | None = None
    ) -> None:
        """Set the codes given in the class statement; the others are inherited."""
        cls.code = code or cls.code
        cls.http_status = http_status or cls.http_status
        cls.exit_code = exit_code or cls.exit_code

    def __init__(
        self, template: str | None = None, /, *, details: Mapping[str, object] | None = None, **fields: object
    ) -> None:
        """Format `template` (the class docstring by default) with `fields`; pages translate it with the same fields.

        `details` are safe to show and machine readable.
        """
        self.template = template or default_message(type(self))
        self.fields = fields
        self.message = self.template.format(**fields) if fields else self.template
        self.details: Mapping[str, object] = MappingProxyType(dict(details or {}))
        super().__init__(self.message)


def default_message(kind: type[Error]) -> str:
    """Return what an error says without a message of its own: its docstring on one line."""
    return " ".join((kind.__doc__ or "").split())


# 409: the request does not fit the setup of this installation.
class ConfigError(Error, code="config", http_status=409, exit_code=3):
    """A setting is missing or wrong. Check the environment and the .env file."""


class ValidationError(Error, ValueError, code="validation", http_status=422, exit_code=2):
    """The request is malformed. Correct the named field."""


class AuthError(Error, code="auth", http_status=401, exit_code=4):
    """Access is refused. Check the key."""


class ForbiddenError(AuthError, code="forbidden", http_status=403):
    """This key does not allow it. Use a key with the needed permission."""


class SourceError(Error, code="source", http_status=422, exit_code=5):
    """A file or folder cannot be read. Check that it exists and is readable."""


class NotFoundError(SourceError, code="not_found", http_status=404):
    """There is no such thing. List what exists and check the name."""


class PurgedError(NotFoundError):
    """The document was permanently deleted. List the documents and check the id."""

    @property
    def purged_at(self) -> dt.datetime:
        """The time of the deletion, of the `details`."""
        return dt.datetime.fromisoformat(str(self.details["purged_at"]))


class PasswordError(SourceError, code="password"):
    """The file is encrypted. Give its password."""


class UnreadableFileError(SourceError, code="unreadable_file"):
    """The file is damaged or not what its name says. Open it in another program and save it again."""


class ReadingInterruptedError(SourceError, code="reading_interrupted", http_status=503):
    """The process that read the file was ended from outside, which is not the file's fault. Try again."""


class UnsupportedFileError(SourceError, code="unsupported_file"):
    """This kind of file cannot be taken in. Save it as PDF, DOCX, PPTX, HTML, Markdown or text."""


class LimitError(SourceError, code="limit"):
    """The file is larger than the request allows. Raise the limit, or leave the file out."""


class QuotaError(SourceError, code="quota", http_status=413):
    """There is no room for this file. Delete documents for good, or ask an administrator for a larger quota."""


class CancelledError(SourceError, code="cancelled", http_status=409):
    """Reading was cancelled. Retry to go on."""


class DuplicateError(SourceError, code="duplicate", http_status=409):
    """The same content is in the index already."""


class ConflictError(Error, code="conflict", http_status=409, exit_code=6):
    """It is not in the state that this needs. Look at it and try again."""


class SameNameError(ConflictError, code="same_name"):
    """A document of this name is in the index. Say whether the file is a new version of it or a document of its own."""


class IndexError(Error, code="index", http_status=409, exit_code=6):
    """The index and what is asked of it do not fit. Re-index or use another index."""


class StoreError(Error, RuntimeError, code="store", http_status=503, exit_code=7):
    """The database or the file storage fails. Check that it is reachable and has room."""


class StoreUnavailableError(StoreError):
    """The database does not answer. Try again in a few seconds; if it lasts, see that its server runs."""


class DiskFullError(StoreError, code="disk_full", http_status=507):
    """Too little room is left on a disk to take a file in. Make room and try again."""


class RetrievalError(Error, code="retrieval", http_status=502, exit_code=8):
    """Searching failed. Try again; if it persists, run `pagelight doctor`."""


class EmbeddingCapabilityError(Error, code="embedding_capability", http_status=422, exit_code=9):
    """The provider cannot embed what is asked. Choose another embedding provider or model."""


class BusyError(Error, code="busy", http_status=503, exit_code=12):
    """Too many questions are being answered at the moment. Try again in a few seconds."""


class RateLimitError(BusyError, code="rate_limit", http_status=429):
    """Too many requests within a minute. Wait and try again."""


class GroundingError(Error, code="grounding", http_status=502, exit_code=10):
    """The answer cannot be tied to its sources. Ask again or choose another model."""


class ProviderError(Error, code="provider", http_status=502, exit_code=11):
    """The model vendor refuses or is down. Check the key and the vendor's status, then try again."""


# Names in the contract of the module functions; docs/conformance.md says when each is raised.
AstRagError = Error
AstRagValidationError = ValidationError
AstRagAuthError = AuthError
AstRagSourceError = SourceError
AstRagIndexError = IndexError
AstRagRetrievalError = RetrievalError
AstRagEmbeddingCapabilityError = EmbeddingCapabilityError
AstRagGroundingError = GroundingError
