"""What vendors' clients, and callers' own models, raise becomes `errors.ProviderError`, in this module only."""

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus

from rag import errors

_CLIENT_ERRORS = (
    ("openai", "OpenAIError"),
    ("google.genai.errors", "APIError"),
    ("httpx", "HTTPError"),
    ("httpx2", "HTTPError"),
)
_CLIENT_TIMEOUTS = (("openai", "APITimeoutError"), ("httpx", "TimeoutException"), ("httpx2", "TimeoutException"))
_CREDENTIAL_ERRORS = (("google.auth.exceptions", "GoogleAuthError"),)
_KEY_PATTERN = re.compile(r"\b(?:sk-|pplx-|AIza|AQ\.|ya29\.)[\w*.-]{6,}")
"""How keys of the known vendors begin; some vendors repeat a part of the key in their messages."""

REDACTED = "[key]"


@contextmanager
def vendor_errors(label: str, setting: str = "", secrets: Sequence[str] = ()) -> Iterator[None]:
    """Run calls of the provider `label`, whose key is `setting`; `secrets` never show in the error.

    The vendor's exception is not chained: it holds the request with its key, and doors log what is chained.

    Raises:
        errors.ProviderError: with the vendor's words; `details` has `provider` and, if it answered, `status`.
    """
    try:
        yield
    except errors.Error:  # some are also what `_foreign_errors` lists
        raise
    except _foreign_errors() as error:
        status = _status(error)
        if isinstance(error, _loaded(_CLIENT_TIMEOUTS)):
            message = f"{label} did not answer in time. Try again, or raise PROVIDER_TIMEOUT_SECONDS."
        elif isinstance(error, _loaded(_CREDENTIAL_ERRORS)):
            message = f"{label} got no credentials: {_words(error)} {_advice(HTTPStatus.UNAUTHORIZED, setting)}"
        elif status is not None:
            message = f"{label} refused the request ({status}): {_words(error)} {_advice(status, setting)}"
        else:
            message = f"{label} broke off: {_words(error)} Check the connection and the address, then try again."
        details = {"provider": label} | ({"status": status} if status is not None else {})
        raise errors.ProviderError(redact(message, secrets), details=details) from None


@contextmanager
def own_errors(label: str) -> Iterator[None]:
    """Run calls of a caller's own model, which may raise anything; nothing of it is chained either.

    Raises:
        errors.ProviderError: with the model's words.
    """
    try:
        yield
    except errors.Error:
        raise
    except Exception as error:  # noqa: BLE001  # somebody else's code, of which nothing is known
        words = redact(_words(error), ())
        raise errors.ProviderError(
            f"{label} failed ({type(error).__name__}): {words} Correct it, or choose another provider.",
            details={"provider": label},
        ) from None


def redact(text: str, secrets: Sequence[str]) -> str:
    """`text` without any of `secrets`, nor anything that looks like a vendor's key."""
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    return _KEY_PATTERN.sub(REDACTED, text)


def _foreign_errors() -> tuple[type[Exception], ...]:
    """What clients raise; the integrations add bare ValueError and RuntimeError for answers they can't use."""
    return (ValueError, RuntimeError, *_loaded(_CLIENT_ERRORS), *_loaded(_CREDENTIAL_ERRORS))


def _loaded(names: Sequence[tuple[str, str]]) -> tuple[type[Exception], ...]:
    """The classes of modules that are imported already: what is not, can't have raised anything."""
    return tuple(getattr(sys.modules[module], name) for module, name in names if module in sys.modules)


def _status(error: Exception) -> int | None:
    for name in ("status_code", "code"):  # the OpenAI client's name, Google's name
        value = getattr(error, name, None)
        if isinstance(value, int):
            return int(value)
    return None


def _words(error: Exception) -> str:
    """The vendor's own sentence, else the client's."""
    body = getattr(error, "body", None)
    words = body.get("message") if isinstance(body, dict) else getattr(error, "message", None)
    sentence = " ".join(str(words or error).split()) or type(error).__name__
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."


def _advice(status: int, setting: str) -> str:
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return f"Check {setting or 'the key'} and what it is allowed to do."
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return "Repeated attempts did not help: wait a little, or check the plan's limits and quota."
    if status == HTTPStatus.NOT_FOUND:
        return "Check the model's name and the address."
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return "Repeated attempts did not help: try again later, or choose another provider."
    return "Check the model's name and its options."
