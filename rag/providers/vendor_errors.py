"""Map exceptions of vendors' clients and of callers' models to `errors.ProviderError`."""

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus

from rag import errors
from rag.messages import N_

_CLIENT_ERRORS = (
    ("openai", "OpenAIError"),
    ("google.genai.errors", "APIError"),
    ("httpx", "HTTPError"),
    ("httpx2", "HTTPError"),
    ("builtins", "ValueError"),  # the integrations raise these two for answers that they can't use
    ("builtins", "RuntimeError"),
)
_CLIENT_TIMEOUTS = (("openai", "APITimeoutError"), ("httpx", "TimeoutException"), ("httpx2", "TimeoutException"))
_KEY_PATTERN = re.compile(r"\b(?:sk-|pplx-|AIza|AQ\.|ya29\.)[\w*.-]{6,}")
"""Keys of the known vendors; some vendors repeat a part of the key in their messages."""

REDACTED = "[key]"


@contextmanager
def map_vendor_errors(label: str, setting: str = "", secrets: Sequence[str] = ()) -> Iterator[None]:
    """Map errors of the provider `label`, whose key is in `setting`, and remove `secrets` from the message.

    The vendor's exception is not chained because it holds the request with its key, and chained errors are logged.

    Raises:
        errors.ProviderError: with the vendor's message; `details` has `provider` and, if it answered, `status`.
    """
    try:
        yield
    except errors.Error:  # some are ValueErrors, too
        raise
    except _loaded(_CLIENT_ERRORS) as error:
        status = _status(error)
        if isinstance(error, _loaded(_CLIENT_TIMEOUTS)):
            template = N_("{label} did not answer in time. Try again, or raise PROVIDER_TIMEOUT_SECONDS.")
        elif status is not None:
            template = _refusal(status, setting)
        else:
            template = N_("{label} broke off: {words} Check the connection and the address, then try again.")
        details = {"provider": label} | ({"status": status} if status is not None else {})
        raise errors.ProviderError(
            template,
            label=label,
            words=redact(_message(error), secrets),
            setting=setting,
            status=status,
            details=details,
        ) from None


@contextmanager
def map_custom_model_errors(label: str) -> Iterator[None]:
    """Map any error of a caller's model `label`; it is not chained, as it may hold a key.

    Raises:
        errors.ProviderError: with the model's message.
    """
    try:
        yield
    except errors.Error:
        raise
    except Exception as error:  # noqa: BLE001  # unknown code of the caller
        message = redact(_message(error), ())
        raise errors.ProviderError(
            N_("{label} failed ({error}): {words} Correct it, or choose another provider."),
            label=label,
            error=type(error).__name__,
            words=message,
            details={"provider": label},
        ) from None


def redact(text: str, secrets: Sequence[str]) -> str:
    """Replace `secrets`, and anything that looks like a vendor's key, by "[key]"."""
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    return _KEY_PATTERN.sub(REDACTED, text)


def _loaded(names: Sequence[tuple[str, str]]) -> tuple[type[Exception], ...]:
    """Return the classes of imported modules; others can't have raised anything."""
    return tuple(getattr(sys.modules[module], name) for module, name in names if module in sys.modules)


def _status(error: Exception) -> int | None:
    for name in ("status_code", "code"):  # the OpenAI client's name, Google's name
        value = getattr(error, name, None)
        if isinstance(value, int):
            return int(value)
    return None


def _message(error: Exception) -> str:
    """Return the vendor's message, else the client's, as a sentence."""
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else getattr(error, "message", None)
    sentence = " ".join(str(message or error).split()) or type(error).__name__
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."


def _refusal(status: int, setting: str) -> str:
    """Return the message for an HTTP status, with advice."""
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        if setting:
            return N_("{label} refused the request ({status}): {words} Check {setting} and what it is allowed to do.")
        return N_("{label} refused the request ({status}): {words} Check the key and what it is allowed to do.")
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return N_(
            "{label} refused the request ({status}): {words} Repeated attempts did not help: wait a little, or check "
            "the plan's limits and quota."
        )
    if status == HTTPStatus.NOT_FOUND:
        return N_("{label} refused the request ({status}): {words} Check the model's name and the address.")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return N_(
            "{label} refused the request ({status}): {words} Repeated attempts did not help: try again later, or "
            "choose another provider."
        )
    return N_("{label} refused the request ({status}): {words} Check the model's name and its options.")
