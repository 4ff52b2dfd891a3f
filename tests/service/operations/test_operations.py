from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.request import urlopen

import pytest
from fastapi.testclient import TestClient
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from searchspace.errors import InvalidInput
from service.operations.checks import Finding
from service.operations.metrics import serve_metrics
from service.operations.tracing import traced
from service.runtime import Runtime
from storage.errors import Unavailable
from storage.metrics import METRICS, Metrics
from storage.records import Outcome
from storage.spans import span
from tests.service.auth.conftest import Guarded
from workers.simulator_client import engine_in_use


def samples(text: str) -> dict[str, float]:
    """Metrics by name and labels."""
    return {
        sample.name + "".join(f",{key}={value}" for key, value in sorted(sample.labels.items())):
            sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }  # fmt: skip


def test_readiness_tells_of_what_the_service_stands_on(
    client: TestClient, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.operations.endpoints._KNOWN_SECONDS", 0.0)
    assert client.get("/readyz").json() == {
        "ready": True, "checks": {"database": "ok", "artifacts": "ok", "broker": "ok"},
    }  # fmt: skip

    def away() -> str:
        raise Unavailable("the database cannot be used now: gone")

    monkeypatch.setattr(runtime.storage, "revision", away)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["database"] == "failed"
    assert "gone" not in answer.text  # where things are is nobody's business


def test_whoever_asks_often_does_not_have_it_looked_for_each_time(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.operations.endpoints._KNOWN_SECONDS", 1e6)
    looked: list[None] = []

    def look(*_arguments: object) -> list[Finding]:
        looked.append(None)
        return [Finding("database", "ok", "")]

    monkeypatch.setattr("service.operations.endpoints.readiness", look)
    for _ in range(3):
        assert client.get("/readyz").status_code == 200
    assert len(looked) == 1


def test_metrics_count_jobs_trials_and_requests(
    client: TestClient, create_job: Callable[..., str], add_trials: Callable[..., None]
) -> None:
    create_job()
    outcome = Outcome(status="completed", value=1.0, cpu_seconds=2.5)
    add_trials(create_job(), outcome, None)
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = samples(answer.text)
    assert found["hamtune_jobs,state=queued"] == 1
    assert found["hamtune_jobs,state=running"] == 1
    assert found["hamtune_trials,state=completed"] == 1
    assert found["hamtune_trials,state=pending"] == 1
    assert found["hamtune_jobs_simulator_cpu_seconds"] == 2.5
    assert found["hamtune_database_up"] == 1
    assert found[f"hamtune_engine,engine={engine_in_use()}"] == 1
    assert found["hamtune_requests_total,method=POST,status=201"] >= 2
    assert found["hamtune_request_seconds_count"] >= 2
    for name in (
        "hamtune_queue_depth",
        "hamtune_evaluating",
        "hamtune_evaluation_cache_entries",
        "hamtune_deliveries_waiting",
    ):
        assert name in found


def test_metrics_need_a_key_for_them(guarded: Guarded) -> None:
    metrics = guarded.key(role="viewer", scopes=["metrics:read"])
    assert guarded.client.get("/metrics", headers=metrics).status_code == 200
    assert guarded.client.get("/metrics", headers=guarded.key(role="viewer")).status_code == 403
    assert guarded.client.get("/metrics").status_code == 401


def test_administrators_of_projects_do_not_see_the_metrics_of_all(guarded: Guarded) -> None:
    admin = guarded.key(role="admin")
    assert guarded.client.get("/metrics", headers=admin).status_code == 403
    key = {"name": "mine", "role": "viewer", "scopes": ["metrics:read"]}
    refused = guarded.client.post("/api/v1/keys", json=key, headers=admin)
    assert refused.status_code == 422
    assert "only the operator makes keys for them" in refused.json()["detail"]
    metrics = guarded.key(role="viewer", scopes=["metrics:read"])
    (key,) = [
        one
        for one in guarded.client.get("/api/v1/keys", headers=admin).json()["items"]
        if one["scopes"] == ["metrics:read"]
    ]
    rotated = guarded.client.post(f"/api/v1/keys/{key['id']}/rotate", headers=admin)
    assert rotated.status_code == 403
    assert "only the operator rotates keys for them" in rotated.json()["detail"]
    assert guarded.client.get("/metrics", headers=metrics).status_code == 200
    assert guarded.client.get("/readyz").status_code == 200


def test_a_process_without_an_interface_serves_its_metrics() -> None:
    METRICS.count("hamtune_lease_losses")
    server = serve_metrics(0)
    try:
        with urlopen(f"http://127.0.0.1:{server.server_port}/metrics") as answer:
            found = samples(answer.read().decode())
    finally:
        server.shutdown()
        server.server_close()
    assert found["hamtune_lease_losses_total"] >= 1
    assert not [name for name in found if name.startswith("hamtune_jobs")]


def test_histograms_hold_all_that_was_observed() -> None:
    metrics = Metrics()
    for seconds in (0.005, 0.01, 5000.0):
        metrics.observe("x", seconds, kind="a")
    ((name, labels, histogram),) = metrics.histograms()
    assert (name, labels) == ("x", (("kind", "a"),))
    assert (histogram.counts[0], histogram.counts[-1], histogram.sum) == (2, 1, 5000.015)


def test_spans_of_a_job_are_sent_as_one_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    received: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
    for kind, name in (("worker", "evaluate"), ("coordinator", "drive")):
        with traced(kind, {"HAMTUNE_TRACING": "on"}), span(name, job="j1"):
            pass
    with span("evaluate", job="j1"):  # nobody collects any more
        pass
    server.shutdown()
    thread.join()
    server.server_close()
    spans = []
    for body in received:
        request = ExportTraceServiceRequest()
        request.ParseFromString(body)
        spans += [
            one
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for one in scope.spans
        ]
    assert [one.name for one in spans] == ["evaluate", "drive"]
    assert len({one.trace_id for one in spans}) == 1
    with (
        pytest.raises(InvalidInput, match="neither on nor off"),
        traced("x", {"HAMTUNE_TRACING": "1"}),
    ):
        pass


def test_health_names_the_process_that_answers(client: TestClient, runtime: Runtime) -> None:
    instance = client.get("/healthz").json()["instance"]
    assert instance == runtime.instance
    assert instance != Runtime(runtime.settings, run=False).instance
