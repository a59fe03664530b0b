"""OpenTelemetry traces of the steps and durations of questions and uploads.

Nothing is traced or sent unless `switch_on` was called with an address. Spans have ids, counts, kinds, names of models
and error codes, never text of documents or questions. They go to a provider of our own, so that spans of other
libraries, which may contain text, are not sent.
"""

import contextlib
import contextvars
import functools
import logging
import threading
import uuid
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider

logger = logging.getLogger(__name__)

PACKAGE = "opentelemetry.sdk"
HOW_TO_INSTALL = 'pip install "pagelight[telemetry]"'
PATH = "/v1/traces"
"""The path of a collector's endpoint for traces."""
EXPORT_SECONDS = 5
PREFIX = "pagelight."

Value = str | int | float | bool | uuid.UUID | None
Parameters = ParamSpec("Parameters")
Event = TypeVar("Event")
Result = TypeVar("Result")


class _State:
    """The state of tracing in this process."""

    lock = threading.Lock()
    provider: "TracerProvider | None" = None
    tracer: "trace.Tracer | None" = None
    warned_missing = False


class Step:
    """An open span, or nothing if tracing is off."""

    def __init__(self, recorded: "trace.Span | None" = None) -> None:
        self._recorded = recorded

    def add(self, **attributes: Value) -> None:
        """Add attributes: ids, counts, kinds; never text."""
        if self._recorded is not None:
            self._recorded.set_attributes(_attributes(attributes))


_NOTHING = Step()


def is_installed() -> bool:
    """Return whether the libraries of the extra are installed."""
    try:
        import opentelemetry.exporter.otlp.proto.http
        import opentelemetry.sdk.trace  # noqa: F401  # only looked for
    except ModuleNotFoundError:
        return False
    return True


def switch_on(endpoint: str | None) -> None:
    """Send traces of this process to the collector at `endpoint` by OTLP over HTTP; None does nothing.

    Log a warning if the extra is not installed.
    """
    if not endpoint:
        return
    with _State.lock:
        if _State.tracer is not None:
            return
        if not is_installed():
            if not _State.warned_missing:
                logger.warning(
                    "OTEL_EXPORTER_OTLP_ENDPOINT is set, but nothing is traced. Install it: %s", HOW_TO_INSTALL
                )
                _State.warned_missing = True
            return
        _State.provider = _provider(endpoint.rstrip("/") + PATH)
        _State.tracer = _State.provider.get_tracer("pagelight")


def _provider(address: str) -> "TracerProvider":
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": "pagelight"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=address, timeout=EXPORT_SECONDS)))
    return provider


def switch_off() -> None:
    """Send the remaining spans, and stop tracing."""
    with _State.lock:
        provider, _State.provider, _State.tracer = _State.provider, None, None
    if provider is not None:
        provider.shutdown()


def is_on() -> bool:
    """Return whether this process traces."""
    return _State.tracer is not None


# --- steps ------------------------------------------------------------------------------------------


@contextlib.contextmanager
def span(name: str, **attributes: Value) -> Iterator[Step]:
    """Trace the block, or the function decorated, as a child of the open span; it must not yield in between."""
    if _State.tracer is None:
        yield _NOTHING
        return
    with _State.tracer.start_as_current_span(
        name,
        attributes=_attributes(attributes),
        record_exception=False,  # messages and tracebacks may contain names of files
        set_status_on_exception=False,
    ) as recorded:
        try:
            yield Step(recorded)
        except Exception as error:
            from opentelemetry.trace import StatusCode

            recorded.set_status(StatusCode.ERROR)
            recorded.set_attribute("error.type", str(getattr(error, "code", type(error).__name__)))
            raise


def _attributes(given: dict[str, Value]) -> dict[str, str | int | float | bool]:
    return {
        PREFIX + name: str(value) if isinstance(value, uuid.UUID) else value
        for name, value in given.items()
        if value is not None
    }


def bind_context(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Return `function` for another thread, where its spans are children of the span that is open now."""
    return functools.partial(contextvars.copy_context().run, function)


def streaming(
    name: str, start: Callable[[], Generator[Event, None, Result]], **attributes: Value
) -> Generator[Event, None, Result]:
    """Trace a generator as a span from its start to its last event, in its own context, not the consumer's."""
    if _State.tracer is None:
        return start()
    context = contextvars.copy_context()
    opened = span(name, **attributes)
    context.run(opened.__enter__)
    try:
        events = context.run(start)
    except BaseException as error:
        context.run(opened.__exit__, type(error), error, error.__traceback__)
        raise
    return _traced(events, context, opened)


def _traced(
    events: Generator[Event, None, Result],
    context: contextvars.Context,
    opened: contextlib.AbstractContextManager[Step],
) -> Generator[Event, None, Result]:
    try:
        result = yield from _in_context(context, events)
    except BaseException as error:  # also GeneratorExit
        context.run(events.close)
        context.run(opened.__exit__, type(error), error, error.__traceback__)
        raise
    context.run(opened.__exit__, None, None, None)
    return result


def _in_context(context: contextvars.Context, events: Generator[Event, None, Result]) -> Generator[Event, None, Result]:
    while True:
        try:
            event = context.run(next, events)
        except StopIteration as end:
            result: Result = end.value
            return result
        yield event


# --- across processes -------------------------------------------------------------------------------


def current_traceparent() -> str | None:
    """Return the open span as a W3C `traceparent` for another process; None if tracing is off."""
    if _State.tracer is None:
        return None
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return carrier.get("traceparent")


@contextlib.contextmanager
def continue_trace(traceparent: str | None) -> Iterator[None]:
    """Make the spans of the block children of a span of any process, given by `current_traceparent`."""
    if _State.tracer is None or not traceparent:
        yield
        return
    from opentelemetry import context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    token = context.attach(TraceContextTextMapPropagator().extract({"traceparent": traceparent}))
    try:
        yield
    finally:
        context.detach(token)
