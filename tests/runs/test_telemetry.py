"""Telemetry against a collector on loopback: spans, one trace over two processes, nothing when it is off."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from standins.documents import stocked
from standins.killable_run import QUESTION, WORKING, Site
from standins.model import Model
from standins.tavily import KEY

pytestmark = pytest.mark.whole
LOCAL_QUESTION = "How much power does the Rance tidal plant have?"


class Collector:
    """Everything that was sent over OTLP."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.metrics: dict[str, list[Any]] = {}

    def take(self, path: str, body: bytes) -> None:
        if path == "/v1/traces":
            for group in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.spans += [span for scope in group.scope_spans for span in scope.spans]
        else:
            for group in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for metric in (metric for scope in group.scope_metrics for metric in scope.metrics):
                    self.metrics.setdefault(metric.name, []).extend(metric.sum.data_points)


@contextmanager
def _collecting() -> Iterator[tuple[Collector, str]]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.headers.get("content-encoding", "identity") == "identity"
            collector.take(self.path, self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the package's name
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield collector, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _fathom(
    arguments: list[str], folder: Path, settings: dict[str, str]
) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FATHOM_", "OTEL_"))}
    environment = {**kept, "FATHOM_HOME": str(folder / "home"), "FATHOM_LOCAL_SERVERS": "{}", **settings}
    command = [sys.executable, "-m", "fathom", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def _attributes(span: Any) -> dict[str, Any]:
    kinds = ("string_value", "int_value", "double_value", "bool_value")
    return {
        one.key: next(getattr(one.value, kind) for kind in kinds if one.value.HasField(kind))
        for one in span.attributes
    }


def test_one_trace_over_two_processes_with_calls_searches_and_pages(tmp_path: Path) -> None:
    site = Site()
    with Model(WORKING) as model, _collecting() as (collector, address):
        settings = {
            "FATHOM_TELEMETRY": "on",
            "OTEL_EXPORTER_OTLP_ENDPOINT": address,
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
            "FATHOM_BASE_URL": model.base_url,
            "FATHOM_MODEL": "stand-in",
            "OPENAI_API_KEY": "a key",
            "TAVILY_API_KEY": KEY,
            "FATHOM_TAVILY_URL": site.engine.url,
            "FATHOM_ALLOW_PRIVATE": "true",
        }
        first = _fathom([QUESTION, "--review", "plan", "--rounds", "1"], tmp_path, settings)
        assert first.returncode == 3, first.stderr
        second = _fathom(["resume", "--approve"], tmp_path, settings)
        assert second.returncode == 0, second.stderr
        sent = len(model.calls)
    site.stop()
    names = [span.name.split(" ")[0] for span in collector.spans]
    assert names.count("invoke_agent") == 2
    assert {"chat", "search", "fetch"} <= set(names)
    assert len({span.trace_id for span in collector.spans}) == 1
    calls = [_attributes(span) for span in collector.spans if span.name.startswith("chat")]
    assert sum(not call["fathom.reused"] for call in calls) == sent
    assert all(call["gen_ai.request.model"] == "stand-in" and call["fathom.role"] for call in calls)
    assert all(call["gen_ai.usage.input_tokens"] > 0 for call in calls)
    known = {span.span_id for span in collector.spans}
    below = [span for span in collector.spans if not span.name.startswith("invoke_agent")]
    assert all(span.parent_span_id in known for span in below)
    said = " ".join(str(_attributes(span)) for span in collector.spans)
    assert QUESTION not in said
    assert "http://" not in said
    assert sum(point.as_int for point in collector.metrics["fathom.runs"]) == 1
    assert {"fathom.model_calls", "fathom.tokens", "fathom.searches", "fathom.pages"} <= set(
        collector.metrics
    )


def test_a_collector_that_is_down_costs_no_run(tmp_path: Path) -> None:
    settings = {"FATHOM_TELEMETRY": "on", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    settings |= {"FATHOM_MODEL": "none", "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
    done = _fathom([LOCAL_QUESTION, "--docs", str(stocked(tmp_path / "shelf"))], tmp_path, settings)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_nothing_of_it_is_imported_when_it_is_off(tmp_path: Path) -> None:
    shelf = stocked(tmp_path / "shelf")
    program = (
        "import sys; from fathom import DeepResearcher, ResearchRequest;"
        f"DeepResearcher().research_sync(ResearchRequest(query={LOCAL_QUESTION!r}, docs=[{str(shelf)!r}]));"
        # Where they are installed, langsmith imports other parts of the SDK by itself.
        "names = ('opentelemetry.sdk.metrics', 'opentelemetry.exporter');"
        "print([name for name in sys.modules if name.startswith(names)])"
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FATHOM_")}
    environment = {**kept, "FATHOM_HOME": str(tmp_path / "home"), "FATHOM_MODEL": "none"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.strip() == "[]"
