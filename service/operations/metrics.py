"""Metrics in the text format of Prometheus."""

from __future__ import annotations

import contextlib
import logging
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from service.version import VERSION
from storage.errors import Unavailable
from storage.metrics import BOUNDS, METRICS
from storage.storage import Storage
from workers.simulator_client import SimulatorError, engine_in_use

if TYPE_CHECKING:
    from prometheus_client.core import Metric

__all__ = ["exposition", "serve_metrics"]

_HELP = {
    "hamtune_evaluations": "Evaluations that this process has ended, by outcome and cache.",
    "hamtune_simulator_cpu_seconds": "CPU seconds of the simulator for this process.",
    "hamtune_lease_losses": "Jobs that this process drove and lost to another coordinator.",
    "hamtune_attempts_lost": "Attempts given up because nothing was heard of their workers.",
    "hamtune_deliveries": "Messages to subscribers that this process tried, by kind and outcome.",
    "hamtune_requests": "Requests answered, by method and status.",
    "hamtune_evaluation_seconds": "Wall seconds of simulated evaluations.",
    "hamtune_request_seconds": "Seconds until an answer began.",
}

log = logging.getLogger("hamtune.service")


def exposition(storage: Storage | None) -> bytes:
    """The metrics of this process and, with a storage, of the whole service."""
    from prometheus_client import CollectorRegistry
    from prometheus_client.exposition import generate_latest

    registry = CollectorRegistry()
    registry.register(_Collector(storage))
    return generate_latest(registry)


def serve_metrics(port: int, host: str = "127.0.0.1") -> Any:
    """Serve the metrics of a process without an HTTP interface of its own, in a thread.

    Returns:
        The server; its `shutdown` and `server_close` end it.
    """
    from prometheus_client import CollectorRegistry, start_http_server

    registry = CollectorRegistry()
    registry.register(_Collector(None))
    server, _ = start_http_server(port, host, registry)
    return server


class _Collector:
    """Gathers metrics when it is asked."""

    def __init__(self, storage: Storage | None) -> None:
        self._storage = storage

    def collect(self) -> Iterator[Metric]:
        """All metrics of now."""
        from prometheus_client.core import (
            CounterMetricFamily,
            GaugeMetricFamily,
            HistogramMetricFamily,
        )

        info = GaugeMetricFamily("hamtune_info", "The version.", labels=["version"])
        info.add_metric([VERSION], 1)
        yield info
        counters: dict[str, CounterMetricFamily] = {}
        for name, labels, value in METRICS.counters():
            family = counters.setdefault(
                name, CounterMetricFamily(name, _HELP[name], labels=[key for key, _ in labels])
            )
            family.add_metric([text for _, text in labels], value)
        yield from counters.values()
        histograms: dict[str, HistogramMetricFamily] = {}
        for name, labels, histogram in METRICS.histograms():
            kind = histograms.setdefault(
                name, HistogramMetricFamily(name, _HELP[name], labels=[key for key, _ in labels])
            )
            below, buckets = 0, []
            for bound, count in zip([*map(str, BOUNDS), "+Inf"], histogram.counts, strict=True):
                below += count
                buckets.append((bound, float(below)))
            kind.add_metric([text for _, text in labels], buckets, histogram.sum)
        yield from histograms.values()
        if self._storage is not None:
            yield from self._of_the_service(self._storage)

    def _of_the_service(self, storage: Storage) -> Iterator[Metric]:
        from prometheus_client.core import GaugeMetricFamily

        with contextlib.suppress(SimulatorError):
            yield _by_label(
                "hamtune_engine", "What evaluates, here.", {engine_in_use(): 1.0}, "engine"
            )
        began = time.perf_counter()
        try:
            known = storage.statistics.current()
            processes = storage.processes.living()
            waiting = storage.deliveries.count_waiting()
        except Unavailable as error:
            log.warning("metrics lack the database: %s", error)
            yield GaugeMetricFamily("hamtune_database_up", "Whether it can be read.", 0)
            return
        yield GaugeMetricFamily("hamtune_database_up", "Whether it can be read.", 1)
        yield GaugeMetricFamily(
            "hamtune_database_seconds",
            "Seconds that the numbers below took.",
            time.perf_counter() - began,
        )
        yield _by_label("hamtune_jobs", "Jobs by state.", dict(known.jobs), "state")
        trials = dict(known.trials)
        yield _by_label("hamtune_trials", "Trials by state, of jobs not ended.", trials, "state")
        counted = Counter(process.kind for process in processes)
        kinds = {str(kind): float(count) for kind, count in counted.items()}
        yield _by_label("hamtune_processes", "Processes heard of.", kinds, "kind")
        for name, text, value in (
            ("hamtune_queue_depth", "Evaluations that wait for a worker.", known.queued),
            ("hamtune_evaluating", "Evaluations under way.", known.evaluating),
            (
                "hamtune_worker_slots",
                "Evaluations that the workers can make at once.",
                sum(process.concurrency or 0 for process in processes),
            ),
            (
                "hamtune_jobs_simulator_cpu_seconds",
                "CPU seconds of the simulator for all jobs that are kept.",
                known.cpu_seconds,
            ),
            (
                "hamtune_jobs_evaluations",
                "Simulated for jobs that are kept.",
                known.evaluations,
            ),
            ("hamtune_evaluation_cache_entries", "Outcomes known.", known.cached),
            ("hamtune_deliveries_waiting", "Messages to subscribers not sent yet.", waiting),
        ):
            yield GaugeMetricFamily(name, text, value)


def _by_label(name: str, text: str, values: Mapping[str, float], label: str) -> Metric:
    from prometheus_client.core import GaugeMetricFamily

    family = GaugeMetricFamily(name, text, labels=[label])
    for key in sorted(values):
        family.add_metric([key], values[key])
    return family
