"""OpenTelemetry traces over OTLP/HTTP, where `HAMTUNE_TRACING` is on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from searchspace.errors import InvalidInput
from service.version import VERSION
from storage import spans

__all__ = ["traced"]


@contextmanager
def traced(kind: str, environment: Mapping[str, str]) -> Iterator[None]:
    """Within the block, send spans to where the OTEL_EXPORTER_OTLP_* variables say.

    Args:
        kind: What this process is.
        environment: `HAMTUNE_TRACING` is `on` or `off` (the default).

    Raises:
        InvalidInput: It is neither.
    """
    wanted = environment.get("HAMTUNE_TRACING") or "off"
    if wanted not in ("on", "off"):
        raise InvalidInput(f"{wanted!r} is neither on nor off", field="HAMTUNE_TRACING")
    if wanted == "off":
        yield
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

    resource = Resource.create({"service.name": f"hamtune-{kind}", "service.version": VERSION})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    tracer = provider.get_tracer("hamtune", VERSION)

    @contextmanager
    def opened(name: str, job: str | None, attributes: dict[str, str]) -> Iterator[None]:
        parent = None
        if job is not None:
            attributes = {"hamtune.job": job, **attributes}
            trace_id, span_id = _identity(job)
            parent = set_span_in_context(
                NonRecordingSpan(SpanContext(trace_id, span_id, True, TraceFlags(1)))
            )
        with tracer.start_as_current_span(name, context=parent, attributes=attributes):
            yield

    spans.collect(opened)
    try:
        yield
    finally:
        spans.collect(None)
        provider.shutdown()


def _identity(job: str) -> tuple[int, int]:
    """The ids of the trace and of the root span that all spans of a job share."""
    digest = hashlib.sha256(job.encode()).digest()
    return int.from_bytes(digest[:16], "big"), int.from_bytes(digest[16:24], "big")
