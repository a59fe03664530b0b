"""Traces for OpenTelemetry: what a question or an upload went through, and how long each step took.

Nothing is traced, and nothing leaves the machine, unless `switch_on` was called with an address. Spans have ids,
counts, kinds and names of models, never a word of a document or a question; of an error its code. They go to a provider
of our own: what other libraries would tell of their work, texts included, is not sent along.

Steps that are components of LlamaIndex (retriever, embedding, postprocessors, ours or a user's own) come from the spans
of its dispatcher; the others are opened by `span`.
"""

import contextlib
import contextvars
import functools
import logging
import re
import threading
import uuid
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider

logger = logging.getLogger(__name__)

PACKAGE = "opentelemetry.sdk"
HOW_TO_INSTALL = 'pip install "pagelight[telemetry]"'
PATH = "/v1/traces"
"""Where a collector takes them, below its address."""
EXPORT_SECONDS = 5
PREFIX = "pagelight."

Value = str | int | float | bool | uuid.UUID | None
Parameters = ParamSpec("Parameters")
Event = TypeVar("Event")
Result = TypeVar("Result")


class _State:
    """What is switched on in this process."""

    lock = threading.Lock()
    provider: "TracerProvider | None" = None
    tracer: "trace.Tracer | None" = None
    missing_told = False


class Step:
    """A span that is open, or nothing where nothing is traced."""

    def __init__(self, recorded: "trace.Span | None" = None) -> None:
        self._recorded = recorded

    def note(self, **attributes: Value) -> None:
        """Add attributes: ids, counts, kinds. Never a text."""
        if self._recorded is not None:
            self._recorded.set_attributes(_attributes(attributes))


_NOTHING = Step()


def is_installed() -> bool:
    """Whether the libraries of the extra are there."""
    try:
        import opentelemetry.exporter.otlp.proto.http
        import opentelemetry.sdk.trace  # noqa: F401  # only looked for
    except ModuleNotFoundError:
        return False
    return True


def switch_on(endpoint: str | None) -> None:
    """Send traces of this process to the collector at `endpoint`, by OTLP over HTTP; None: nothing is sent.

    Where the extra is not installed a warning says so, and all works without traces. Switched on once, it stays so.
    """
    if not endpoint:
        return
    with _State.lock:
        if _State.tracer is not None:
            return
        if not is_installed():
            _tell_missing()
            return
        _State.provider = _provider(endpoint.rstrip("/") + PATH)
        _State.tracer = _State.provider.get_tracer("pagelight")
        _follow_components()


def _tell_missing() -> None:
    if not _State.missing_told:
        logger.warning("OTEL_EXPORTER_OTLP_ENDPOINT is set, but nothing is traced. Install it: %s", HOW_TO_INSTALL)
        _State.missing_told = True


def _provider(address: str) -> "TracerProvider":
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": "pagelight"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=address, timeout=EXPORT_SECONDS)))
    return provider


def switch_off() -> None:
    """Send what is left, and trace no more."""
    with _State.lock:
        provider, _State.provider, _State.tracer = _State.provider, None, None
    if provider is not None:
        provider.shutdown()


def is_on() -> bool:
    """Whether this process traces."""
    return _State.tracer is not None


# --- steps ------------------------------------------------------------------------------------------


@contextlib.contextmanager
def span(name: str, **attributes: Value) -> Iterator[Step]:
    """A step while the block runs, within the one that is open. For blocks that yield nothing in between."""
    if _State.tracer is None:
        yield _NOTHING
        return
    with _State.tracer.start_as_current_span(
        name,
        attributes=_attributes(attributes),
        record_exception=False,  # with its message, which may have a file's name, and a traceback
        set_status_on_exception=False,
    ) as recorded:
        try:
            yield Step(recorded)
        except Exception as error:
            _mark(recorded, error)
            raise


def _mark(recorded: "trace.Span", error: BaseException) -> None:
    from opentelemetry.trace import StatusCode

    recorded.set_status(StatusCode.ERROR)
    recorded.set_attribute("error.type", str(getattr(error, "code", type(error).__name__)))


def _attributes(given: dict[str, Value]) -> dict[str, str | int | float | bool]:
    return {
        PREFIX + name: str(value) if isinstance(value, uuid.UUID) else value
        for name, value in given.items()
        if value is not None
    }


def carried(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """`function` for another thread: what it does there belongs to the step that is open here and now."""
    return functools.partial(contextvars.copy_context().run, function)


def streaming(
    name: str, start: Callable[[], Generator[Event, None, Result]], **attributes: Value
) -> Generator[Event, None, Result]:
    """What `start` gives, as a step from its call to the end of the last event.

    Between the events the step is not the consumer's: these run in a context of their own.
    """
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
    return _followed(events, context, opened)


def _followed(
    events: Generator[Event, None, Result],
    context: contextvars.Context,
    opened: contextlib.AbstractContextManager[Step],
) -> Generator[Event, None, Result]:
    try:
        result = yield from _inside(context, events)
    except BaseException as error:  # it may be that nobody wants to hear more
        context.run(events.close)
        context.run(opened.__exit__, type(error), error, error.__traceback__)
        raise
    context.run(opened.__exit__, None, None, None)
    return result


def _inside(context: contextvars.Context, events: Generator[Event, None, Result]) -> Generator[Event, None, Result]:
    while True:
        try:
            event = context.run(next, events)
        except StopIteration as end:
            result: Result = end.value
            return result
        yield event


# --- across processes -------------------------------------------------------------------------------


def parent() -> str | None:
    """The open step as a W3C `traceparent`, for another process to go on from; None where nothing is traced."""
    if _State.tracer is None:
        return None
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return carrier.get("traceparent")


@contextlib.contextmanager
def within(traceparent: str | None) -> Iterator[None]:
    """Steps of the block belong to the one that `parent` gave, in whichever process that was."""
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


# --- components of LlamaIndex -----------------------------------------------------------------------

COMPONENT_STEPS = {
    "retrieve": "retrieve",
    "get_query_embedding": "embed question",
    "get_text_embedding_batch": "embed chunks",
    "_postprocess_nodes": None,  # by the name of its class
}
"""Methods whose spans are steps, and what these are called."""
WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


@functools.cache
def _follow_components() -> None:
    """Have LlamaIndex's dispatcher tell of its components."""
    from llama_index_instrumentation import get_dispatcher
    from llama_index_instrumentation.span_handlers.base import BaseSpanHandler

    class Components(BaseSpanHandler[Any]):
        """Opens a step for a component's call, and closes it. Of arguments and results it takes numbers only."""

        def new_span(self, id_: str, bound_args: Any, instance: Any = None, *_: Any, **__: Any) -> Any:
            name = _component_step(id_, instance)
            if name is None or _State.tracer is None:
                return None
            opened = contextlib.ExitStack()
            step = opened.enter_context(span(name, component=type(instance).__name__))
            step.note(**_counts(bound_args.arguments), model=getattr(instance, "model_name", None))
            return opened

        def prepare_to_exit_span(self, id_: str, *_: Any, **__: Any) -> Any:
            return self._close(id_, None)

        def prepare_to_drop_span(self, id_: str, *_: Any, err: BaseException | None = None, **__: Any) -> Any:
            return self._close(id_, err)

        def _close(self, id_: str, error: BaseException | None) -> Any:
            opened = self.open_spans.get(id_)
            if opened is not None:
                with contextlib.suppress(BaseException):  # what ends it is raised where it was called
                    opened.__exit__(type(error) if error else None, error, None)
            return opened

    get_dispatcher().add_span_handler(Components())


def _component_step(id_: str, instance: object) -> str | None:
    method = id_.partition("-")[0].rpartition(".")[2]
    if instance is None or method not in COMPONENT_STEPS:
        return None
    return COMPONENT_STEPS[method] or WORD.sub(" ", type(instance).__name__).lower()


def _counts(arguments: dict[str, Any]) -> dict[str, Value]:
    """How many texts or nodes a component was given."""
    return {name: len(value) for name, value in arguments.items() if name in ("texts", "nodes") and value is not None}
