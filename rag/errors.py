"""The exceptions that Pagelight raises.

Every message says what is wrong and what to do. The tree::

    Error
    ├── ConfigError               a setting is missing or wrong
    ├── ValidationError           a request is malformed
    ├── AuthError                 a key is missing or wrong
    │   └── ForbiddenError        the key is valid but does not allow this
    ├── SourceError               a file or folder cannot be read
    │   ├── NotFoundError         there is no such document, index or conversation
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

from collections.abc import Mapping
from types import MappingProxyType


class Error(Exception):
    """Something went wrong. Check the message and try again."""

    code = "error"
    http_status = 500
    exit_code = 1

    def __init__(self, message: str | None = None, *, details: Mapping[str, object] | None = None) -> None:
        """The class docstring is the default message; `details` are safe to show and machine readable."""
        self.message = message or " ".join((self.__doc__ or "").split())
        self.details: Mapping[str, object] = MappingProxyType(dict(details or {}))
        super().__init__(self.message)


class ConfigError(Error):
    """A setting is missing or wrong. Check the environment and the .env file."""

    code = "config"
    http_status = 409  # the request does not fit the setup of this installation
    exit_code = 3


class ValidationError(Error, ValueError):
    """The request is malformed. Correct the named field."""

    code = "validation"
    http_status = 422
    exit_code = 2


class AuthError(Error):
    """Access is refused. Check the key."""

    code = "auth"
    http_status = 401
    exit_code = 4


class ForbiddenError(AuthError):
    """This key does not allow it. Use a key with the needed permission."""

    code = "forbidden"
    http_status = 403


class SourceError(Error):
    """A file or folder cannot be read. Check that it exists and is readable."""

    code = "source"
    http_status = 422
    exit_code = 5


class NotFoundError(SourceError):
    """There is no such thing. List what exists and check the name."""

    code = "not_found"
    http_status = 404


class PasswordError(SourceError):
    """The file is encrypted. Give its password."""

    code = "password"


class UnreadableFileError(SourceError):
    """The file is damaged or not what its name says. Open it in another program and save it again."""

    code = "unreadable_file"


class ReadingInterruptedError(SourceError):
    """The process that read the file was ended from outside, which is not the file's fault. Try again."""

    code = "reading_interrupted"
    http_status = 503


class UnsupportedFileError(SourceError):
    """This kind of file cannot be taken in. Save it as PDF, DOCX, PPTX, HTML, Markdown or text."""

    code = "unsupported_file"


class LimitError(SourceError):
    """The file is larger than the request allows. Raise the limit, or leave the file out."""

    code = "limit"


class QuotaError(SourceError):
    """There is no room for this file. Delete documents for good, or ask an administrator for a larger quota."""

    code = "quota"
    http_status = 413


class CancelledError(SourceError):
    """Reading was cancelled. Retry to go on."""

    code = "cancelled"
    http_status = 409


class DuplicateError(SourceError):
    """The same content is in the index already."""

    code = "duplicate"
    http_status = 409


class ConflictError(Error):
    """It is not in the state that this needs. Look at it and try again."""

    code = "conflict"
    http_status = 409
    exit_code = 6


class SameNameError(ConflictError):
    """A document of this name is in the index. Say whether the file is a new version of it or a document of its own."""

    code = "same_name"


class IndexError(Error):
    """The index and what is asked of it do not fit. Re-index or use another index."""

    code = "index"
    http_status = 409
    exit_code = 6


class StoreError(Error, RuntimeError):
    """The database or the file storage fails. Check that it is reachable and has room."""

    code = "store"
    http_status = 503
    exit_code = 7


class StoreUnavailableError(StoreError):
    """The database does not answer. Try again in a few seconds; if it lasts, see that its server runs."""


class DiskFullError(StoreError):
    """Too little room is left on a disk to take a file in. Make room and try again."""

    code = "disk_full"
    http_status = 507


class RetrievalError(Error):
    """Searching failed. Try again; if it persists, run `pagelight doctor`."""

    code = "retrieval"
    http_status = 502
    exit_code = 8


class EmbeddingCapabilityError(Error):
    """The provider cannot embed what is asked. Choose another embedding provider or model."""

    code = "embedding_capability"
    http_status = 422
    exit_code = 9


class BusyError(Error):
    """Too many questions are being answered at the moment. Try again in a few seconds."""

    code = "busy"
    http_status = 503
    exit_code = 12


class RateLimitError(BusyError):
    """Too many requests within a minute. Wait and try again."""

    code = "rate_limit"
    http_status = 429


class GroundingError(Error):
    """The answer cannot be tied to its sources. Ask again or choose another model."""

    code = "grounding"
    http_status = 502
    exit_code = 10


class ProviderError(Error):
    """The model vendor refuses or is down. Check the key and the vendor's status, then try again."""

    code = "provider"
    http_status = 502
    exit_code = 11


# Names in the contract of the module functions; docs/conformance.md says when each is raised.
AstRagError = Error
AstRagValidationError = ValidationError
AstRagAuthError = AuthError
AstRagSourceError = SourceError
AstRagIndexError = IndexError
AstRagRetrievalError = RetrievalError
AstRagEmbeddingCapabilityError = EmbeddingCapabilityError
AstRagGroundingError = GroundingError
