"""OpenTelemetry spans and metrics of a run, in the GenAI conventions; nothing is imported while it is off.

Spans: `invoke_agent` for each stretch of work on a run, and below it `chat` for every model call, `search`
and `fetch`. All stretches of a run, on any machine, belong to one trace, whose id is the run's. Variables of
OpenTelemetry (`OTEL_EXPORTER_OTLP_ENDPOINT` …) say where the data goes, or the application that embeds Fathom
and has set a provider. Questions, queries and addresses are told only with `telemetry = "content"`.
"""

import uuid
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import AsyncCallbackHandler

from fathom.errors import BadInput

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.metrics import Counter
    from opentelemetry.trace import Span, Tracer

    from fathom.graph import ResearchGraph
    from fathom.result import ResearchResult
    from fathom.settings import Settings

_NAME = "fathom"
_CALL = " call"  # how the runs of model calls are named: "plan call"


def observe(graph: "ResearchGraph", run_id: str, settings: "Settings") -> "ResearchGraph":
    """Return the graph with telemetry, if the operator enabled it."""
    if settings.telemetry == "off":
        return graph
    tracer, counters = _instruments()
    handler = TelemetryHandler(tracer, counters, run_id, has_content=settings.telemetry == "content")
    observed: ResearchGraph = graph.with_config(callbacks=[handler])
    return observed


def count_result(result: "ResearchResult | None", settings: "Settings") -> None:
    """Count a run that has ended."""
    if settings.telemetry == "off" or result is None:
        return
    _, counters = _instruments()
    counters["runs"].add(1, {"status": result.status})
    counters["rejected_claims"].add(sum(rejected.count for rejected in result.rejected))


@cache
def _instruments() -> "tuple[Tracer, Mapping[str, Counter]]":
    """Return the tracer and the counters; without a configured provider, one from the environment."""
    try:
        from opentelemetry import metrics, trace
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.trace import TracerProvider
    except ImportError:
        raise BadInput("Telemetry needs more packages: pip install 'fathom-research[telemetry]'.") from None
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        trace.set_tracer_provider(_tracer_provider())
    if not isinstance(metrics.get_meter_provider(), MeterProvider):
        metrics.set_meter_provider(_meter_provider())
    meter = metrics.get_meter(_NAME)
    units = {"runs": "{run}", "model_calls": "{call}", "tokens": "{token}", "cost": "USD"}
    units |= {"searches": "{search}", "pages": "{page}", "cache_hits": "{hit}", "rejected_claims": "{claim}"}
    counters = {name: meter.create_counter(f"{_NAME}.{name}", unit) for name, unit in units.items()}
    return trace.get_tracer(_NAME), counters


def _tracer_provider() -> Any:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": _NAME}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


def _meter_provider() -> Any:
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource

    reader = PeriodicExportingMetricReader(OTLPMetricExporter())
    return MeterProvider([reader], resource=Resource.create({"service.name": _NAME}))


class TelemetryHandler(AsyncCallbackHandler):
    """Turns LangChain callbacks into spans and counters."""

    run_inline = True

    def __init__(
        self, tracer: "Tracer", counters: "Mapping[str, Counter]", run_id: str, *, has_content: bool
    ) -> None:
        self._tracer, self._counters = tracer, counters
        self._run_id, self._has_content = run_id, has_content
        self._spans: dict[uuid.UUID, Span] = {}
        self._nearest: dict[uuid.UUID, Span] = {}  # of every open run, the span that is the parent of its own

    async def on_chain_start(self, serialized: Any, inputs: Any, **about: Any) -> None:  # noqa: ARG002
        """Begin a span for the whole, and for a model call."""
        run_id, parent, told = about["run_id"], about.get("parent_run_id"), about.get("metadata") or {}
        if parent is None:
            asked = inputs.get("question", "") if isinstance(inputs, dict) else ""
            words = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": _NAME}
            words |= {"gen_ai.conversation.id": self._run_id, **self._content("fathom.question", asked)}
            self._begin(run_id, f"invoke_agent {_NAME}", self._trace_of_run(), words)
        elif str(about.get("name", "")).endswith(_CALL) and "role" in told:
            model = str(told.get("model", ""))
            words = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model}
            words |= {"fathom.role": told["role"], "fathom.round": told.get("round", 0)}
            self._begin(run_id, f"chat {model}", parent, words)
        elif parent in self._nearest:
            self._nearest[run_id] = self._nearest[parent]

    async def on_chain_end(self, outputs: Any, **about: Any) -> None:  # noqa: ARG002
        """End a span with the cost of a call."""
        run_id, told = about["run_id"], about.get("metadata") or {}
        if run_id not in self._spans or "role" not in told:
            self._end(run_id, {}, {})
            return
        tokens = {"input": told.get("tokens_in", 0), "output": told.get("tokens_out", 0)}
        by = {"role": str(told["role"]), "model": str(told.get("model", ""))}
        self._count(told, "model_calls", by)
        if not told.get("is_reused"):
            for kind, count in tokens.items():
                self._counters["tokens"].add(count, {**by, "kind": kind})
        self._end(run_id, told, {f"gen_ai.usage.{kind}_tokens": count for kind, count in tokens.items()})

    async def on_retriever_start(self, serialized: Any, query: str, **about: Any) -> None:  # noqa: ARG002
        """Begin a span for a search."""
        told = about.get("metadata") or {}
        engine = str(told.get("engine", ""))
        words = {"gen_ai.operation.name": "search", "fathom.engine": engine}
        words |= {"fathom.round": told.get("round", 0), **self._content("fathom.query", query)}
        self._begin(about["run_id"], f"search {engine}", about.get("parent_run_id"), words)

    async def on_retriever_end(self, documents: Any, **about: Any) -> None:  # noqa: ARG002
        """End a search."""
        told = about.get("metadata") or {}
        self._count(told, "searches", {"engine": str(told.get("engine", ""))})
        self._end(about["run_id"], told, {"fathom.results": told.get("results", 0)})

    async def on_tool_start(self, serialized: Any, input_str: str, **about: Any) -> None:  # noqa: ARG002
        """Begin a span for a page."""
        words = {"gen_ai.operation.name": "fetch", **self._content("url.full", input_str)}
        self._begin(about["run_id"], "fetch", about.get("parent_run_id"), words)

    async def on_tool_end(self, output: Any, **about: Any) -> None:  # noqa: ARG002
        """End a page."""
        told = about.get("metadata") or {}
        self._count(told, "pages", {})
        self._end(about["run_id"], told, {})

    async def on_chain_error(self, error: BaseException, **about: Any) -> None:
        """End a span with an error."""
        from opentelemetry.trace import Status, StatusCode

        if span := self._spans.get(about["run_id"]):
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(Status(StatusCode.ERROR))
        self._end(about["run_id"], {}, {})

    on_retriever_error = on_tool_error = on_chain_error

    def _trace_of_run(self) -> "Context":
        """Return the trace that a run's id stands for, so that every machine continues the same one."""
        from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

        try:
            trace_id = uuid.UUID(self._run_id).int
        except ValueError:  # a server may name its threads otherwise
            trace_id = int(sha256(self._run_id.encode()).hexdigest()[:32], 16)
        span_id = int(sha256(self._run_id.encode()).hexdigest()[:16], 16)
        flags = TraceFlags(TraceFlags.SAMPLED)
        return set_span_in_context(NonRecordingSpan(SpanContext(trace_id, span_id, True, flags)))

    def _begin(
        self, run_id: uuid.UUID, name: str, below: "Context | uuid.UUID | None", words: Mapping[str, Any]
    ) -> None:
        from opentelemetry.trace import SpanKind, set_span_in_context

        if isinstance(below, uuid.UUID):
            parent = self._nearest.get(below)
            context = set_span_in_context(parent) if parent else self._trace_of_run()
        else:
            context = below or self._trace_of_run()
        span = self._tracer.start_span(name, context, kind=SpanKind.CLIENT, attributes=dict(words))
        self._spans[run_id] = self._nearest[run_id] = span

    def _end(self, run_id: uuid.UUID, told: Mapping[str, Any], words: Mapping[str, Any]) -> None:
        self._nearest.pop(run_id, None)
        span = self._spans.pop(run_id, None)
        if span is None:
            return
        known = {"fathom.cost_usd": told.get("cost_usd"), "fathom.reused": told.get("is_reused")}
        span.set_attributes({**words, **{name: value for name, value in known.items() if value is not None}})
        span.end()

    def _count(self, told: Mapping[str, Any], name: str, by: Mapping[str, str]) -> None:
        self._counters[name].add(1, dict(by))
        if told.get("is_reused"):
            self._counters["cache_hits"].add(1, {"kind": name})
        if cost := told.get("cost_usd"):
            self._counters["cost"].add(cost, dict(by))

    def _content(self, name: str, words: Any) -> dict[str, str]:
        return {name: str(words)[:2000]} if self._has_content and words else {}
